/** What the platform is asked; whether it does that is in platform.test.ts. */
import assert from 'node:assert/strict'
import { test } from 'vitest'
import { kvBlobs, r2Blobs } from '../../worker/blob-stores.ts'

test('KV is told that a data centre may keep a shard for a day', async () => {
  const asked: number[] = []
  const kv = kvBlobs({
    get: async (_, { cacheTtl }) => {
      asked.push(cacheTtl)
      return null
    },
    put: () => Promise.reject(new Error('not to be put')),
    delete: () => Promise.reject(new Error('not to be removed')),
  })
  assert.equal(await kv.get('a'), undefined)
  assert.deepEqual(asked, [86_400])
})

test('R2 is not asked to remove nothing, and else all at once', async () => {
  const removed: string[][] = []
  const r2 = r2Blobs({
    get: async () => null,
    put: () => Promise.reject(new Error('not to be put')),
    delete: async (all) => {
      removed.push(all)
    },
  })
  assert.equal(await r2.get('a'), undefined)
  await r2.remove([])
  await r2.remove(['a', 'b'])
  assert.deepEqual(removed, [['a', 'b']])
})
