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

/** The manifest that is to be answered from. */
export type ServedManifest = SignedManifest & {
  /** An operator chose it: it may be older than what was published since. */
  readonly isPinned?: true
}

/**
 * Shards that a store drops at a time at the most, the others with the next manifest: a Worker may
 * ask a thousand things of its platform while it answers one request, and each is removed from KV.
 */
export const DROPPED_MAX = 500

/** What is to be kept beside a manifest that is written. */
export type Kept = {
  readonly generations: ReadonlySet<number>
  /** Hashes of all shards that these and the manifest list. */
  readonly shards: ReadonlySet<string>
}

/**
 * The snapshots of one cluster. Shards never change: they are kept by the SHA-256 of their octets.
 * Only one writer acts at a time; `writeManifest` and `pin` are seen whole or not at all.
 */
export type ClusterStore = {
  /** Reads the manifest of the generation that is pinned, or else the newest. */
  readonly readManifest: () => Promise<ServedManifest | undefined>
  /** Reads all manifests that are kept, the newest first. */
  readonly readManifests: () => Promise<readonly SignedManifest[]>
  /** Reads a shard by its hash; `undefined` when it is not there. */
  readonly readShard: (sha256: string) => Promise<Uint8Array | undefined>
  /** Lists those of the hashes that are not there. */
  readonly missingShards: (sha256s: readonly string[]) => Promise<readonly string[]>
  readonly writeShard: (sha256: string, bytes: Uint8Array) => Promise<void>
  /**
   * Writes the manifest of a generation, in place of one of the same; drops the generations that
   * are not to be kept, and of such shards {@link DROPPED_MAX}. Resolves with the hashes of the
   * shards that it dropped.
   */
  readonly writeManifest: (
    generation: number,
    manifest: SignedManifest,
    kept: Kept,
  ) => Promise<readonly string[]>
  /**
   * Has a generation served, whatever is published, or with `undefined` the newest again. Resolves
   * with false, and changes nothing, when it is not kept.
   */
  readonly pin: (generation: number | undefined) => Promise<boolean>
}

/** A store in memory, for tests and single processes. */
export function createMemoryStore(): ClusterStore {
  const shards = new Map<string, Uint8Array>()
  const manifests = new Map<number, SignedManifest>()
  let pinned: number | undefined
  const newest = (): number => Math.max(...manifests.keys())
  return {
    readManifest: () => {
      const manifest = manifests.get(pinned ?? newest())
      return Promise.resolve(
        manifest && pinned !== undefined ? { ...manifest, isPinned: true } : manifest,
      )
    },
    readManifests: () => {
      const sorted = [...manifests].sort(([a], [b]) => b - a)
      return Promise.resolve(sorted.map(([, manifest]) => manifest))
    },
    readShard: (sha256) => Promise.resolve(shards.get(sha256)),
    missingShards: (sha256s) => Promise.resolve(sha256s.filter((hash) => !shards.has(hash))),
    writeShard: (sha256, bytes) => {
      shards.set(sha256, bytes.slice())
      return Promise.resolve()
    },
    writeManifest: (generation, manifest, kept) => {
      for (const one of manifests.keys()) if (!kept.generations.has(one)) manifests.delete(one)
      manifests.set(generation, { ...manifest, bytes: manifest.bytes.slice() })
      const unlisted = [...shards.keys()].filter((sha256) => !kept.shards.has(sha256))
      const dropped = unlisted.slice(0, DROPPED_MAX)
      for (const sha256 of dropped) shards.delete(sha256)
      return Promise.resolve(dropped)
    },
    pin: (generation) => {
      const isKept = generation === undefined || manifests.has(generation)
      if (isKept) pinned = generation
      return Promise.resolve(isKept)
    },
  }
}
