/**
 * Shards near their readers: in KV or R2, which many isolates read at little cost, with the
 * cluster's single writer behind them for what is not there (yet).
 *
 * KV remembers for a while that a key was not there, so nobody asks for one that was never written:
 * a shard is put there before its writer acknowledges it, and readers learn of it from a manifest.
 * @module
 */
import type { ClusterWriter } from './publish-routes.ts'
import type { SnapshotOrigin } from './snapshot-loader.ts'

/** Keeps octets by key. What is under a key never changes. */
export type BlobStore = {
  readonly get: (key: string) => Promise<Uint8Array | undefined>
  readonly put: (key: string, bytes: Uint8Array) => Promise<void>
  /** Removes keys: as many as a `ClusterStore` drops at a time, which any platform takes. */
  readonly remove: (keys: readonly string[]) => Promise<void>
}

/** Has shards read from a store, and from the origin when that has them not or is away. */
export function originWithBlobs(
  cluster: string,
  origin: SnapshotOrigin,
  blobs: BlobStore,
): SnapshotOrigin {
  return {
    readManifest: origin.readManifest,
    readShard: async (sha256) => {
      const bytes = await blobs.get(keyOf(cluster, sha256)).catch(() => undefined)
      return bytes ?? origin.readShard(sha256)
    },
  }
}

/**
 * Has shards written to a store as well, and removed from it when no manifest lists them. A new
 * shard that cannot be put there is not acknowledged; when it comes again it is, as its writer has
 * it, and a store that is away holds up no names for long.
 * @param onError gets why a shard that was known could not be put there, or shards not be removed
 */
export function writerWithBlobs(
  cluster: string,
  writer: ClusterWriter,
  blobs: BlobStore,
  onError: (error: unknown) => void,
): ClusterWriter {
  return {
    state: writer.state,
    history: writer.history,
    pin: writer.pin,
    putShard: async (sha256, bytes) => {
      const result = await writer.putShard(sha256, bytes)
      if (result.kind !== 'stored') return result
      try {
        await blobs.put(keyOf(cluster, sha256), bytes)
      } catch (error) {
        // KV refuses a key that somebody wrote in the same second, as a second exporter may.
        if (result.isNew) throw error
        onError(error)
      }
      return result
    },
    putManifest: async (bytes, signature, expected) => {
      const result = await writer.putManifest(bytes, signature, expected)
      if (result.kind === 'stored') {
        const keys = (result.dropped ?? []).map((sha256) => keyOf(cluster, sha256))
        await blobs.remove(keys).catch(onError)
      }
      return result
    },
  }
}

function keyOf(cluster: string, sha256: string): string {
  return `shards/${cluster}/${sha256}`
}
