/**
 * Shards in KV or R2, which many isolates read at little cost. The cluster's single writer has the
 * shards that KV or R2 lacks.
 *
 * KV caches for a while that a key is missing, so readers must not read keys before they are
 * written: a shard is written to KV before its writer acknowledges it, and readers learn of it from
 * a manifest.
 * @module
 */
import { parsePublication } from '../../snapshot/format/publication.ts'
import { sha256Hex } from '../../snapshot/format/signature.ts'
import { type After, LoadTimeoutError, within } from '../timing/within.ts'
import type { IngestResult } from './ingest.ts'
import type { ClusterWriter } from './publish-routes.ts'
import type { SnapshotOrigin } from './snapshot-follower.ts'
import { StoreError } from './store.ts'

/** How long a read waits for the store before it reads from the origin. */
const GET_MS = 250
/** How long reads skip a store that did not answer in time. */
const SUSPENDED_MS = 1000
/** How long a publisher waits for the store. */
const PUT_MS = 5000

/** Stores bytes by key. The bytes of a key never change. */
export type BlobStore = {
  readonly get: (key: string) => Promise<Uint8Array | undefined>
  readonly put: (key: string, bytes: Uint8Array) => Promise<void>
  /** Removes keys, at most as many as a `ClusterStore` drops at a time. */
  readonly remove: (keys: readonly string[]) => Promise<void>
}

/** One cluster's shards in such a store. */
export type ClusterBlobs = {
  readonly cluster: string
  readonly blobs: BlobStore
  readonly after: After
  /** Milliseconds since some moment, by a monotonic clock. */
  readonly elapsed: () => number
  /** Gets the errors of the store. */
  readonly onError: (error: unknown) => void
}

/**
 * Returns an origin that reads shards from the store. It reads from the given origin when the store
 * lacks the shard, fails, returns bytes with another hash, or does not answer within
 * {@link GET_MS}; after a time-out, all reads of the next second go to the given origin.
 */
export function originWithBlobs(origin: SnapshotOrigin, near: ClusterBlobs): SnapshotOrigin {
  const { cluster, blobs, after, elapsed, onError } = near
  let suspendedMs = Number.NEGATIVE_INFINITY
  const readNear = async (sha256: string): Promise<Uint8Array | undefined> => {
    if (elapsed() - suspendedMs < SUSPENDED_MS) return undefined
    try {
      const { value } = await within(after, blobs.get(keyOf(cluster, sha256)), GET_MS)
      if (value === undefined || (await sha256Hex(value)) === sha256) return value
      onError(new Error(`shard ${sha256.slice(0, 12)}… is corrupt`))
    } catch (error) {
      if (error instanceof LoadTimeoutError) suspendedMs = elapsed()
      onError(error)
    }
    return undefined
  }
  return {
    readManifest: origin.readManifest,
    ...(origin.follow && { follow: origin.follow }),
    readShard: async (sha256) => (await readNear(sha256)) ?? origin.readShard(sha256),
  }
}

/**
 * Returns a writer that writes shards to the store as well, and removes them when no manifest lists
 * them. Refuses a new shard that cannot be put there (`StoreError`, 503). Accepts it when it comes
 * again, as the given writer has it, so a failing store holds up no publication for long.
 */
export function writerWithBlobs(writer: ClusterWriter, near: ClusterBlobs): ClusterWriter {
  const { cluster, blobs, after, onError } = near
  const remove = async (result: IngestResult): Promise<void> => {
    const dropped = result.kind === 'stored' ? (result.dropped ?? []) : []
    if (dropped.length === 0) return
    await blobs.remove(dropped.map((sha256) => keyOf(cluster, sha256))).catch(onError)
  }
  const putShard: ClusterWriter['putShard'] = async (sha256, bytes) => {
    const result = await writer.putShard(sha256, bytes)
    if (result.kind !== 'stored') return result
    try {
      await within(after, blobs.put(keyOf(cluster, sha256), bytes), PUT_MS)
    } catch (error) {
      // KV refuses a key that somebody wrote in the same second, as a second exporter may.
      if (result.isNew) throw new StoreError('BLOBS', error)
      onError(error)
    }
    await remove(result)
    return result
  }
  const putManifest: ClusterWriter['putManifest'] = async (...manifest) => {
    const result = await writer.putManifest(...manifest)
    await remove(result)
    return result
  }
  return {
    state: writer.state,
    history: writer.history,
    pin: writer.pin,
    putShard,
    putManifest,
    putPublication: async (bytes, signature, expected) => {
      const publication = parsePublication(bytes)
      if (publication === undefined) return writer.putPublication(bytes, signature, expected)
      // Copies: a call of a Durable Object would send the memory that a part shares with the rest.
      const shards = publication.shards.map((shard) => shard.slice())
      const results = await Promise.all(
        shards.map(async (shard) => putShard(await sha256Hex(shard), shard)),
      )
      const refused = results.find(({ kind }) => kind !== 'stored')
      return refused ?? putManifest(publication.manifest.slice(), signature, expected)
    },
  }
}

/** Returns how the keys of all shards of a cluster begin. */
export function blobPrefix(cluster: string): string {
  return `shards/${cluster}/`
}

function keyOf(cluster: string, sha256: string): string {
  return `${blobPrefix(cluster)}${sha256}`
}
