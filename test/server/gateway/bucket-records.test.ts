import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { TokenStore } from '../../../src/gateway/access/token-store.ts'
import { BucketVersions } from '../../../src/server/gateway/bucket-records.ts'
import { RecordList } from '../../../src/server/gateway/record-list.ts'
import {
  createRecordDirectory,
  createRecordTokenStore,
  DIRECTORY_LINES,
  TOKEN_LINES,
} from '../../../src/server/gateway/record-stores.ts'
import { DIRECTORY_PROMISES } from '../../gateway/directory-contract.ts'
import { TOKEN_STORE_PROMISES } from '../../gateway/token-store-contract.ts'
import { tokenRecord } from '../../gateway/tokens.ts'
import { FakeBucket } from './fake-bucket.ts'

const KEY = 'gateways/tokens.jsonl'
const START_MS = Date.UTC(2026, 0, 1)
const HOUR_MS = 3_600_000
const { record } = await tokenRecord()

/** The tokens of one more process. */
function open(bucket: FakeBucket, onBroken?: (key: string, line: number) => void): TokenStore {
  const versions = new BucketVersions(bucket, KEY, TOKEN_LINES, {
    keepsHistory: true,
    now: () => bucket.nowMs,
    onBroken: onBroken ?? ((key) => assert.fail(key)),
  })
  return createRecordTokenStore(new RecordList(versions))
}

function byTurns(one: TokenStore, other: TokenStore): TokenStore {
  let calls = 0
  const next = (): TokenStore => (calls++ % 2 === 0 ? one : other)
  return {
    list: () => next().list(),
    add: (added) => next().add(added),
    addAll: (wanted) => next().addAll(wanted),
    replace: (before, after) => next().replace(before, after),
    remove: (id) => next().remove(id),
    replaceObjects: (cluster, wanted) => next().replaceObjects(cluster, wanted),
    noteUse: (days) => next().noteUse(days),
  }
}

describe('the tokens in a bucket', () => {
  for (const { name, hold } of TOKEN_STORE_PROMISES) {
    test(name, () => hold(open(new FakeBucket())))
    test(`${name}, two processes in turn`, () => {
      const bucket = new FakeBucket()
      return hold(byTurns(open(bucket), open(bucket)))
    })
  }

  test('return to the version of a time, of which some stay', async () => {
    const bucket = new FakeBucket()
    const store = open(bucket)
    for (let n = 0; n < 100; n++) {
      bucket.nowMs = START_MS + n * HOUR_MS
      const [before = record] = await store.list()
      const next = { ...record, name: String(n) }
      if (n === 0) await store.add(next)
      else assert.ok(await store.replace(before, next))
    }
    const restored = async (atMs: number): Promise<unknown> => {
      const found = await open(bucket).restore?.(atMs)
      const [one] = await store.list()
      return found?.kind === 'restored' ? [one?.name, (found.atMs - START_MS) / HOUR_MS] : found
    }
    assert.deepEqual(await restored(START_MS + 98.5 * HOUR_MS), ['98', 98])
    // Each hour of two days, then the last one of each day.
    assert.deepEqual(await restored(START_MS + 60 * HOUR_MS), ['60', 60])
    assert.deepEqual(await restored(START_MS + 30 * HOUR_MS), ['23', 23])
    assert.deepEqual(await restored(START_MS), {
      kind: 'missing',
      oldestMs: START_MS + 23 * HOUR_MS,
    })
  })

  test('return to the version of a time also if it has the bytes of an earlier one', async () => {
    const bucket = new FakeBucket()
    const [busy, idle] = [open(bucket), open(bucket)]
    const [kept, revoked, later] = [await tokenRecord(), await tokenRecord(), await tokenRecord()]
    await busy.add(kept.record)
    await idle.list()
    bucket.nowMs = HOUR_MS
    await busy.add(revoked.record)
    bucket.nowMs = 2 * HOUR_MS
    await busy.remove(revoked.record.id)
    bucket.nowMs = 4 * HOUR_MS
    // To this process, nothing has changed since the first token.
    await idle.add(later.record)
    const found = await busy.restore?.(3 * HOUR_MS)
    assert.deepEqual(found, { kind: 'restored', atMs: 2 * HOUR_MS })
    assert.deepEqual(await busy.list(), [kept.record])
  })

  test('of which a broken line authorizes nobody, and takes no other away', async () => {
    const bucket = new FakeBucket()
    const [kept, damaged] = [await tokenRecord(), await tokenRecord()]
    for (const one of [damaged, kept]) await open(bucket).add(one.record)
    const text = new TextDecoder().decode(bucket.objects.get(KEY)?.bytes)
    bucket.set(KEY, new TextEncoder().encode(text.replace('"name":"', '"name":"x')))
    const broken: string[] = []
    const store = open(bucket, (key, line) => broken.push(`${key}:${line}`))
    assert.equal((await store.list()).length < 2, true)
    assert.deepEqual(broken[0], `${KEY}:1`)
  })

  test('cost one read while they are the same', async () => {
    const bucket = new FakeBucket()
    const store = open(bucket)
    await store.add(record)
    const list = await store.list()
    bucket.calls.length = 0
    assert.equal(await store.list(), list)
    assert.deepEqual(bucket.calls, ['get'])
  })
})

describe('the directory of clusters in a bucket', () => {
  test('keeps a version with a line that it cannot read, as of a later build', async () => {
    const bucket = new FakeBucket()
    const bytes = new TextEncoder().encode('{"id":"lab","createdMs":0,"keys":"elsewhere"}\n')
    bucket.set('clusters', bytes, START_MS)
    const options = { keepsHistory: false, now: () => START_MS + 1, onBroken: () => undefined }
    const versions = new BucketVersions(bucket, 'clusters', DIRECTORY_LINES, options)
    const directory = createRecordDirectory(new RecordList(versions))
    assert.equal(await directory.add({ id: 'prod', createdMs: 1, keys: [] }), 'added')
    assert.equal(await directory.add({ id: 'test', createdMs: 1, keys: [] }), 'added')
    const before = 'clusters.2026-01-01T00-00-00.000Z'
    assert.deepEqual([...bucket.objects.keys()].sort(), ['clusters', before])
    assert.deepEqual(bucket.objects.get(before)?.bytes, bytes)
  })

  for (const { name, hold } of DIRECTORY_PROMISES) {
    test(name, () => {
      const options = { keepsHistory: false, now: () => 0, onBroken: () => assert.fail() }
      const versions = new BucketVersions(new FakeBucket(), 'clusters', DIRECTORY_LINES, options)
      return hold(createRecordDirectory(new RecordList(versions)))
    })
  }
})
