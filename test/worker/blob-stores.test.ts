import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { BlobStore } from '../../src/gateway/blob-store.ts'
import { kvBlobs, r2Blobs } from '../../worker/blob-stores.ts'

/** A KV namespace or an R2 bucket in memory; the platform's are not to be had here. */
class Platform {
  readonly values = new Map<string, Uint8Array>()
  readonly calls: string[] = []

  readonly kv: BlobStore = kvBlobs({
    get: async (key, { cacheTtl }) => {
      this.calls.push(`get ${cacheTtl}`)
      return this.bufferOf(key) ?? null
    },
    put: async (key, value) => {
      this.values.set(key, value.slice())
    },
    delete: async (key) => {
      this.values.delete(key)
    },
  })
  readonly r2: BlobStore = r2Blobs({
    get: async (key) => {
      const buffer = this.bufferOf(key)
      return buffer === undefined ? null : { arrayBuffer: async () => buffer }
    },
    put: async (key, value) => {
      this.values.set(key, value.slice())
    },
    delete: async (all) => {
      this.calls.push(`delete ${all.length}`)
      for (const key of all) this.values.delete(key)
    },
  })

  private bufferOf(key: string): ArrayBuffer | undefined {
    const value = this.values.get(key)
    return value && new Uint8Array(value).buffer
  }
}

describe('stores of shards', () => {
  for (const kind of ['kv', 'r2'] as const) {
    test(`${kind} gives back what was put, and nothing else`, async () => {
      const platform = new Platform()
      const store = platform[kind]
      const bytes = Uint8Array.of(9, 1, 2, 3, 9).subarray(1, 4)
      await store.put('a', bytes)
      bytes.fill(0)
      assert.deepEqual(await store.get('a'), Uint8Array.of(1, 2, 3))
      assert.equal(await store.get('b'), undefined)
      await store.remove(['a', 'b'])
      await store.remove([])
      assert.equal(await store.get('a'), undefined)
    })
  }

  test('kv lets a data centre keep a shard for a day', async () => {
    const { kv, calls } = new Platform()
    await kv.get('a')
    assert.deepEqual(calls, ['get 86400'])
  })

  test('r2 removes a thousand keys at a time', async () => {
    const { r2, calls } = new Platform()
    await r2.remove(Array.from({ length: 2500 }, (_, i) => String(i)))
    assert.deepEqual(calls, ['delete 1000', 'delete 1000', 'delete 500'])
  })
})
