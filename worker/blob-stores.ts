/**
 * Workers KV and R2 as stores of shards.
 * @module
 */
import type { BlobStore } from '../src/gateway/snapshots/blob-store.ts'
import { DROPPED_MAX } from '../src/gateway/snapshots/store.ts'
import type { Env } from './env.ts'

/** How long a data center may cache a shard, which never changes. */
const CACHE_SECONDS = 86_400

/** A store of shards that can be emptied. */
export type RemovableBlobs = BlobStore & {
  /**
   * Removes keys that begin so, at most `countMax` (default: {@link DROPPED_MAX}); resolves with
   * whether there may be more.
   */
  readonly removeSome: (prefix: string, countMax?: number) => Promise<boolean>
}

/** Which keys to list. */
type Listed = { readonly prefix: string; readonly limit: number }

/** The methods of a KV namespace in use. */
export type KvLike = {
  readonly get: (
    key: string,
    options: { readonly type: 'arrayBuffer'; readonly cacheTtl: number },
  ) => Promise<ArrayBuffer | null>
  readonly put: (key: string, value: Uint8Array) => Promise<void>
  readonly delete: (key: string) => Promise<void>
  readonly list: (options: Listed) => Promise<{
    readonly list_complete: boolean
    readonly keys: readonly { readonly name: string }[]
  }>
}

/** The methods of an R2 bucket in use. */
export type R2Like = {
  readonly get: (key: string) => Promise<{ arrayBuffer(): Promise<ArrayBuffer> } | null>
  readonly put: (key: string, value: Uint8Array) => Promise<unknown>
  readonly delete: (keys: string[]) => Promise<void>
  readonly list: (options: Listed) => Promise<{
    readonly truncated: boolean
    readonly objects: readonly { readonly key: string }[]
  }>
}

/** Returns what is bound: prefers R2 to KV; without either, the Durable Object has all shards. */
export function blobsOf({
  SHARDS_R2: bucket,
  SHARDS_KV: kv,
}: Pick<Env, 'SHARDS_R2' | 'SHARDS_KV'>): RemovableBlobs | undefined {
  if (bucket !== undefined) return r2Blobs(bucket)
  return kv === undefined ? undefined : kvBlobs(kv)
}

/** Creates a store of a KV namespace. */
export function kvBlobs(kv: KvLike): RemovableBlobs {
  const remove = async (keys: readonly string[]): Promise<void> => {
    await Promise.all(keys.map((key) => kv.delete(key)))
  }
  return {
    get: async (key) => {
      const value = await kv.get(key, { type: 'arrayBuffer', cacheTtl: CACHE_SECONDS })
      return value === null ? undefined : new Uint8Array(value)
    },
    put: (key, bytes) => kv.put(key, bytes),
    remove,
    removeSome: async (prefix, limit = DROPPED_MAX) => {
      const found = await kv.list({ prefix, limit })
      await remove(found.keys.map(({ name }) => name))
      return !found.list_complete
    },
  }
}

/** Creates a store of an R2 bucket. */
export function r2Blobs(bucket: R2Like): RemovableBlobs {
  const remove = async (keys: readonly string[]): Promise<void> => {
    if (keys.length > 0) await bucket.delete([...keys])
  }
  return {
    get: async (key) => {
      const object = await bucket.get(key)
      return object === null ? undefined : new Uint8Array(await object.arrayBuffer())
    },
    put: async (key, bytes) => {
      await bucket.put(key, bytes)
    },
    remove,
    removeSome: async (prefix, limit = DROPPED_MAX) => {
      const { objects, truncated } = await bucket.list({ prefix, limit })
      await remove(objects.map(({ key }) => key))
      return truncated
    },
  }
}
