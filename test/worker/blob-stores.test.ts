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
  })
  assert.strictEqual(await r2.get('a'), undefined)
  await r2.remove([])
  await r2.remove(['a', 'b'])
  assert.deepEqual(removed, [['a', 'b']])
})
