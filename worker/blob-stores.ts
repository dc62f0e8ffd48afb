/**
 * Workers KV and R2 as stores of shards.
 * @module
 */
import type { BlobStore } from '../src/gateway/snapshots/blob-store.ts'

/** How long a data center may cache a shard, which never changes. */
const CACHE_SECONDS = 86_400

/** The methods of a KV namespace in use. */
export type KvLike = {
  readonly get: (
    key: string,
    options: { readonly type: 'arrayBuffer'; readonly cacheTtl: number },
  ) => Promise<ArrayBuffer | null>
  readonly put: (key: string, value: Uint8Array) => Promise<void>
  readonly delete: (key: string) => Promise<void>
}

/** The methods of an R2 bucket in use. */
export type R2Like = {
  readonly get: (key: string) => Promise<{ arrayBuffer(): Promise<ArrayBuffer> } | null>
  readonly put: (key: string, value: Uint8Array) => Promise<unknown>
  readonly delete: (keys: string[]) => Promise<void>
}

/** Creates a store of a KV namespace. */
export function kvBlobs(kv: KvLike): BlobStore {
  return {
    get: async (key) => {
      const value = await kv.get(key, { type: 'arrayBuffer', cacheTtl: CACHE_SECONDS })
      return value === null ? undefined : new Uint8Array(value)
    },
    put: (key, bytes) => kv.put(key, bytes),
    remove: async (keys) => {
      await Promise.all(keys.map((key) => kv.delete(key)))
    },
  }
}

/** Creates a store of an R2 bucket. */
export function r2Blobs(bucket: R2Like): BlobStore {
  return {
    get: async (key) => {
      const object = await bucket.get(key)
      return object === null ? undefined : new Uint8Array(await object.arrayBuffer())
    },
    put: async (key, bytes) => {
      await bucket.put(key, bytes)
    },
    remove: async (keys) => {
      if (keys.length > 0) await bucket.delete([...keys])
    },
  }
}
