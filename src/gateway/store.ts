/**
 * Where a gateway keeps one cluster's snapshots.
 * @module
 */

/** A manifest as it was published. */
export type SignedManifest = {
  readonly bytes: Uint8Array
  /** Ed25519 signature of the octets, in base64url. */
  readonly signature: string
}

/**
 * The snapshots of one cluster. Shards never change: they are kept by the SHA-256 of their octets.
 * Only one writer acts at a time; `writeManifest` is seen whole or not at all.
 */
export type ClusterStore = {
  readonly readManifest: () => Promise<SignedManifest | undefined>
  /** Reads a shard by its hash; `undefined` when it is not there. */
  readonly readShard: (sha256: string) => Promise<Uint8Array | undefined>
  /** Lists those of the hashes that are not there. */
  readonly missingShards: (sha256s: readonly string[]) => Promise<readonly string[]>
  readonly writeShard: (sha256: string, bytes: Uint8Array) => Promise<void>
  /**
   * Puts a manifest in place of the one before, and drops the shards that are not to be kept.
   * Resolves with their hashes.
   */
  readonly writeManifest: (
    manifest: SignedManifest,
    keptShards: ReadonlySet<string>,
  ) => Promise<readonly string[]>
}

/** A store in memory, for tests and single processes. */
export function createMemoryStore(): ClusterStore {
  const shards = new Map<string, Uint8Array>()
  let current: SignedManifest | undefined
  return {
    readManifest: () => Promise.resolve(current),
    readShard: (sha256) => Promise.resolve(shards.get(sha256)),
    missingShards: (sha256s) => Promise.resolve(sha256s.filter((hash) => !shards.has(hash))),
    writeShard: (sha256, bytes) => {
      shards.set(sha256, bytes.slice())
      return Promise.resolve()
    },
    writeManifest: (manifest, keptShards) => {
      current = manifest
      const dropped = [...shards.keys()].filter((sha256) => !keptShards.has(sha256))
      for (const sha256 of dropped) shards.delete(sha256)
      return Promise.resolve(dropped)
    },
  }
}
