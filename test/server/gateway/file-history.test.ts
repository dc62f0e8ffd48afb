/** Earlier token lists on a disk whose clock the test advances. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { TokenStore } from '../../../src/gateway/access/token-store.ts'
import { createFileTokenStore } from '../../../src/server/gateway/file-token-store.ts'
import { Files } from '../../../src/server/gateway/files.ts'
import { tokenRecord } from '../../gateway/tokens.ts'
import { FakeDisk } from './fake-disk.ts'

const PATH = '/data/tokens.jsonl'
const START_MS = Date.UTC(2026, 0, 1)
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const { record } = await tokenRecord()

/** A store on a disk, as another process opens it. */
function open(disk: FakeDisk): TokenStore {
  const now = (): number => disk.nowMs
  const onBroken = (file: string): void => assert.fail(file)
  return createFileTokenStore(PATH, { files: new Files(disk, now), now, onBroken })
}

/** Writes `count` versions, one each `stepMs`: version N has the token N only. */
async function write(disk: FakeDisk, count: number, stepMs: number): Promise<void> {
  const store = open(disk)
  for (let n = 0; n < count; n++) {
    disk.nowMs = START_MS + n * stepMs
    const [before = record] = await store.list()
    const next = { ...record, name: String(n) }
    if (n === 0) await store.add(next)
    else assert.ok(await store.replace(before, next))
  }
}

/** Restores a time, and returns the number of the version and its time. */
async function restore(disk: FakeDisk, atMs: number): Promise<unknown> {
  const restoration = await open(disk).restore?.(atMs)
  if (restoration?.kind !== 'restored') return restoration
  const [one] = await open(disk).list()
  return { n: Number(one?.name), atMs: restoration.atMs }
}

function version(n: number, stepMs: number): unknown {
  return { n, atMs: START_MS + n * stepMs }
}

describe('a return to the tokens of a time', () => {
  test('is exact for the last 16 changes, and is itself a change', async () => {
    for (const n of [1, 7, 14]) {
      const disk = new FakeDisk()
      await write(disk, 16, MINUTE_MS)
      disk.nowMs += MINUTE_MS
      assert.deepEqual(
        await restore(disk, START_MS + n * MINUTE_MS + 59_999),
        version(n, MINUTE_MS),
      )
      assert.ok(disk.paths('/data').includes(`${PATH}.17`))
      // What was there before the return can be returned to.
      assert.deepEqual(await restore(disk, START_MS + 15 * MINUTE_MS), version(15, MINUTE_MS))
    }
  })

  test('finds the last list of each hour of two days, and of each day of thirty', async () => {
    const disk = new FakeDisk()
    await write(disk, 40 * 48, HOUR_MS / 2)
    assert.equal(new Date(disk.nowMs).toISOString(), '2026-02-09T23:30:00.000Z')
    for (const [at, found] of [
      ['2026-02-09T22:40Z', '2026-02-09T22:30Z'],
      ['2026-02-08T17:20Z', '2026-02-08T16:30Z'],
      ['2026-02-01T12:00Z', '2026-01-31T23:30Z'],
      ['2026-01-11T00:10Z', '2026-01-10T23:30Z'],
    ] as const) {
      const n = (Date.parse(found) - START_MS) / (HOUR_MS / 2)
      assert.deepEqual(await restore(disk, Date.parse(at)), version(n, HOUR_MS / 2), at)
    }
    // 16 versions and 4 that returns wrote, less those of one hour; 48 hours, 29 days, one more.
    const { length } = disk.paths('/data')
    assert.ok(length <= 16 + 48 + 29 + 1, String(length))
  })

  test('says when the oldest list is of, and changes nothing', async () => {
    const disk = new FakeDisk()
    assert.deepEqual(await restore(disk, START_MS), { kind: 'missing', oldestMs: undefined })
    await write(disk, 3, HOUR_MS)
    assert.deepEqual(await restore(disk, START_MS - 1), { kind: 'missing', oldestMs: START_MS })
    assert.equal((await open(disk).list())[0]?.name, '2')
    assert.equal(disk.paths('/data').includes(`${PATH}.4`), false)
  })
})
