import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { SnapshotSource } from '../../../src/resolver/contract/host.ts'
import { SwitchedSource } from '../../../src/server/serve/switched-source.ts'
import { openShard } from '../../../src/snapshot/read/open-shard.ts'
import { Snapshot } from '../../../src/snapshot/read/snapshot.ts'
import { buildShards } from '../../../src/snapshot/write/build-shards.ts'

type State = {
  readonly snapshot?: Snapshot | undefined
  readonly freshness: ReturnType<SnapshotSource['freshness']>
}
type Watch = ConstructorParameters<typeof SwitchedSource>[0]

const NOTHING: State = { freshness: 'partial' }
const PART: State = { snapshot: snapshotOf(1), freshness: 'partial' }
const WHOLE: State = { snapshot: snapshotOf(2), freshness: 'fresh' }
const OLD: State = { snapshot: snapshotOf(3), freshness: 'stale' }

function snapshotOf(generation: number): Snapshot {
  const info = { generation, timeMs: 0, ttlSeconds: 5, origins: [] }
  return new Snapshot(info, buildShards([]).map(openShard))
}

function watchOf({ snapshot, freshness }: State, ready?: Promise<void>): Watch {
  return { current: () => snapshot, freshness: () => freshness, ...(ready && { ready }) }
}

async function isReady({ ready }: SwitchedSource): Promise<boolean> {
  const late = new Promise<false>((resolve) => setImmediate(() => resolve(false)))
  return await Promise.race([ready.then(() => true), late])
}

describe('SwitchedSource', () => {
  for (const { name, from, to, switches } of [
    { name: 'all names instead of none', from: NOTHING, to: WHOLE, switches: true },
    { name: 'all names instead of some', from: PART, to: WHOLE, switches: true },
    { name: 'all names instead of all', from: WHOLE, to: OLD, switches: true },
    { name: 'some names instead of none', from: NOTHING, to: PART, switches: true },
    { name: 'some names instead of all', from: OLD, to: PART, switches: false },
    { name: 'no names instead of some', from: PART, to: NOTHING, switches: false },
  ]) {
    test(`${switches ? 'takes' : 'refuses'} ${name}`, async () => {
      const switched = new SwitchedSource(watchOf(from))
      switched.offer(watchOf(to))
      const { source } = switched
      const now = switches ? to : from
      assert.deepEqual([source.current(), source.freshness()], [now.snapshot, now.freshness])
      assert.equal(await source.load(), now.snapshot)
    })
  }

  test('keeps names without their watch; they become stale', () => {
    const clock = { nowMs: 5, elapsed: () => clock.nowMs, staleMs: 100 }
    const states = new Map([['now', WHOLE]])
    const watch = { current: () => states.get('now')?.snapshot, freshness: () => 'fresh' as const }
    const switched = new SwitchedSource(watch)
    switched.keepNames(clock)
    states.clear()
    clock.nowMs = 104
    const { source } = switched
    assert.deepEqual([source.current(), source.freshness()], [WHOLE.snapshot, 'fresh'])
    clock.nowMs = 105
    assert.deepEqual([source.current(), source.freshness()], [WHOLE.snapshot, 'stale'])
  })

  test('is ready with its watch', async () => {
    const start = Promise.withResolvers<void>()
    const switched = new SwitchedSource(watchOf(WHOLE, start.promise))
    assert.equal(await isReady(switched), false)
    start.resolve()
    assert.equal(await isReady(switched), true)
  })

  test('is not ready because its watch ends for another one', async () => {
    const start = Promise.withResolvers<void>()
    const switched = new SwitchedSource(watchOf(NOTHING, start.promise))
    switched.keepNames({ elapsed: () => 0, staleMs: 1 })
    start.resolve()
    assert.equal(await isReady(switched), false)
    switched.setReady()
    assert.equal(await isReady(switched), true)
  })
})
