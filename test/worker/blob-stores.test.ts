import { env } from 'cloudflare:workers'
import { assert, describe, test } from 'vitest'
import { kvBlobs, r2Blobs } from '../../worker/blob-stores.ts'
import { BLOB_PROMISES } from '../gateway/blob-contract.ts'
import { checkFaults, playOn, RUNS } from '../gateway/fault-runs.ts'
import { nearMedium } from './near-medium.ts'

const { SHARDS_KV, SHARDS_R2 } = env
assert(SHARDS_KV && SHARDS_R2)

for (const [name, blobs] of [
  ['KV', kvBlobs(SHARDS_KV)],
  ['R2', r2Blobs(SHARDS_R2)],
] as const) {
  describe(name, () => {
    for (const promise of BLOB_PROMISES) test(promise.name, () => promise.hold(blobs))

    test('removes the shards of one cluster, some at a time', async () => {
      const keys = Array.from({ length: 3 }, (_, i) => `shards/gone/${i}`)
      for (const key of [...keys, 'shards/gone-2/1']) await blobs.put(key, new Uint8Array(1))
      assert.strictEqual(await blobs.removeSome('shards/gone/', 2), true)
      assert.strictEqual(await blobs.removeSome('shards/gone/', 2), false)
      for (const key of keys) assert.strictEqual(await blobs.get(key), undefined)
      assert.strictEqual((await blobs.get('shards/gone-2/1'))?.length, 1)
    })

    test('that lies never makes an answer wrong, and mostly leaves one', async (t) => {
      await checkFaults(t, {
        name,
        runs: RUNS.near,
        play: playOn((random) => nearMedium(blobs, random)),
      })
    })
  })
}

test('KV lets a data centre cache a shard for a day', async () => {
  const asked: number[] = []
  const kv = kvBlobs({
    get: async (_, { cacheTtl }) => {
      asked.push(cacheTtl)
      return null
    },
    put: () => Promise.reject(new Error('not to be put')),
    delete: () => Promise.reject(new Error('not to be removed')),
    list: () => Promise.reject(new Error('not to be listed')),
  })
  assert.strictEqual(await kv.get('a'), undefined)
  assert.deepEqual(asked, [86_400])
})

test('R2 gets no request to remove nothing, and one request for all removals', async () => {
  const removed: string[][] = []
  const r2 = r2Blobs({
    get: async () => null,
    put: () => Promise.reject(new Error('not to be put')),
    delete: async (all) => {
      removed.push(all)
    },
    list: () => Promise.reject(new Error('not to be listed')),
  })
  assert.strictEqual(await r2.get('a'), undefined)
  await r2.remove([])
  await r2.remove(['a', 'b'])
  assert.deepEqual(removed, [['a', 'b']])
})
