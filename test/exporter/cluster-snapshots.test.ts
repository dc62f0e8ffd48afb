import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { ClusterSnapshots } from '../../src/exporter/cluster-snapshots.ts'
import { type BuiltSnapshot, buildSnapshot } from '../../src/exporter/snapshot-builder.ts'
import { clusterOf, optionsOf } from '../kubernetes/naming.ts'
import { FakeClock, START_MS } from './fake-clock.ts'
import { namesIn } from './snapshots.ts'

const START = START_MS / 1000

/** A snapshot of one Service. */
function built(name: string): BuiltSnapshot {
  const cluster = clusterOf(`
    - kind: Service
      metadata: { namespace: shop, name: ${name} }
      spec: { clusterIP: 192.0.2.10 }
  `)
  return buildSnapshot(cluster, optionsOf({ ttlSeconds: 30 }))
}

describe('ClusterSnapshots', () => {
  test('has none at first', () => {
    assert.equal(new ClusterSnapshots(() => START_MS).current(), undefined)
  })

  test('answers from what it took', () => {
    const snapshots = new ClusterSnapshots(() => START_MS + 5999)
    snapshots.take(built('web'))
    const snapshot = snapshots.current()
    assert.deepEqual(snapshot?.info, {
      generation: START + 5,
      timeMs: START_MS + 5999,
      ttlSeconds: 30,
      records: built('web').records,
      origins: [],
    })
    assert.deepEqual(namesIn(snapshot, ['web.shop.svc', 'db.shop.svc']), ['web.shop.svc'])
  })

  const cases: { name: string; next: string; afterMs: number; generation: number }[] = [
    {
      name: 'gives a snapshot that says something else the time as its generation',
      next: 'db',
      afterMs: 7000,
      generation: START + 7,
    },
    {
      name: 'gives it a later one even within the same second',
      next: 'db',
      afterMs: 1,
      generation: START + 1,
    },
    {
      name: 'gives it a later one even when the clock was set back',
      next: 'db',
      afterMs: -60_000,
      generation: START + 1,
    },
    {
      name: 'keeps the generation of one that says the same',
      next: 'web',
      afterMs: 7000,
      generation: START,
    },
  ]
  for (const { name, next, afterMs, generation } of cases) {
    test(name, () => {
      const clock = new FakeClock()
      const snapshots = new ClusterSnapshots(clock.now)
      snapshots.take(built('web'))
      clock.setBack(-afterMs)
      snapshots.take(built(next))
      assert.equal(snapshots.current()?.info.generation, generation)
      assert.deepEqual(namesIn(snapshots.current(), [`${next}.shop.svc`]), [`${next}.shop.svc`])
    })
  }

  test('tells snapshots of other shards apart, however many there are', () => {
    const snapshots = new ClusterSnapshots(() => START_MS)
    const [web = new Uint8Array(0)] = built('web').shards
    const [db = new Uint8Array(0)] = built('db').shards
    const sets = [[web], [web, web], [web, db], [web, db], [db, web], [db]]
    const generations = sets.map((shards) => {
      snapshots.take({ ...built('web'), shards })
      return (snapshots.current()?.info.generation ?? 0) - START
    })
    assert.deepEqual(generations, [0, 1, 2, 2, 3, 4])
  })
})
