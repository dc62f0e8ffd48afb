/**
 * Where a gateway keeps one cluster's snapshots.
 * @module
 */

/** A manifest as it was published. */
export type SignedManifest = {
  readonly bytes: Uint8Array
  /** Ed25519 signature of the bytes, in base64url. */
  readonly signature: string
}

/** The manifest that is to be answered from. */
export type ServedManifest = SignedManifest & {
  /** An operator chose it: it may be older than what was published since. */
  readonly isPinned?: true
}

/** A manifest as a store has it, under the generation that it was written for. */
export type StoredManifest = ServedManifest & { readonly generation: number }

/** A shard as a store has it. */
export type StoredShard = {
  readonly sha256: string
  /** Its size. */
  readonly bytes: number
  /** When it was written, in milliseconds since 1970. */
  readonly writtenMs: number
}

/**
 * Shards that a store drops at a time at the most, the others with the next manifest: a Worker may
 * ask a thousand things of its platform while it answers one request, and each is removed from KV.
 */
export const DROPPED_MAX = 500

/** What becomes of the other generations when a manifest is written. */
export type Kept = {
  readonly generations: ReadonlySet<number>
  /** Generations whose manifests are broken: a store on files sets them aside, others drop them. */
  readonly broken?: ReadonlySet<number>
}

/**
 * The snapshots of one cluster. Shards never change: they are kept by the SHA-256 of their bytes.
 * Only one writer acts at a time; `writeManifest` and `pin` are seen whole or not at all.
 */
export type ClusterStore = {
  /** Reads the manifest of the generation that is pinned, or else the newest. */
  readonly readManifest: () => Promise<StoredManifest | undefined>
  /** Reads all manifests that are kept, the newest first. */
  readonly readManifests: () => Promise<readonly StoredManifest[]>
  /** Reads a shard by its hash; `undefined` when it is not there. */
  readonly readShard: (sha256: string) => Promise<Uint8Array | undefined>
  /** Lists those of the hashes that are not there. */
  readonly missingShards: (sha256s: readonly string[]) => Promise<readonly string[]>
  /** Writes a shard, in place of one with the same hash. */
  readonly writeShard: (sha256: string, bytes: Uint8Array, nowMs: number) => Promise<void>
  /** Lists the shards whose hashes are not in the set. */
  readonly unlistedShards: (listed: ReadonlySet<string>) => Promise<readonly StoredShard[]>
  /** Drops shards, {@link DROPPED_MAX} at a time. */
  readonly dropShards: (sha256s: readonly string[]) => Promise<void>
  /**
   * Writes the manifest of a generation, in place of one of the same, and drops the generations
   * that are not to be kept.
   */
  readonly writeManifest: (
    generation: number,
    manifest: SignedManifest,
    kept: Kept,
  ) => Promise<void>
  /**
   * Has a generation served, whatever is published, or with `undefined` the newest again. Resolves
   * with false, and changes nothing, when it is not kept.
   */
  readonly pin: (generation: number | undefined) => Promise<boolean>
}

/** A store in memory, for tests and single processes. */
export function createMemoryStore(): ClusterStore {
  const shards = new Map<string, { readonly bytes: Uint8Array; readonly writtenMs: number }>()
  const manifests = new Map<number, StoredManifest>()
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
      const sorted = [...manifests.values()].sort((a, b) => b.generation - a.generation)
      return Promise.resolve(sorted)
    },
    readShard: (sha256) => Promise.resolve(shards.get(sha256)?.bytes),
    missingShards: (sha256s) => Promise.resolve(sha256s.filter((hash) => !shards.has(hash))),
    writeShard: (sha256, bytes, writtenMs) => {
      shards.set(sha256, { bytes: bytes.slice(), writtenMs })
      return Promise.resolve()
    },
    unlistedShards: (listed) => {
      const unlisted = [...shards].filter(([sha256]) => !listed.has(sha256))
      return Promise.resolve(
        unlisted.map(([sha256, { bytes, writtenMs }]) => ({
          sha256,
          bytes: bytes.length,
          writtenMs,
        })),
      )
    },
    dropShards: (sha256s) => {
      for (const sha256 of sha256s) shards.delete(sha256)
      return Promise.resolve()
    },
    writeManifest: (generation, { bytes, signature }, kept) => {
      for (const one of manifests.keys()) if (!kept.generations.has(one)) manifests.delete(one)
      manifests.set(generation, { generation, signature, bytes: bytes.slice() })
      return Promise.resolve()
    },
    pin: (generation) => {
      const isKept = generation === undefined || manifests.has(generation)
      if (isKept) pinned = generation
      return Promise.resolve(isKept)
    },
  }
}
