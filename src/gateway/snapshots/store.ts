/**
 * The store of one cluster's snapshots.
 * @module
 */

import { type Manifest, parseManifest } from '../../snapshot/format/manifest.ts'
import { createMemoryDirectory } from '../access/cluster-directory.ts'
import type { DirectoryRuntime } from '../access/known-clusters.ts'
import { createMemoryTokenStore, type TokenStore } from '../access/token-store.ts'
import { HttpError } from '../doh/http-error.ts'

/** A published manifest. */
export type SignedManifest = {
  readonly bytes: Uint8Array
  /** Ed25519 signature of the bytes, in base64url. */
  readonly signature: string
}

const manifests = new WeakMap<Uint8Array, Manifest>()

/**
 * Returns the contents of a manifest whose bytes nobody changes. Parses them once: each publication
 * looks at all generations that a store keeps.
 * @throws {SnapshotError} naming the invalid field
 */
export function manifestOf({ bytes }: Pick<SignedManifest, 'bytes'>): Manifest {
  const known = manifests.get(bytes)
  if (known !== undefined) return known
  const manifest = parseManifest(bytes)
  manifests.set(bytes, manifest)
  return manifest
}

/** The manifest to serve. */
export type ServedManifest = SignedManifest & {
  /** Set when an operator pinned it: newer ones may have been published since. */
  readonly isPinned?: true
}

/** A manifest in a store, with the generation that it was written for. */
export type StoredManifest = ServedManifest & {
  readonly generation: number
  /**
   * Set when the store knows, without looking for each, that it has all shards of the manifest. A
   * store that other processes write too never knows.
   */
  readonly isWhole?: true
}

/** A shard in a store. */
export type StoredShard = {
  readonly sha256: string
  readonly bytes: number
  /** When it was written, in milliseconds since 1970. */
  readonly writtenMs: number
}

/**
 * Most shards that a store removes at a time; the others follow with the next manifest. A Worker
 * may make a thousand subrequests for one request, and removes shards from KV one by one.
 */
export const DROPPED_MAX = 500

/** The generations to keep when a manifest is written; a store removes the others. */
export type KeptGenerations = {
  readonly generations: ReadonlySet<number>
  /** Generations with broken manifests: a file store sets them aside, others remove them. */
  readonly broken?: ReadonlySet<number>
  /** The shards of the generations to keep, all of which the store has. */
  readonly listed?: ReadonlySet<string>
  /** The shards that only removed generations list. */
  readonly delisted?: readonly string[]
}

/**
 * The snapshots of one cluster. Shards never change: their key is the SHA-256 of their bytes. There
 * is one writer at a time; `writeManifest` and `pin` are atomic.
 */
export type ClusterStore = {
  /** Generations to keep; the writer's default when left out. */
  readonly generationsMax?: number
  /**
   * Runs a step that reads, checks and writes while no other process does. Left out by a store that
   * only one process writes.
   * @throws {HttpError} 503 when the others take too long
   */
  readonly exclusive?: <T>(step: () => Promise<T>) => Promise<T>
  /** Reads the manifest of the pinned generation, or the newest. */
  readonly readManifest: () => Promise<StoredManifest | undefined>
  /** Reads all manifests, or the newest ones, the newest first. */
  readonly readManifests: (countMax?: number) => Promise<readonly StoredManifest[]>
  /** Reads a shard by its hash; `undefined` when the store lacks it. */
  readonly readShard: (sha256: string) => Promise<Uint8Array | undefined>
  /** Lists the hashes of shards that the store lacks. */
  readonly missingShards: (sha256s: readonly string[]) => Promise<readonly string[]>
  /** Writes a shard; replaces one with the same hash. */
  readonly writeShard: (sha256: string, bytes: Uint8Array, nowMs: number) => Promise<void>
  /** Lists the shards whose hashes are not in the set. */
  readonly unlistedShards: (listed: ReadonlySet<string>) => Promise<readonly StoredShard[]>
  /** Removes shards, {@link DROPPED_MAX} at a time. */
  readonly dropShards: (sha256s: readonly string[]) => Promise<void>
  /**
   * Writes the manifest of a generation, replaces one of the same generation, and removes the
   * generations not to keep. Without `kept`, which confirms a manifest, it removes none.
   */
  readonly writeManifest: (
    generation: number,
    manifest: SignedManifest,
    kept?: KeptGenerations,
  ) => Promise<void>
  /**
   * Pins a generation: serves it, whatever is published later. `undefined` unpins it. Resolves with
   * false, and changes nothing, for a generation that is not kept.
   */
  readonly pin: (generation: number | undefined) => Promise<boolean>
}

/** Where a gateway keeps snapshots and tokens. */
export type GatewayStore = {
  /** Returns the store of a cluster's snapshots. Called once, until the cluster is removed. */
  readonly clusterStore: (cluster: string) => ClusterStore
  readonly tokenStore: TokenStore
  /** Clusters that come and go; only those of CLUSTERS when left out. */
  readonly directory?: Omit<DirectoryRuntime, 'clusters'>
}

/** Creates a store in memory, which the end of the process loses. */
export function createMemoryGatewayStore(): GatewayStore {
  const store = createMemoryDirectory()
  return {
    clusterStore: createMemoryStore,
    tokenStore: createMemoryTokenStore(),
    // The store of a cluster ends with its last user.
    directory: { store, removeSnapshots: () => Promise.resolve(false) },
  }
}

/** Creates a store of one cluster in memory. */
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
    readManifests: (countMax) => {
      const sorted = [...manifests.values()].sort((a, b) => b.generation - a.generation)
      return Promise.resolve(sorted.slice(0, countMax))
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
      for (const one of manifests.keys()) {
        if (kept && !kept.generations.has(one)) manifests.delete(one)
      }
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

/** A lock within one process. */
export class Mutex {
  private last: Promise<unknown> = Promise.resolve()

  /**
   * Runs a step after all earlier ones, whether these succeed or fail; settles as the step does.
   */
  run<T>(step: () => Promise<T>): Promise<T> {
    const result = this.last.then(step)
    this.last = result.catch(() => undefined)
    return result
  }
}

/**
 * Status, code and sentence by the error code: errno, SQLite's name, `S3`, or `BLOBS` for KV and
 * R2.
 */
const CAUSES: Readonly<Record<string, readonly [number, string, string]>> = {
  ENOSPC: [507, 'no_space', 'is full; free space and try again'],
  EDQUOT: [507, 'no_space', 'is over its disk quota; free space and try again'],
  SQLITE_FULL: [507, 'no_space', 'is full; free space and try again'],
  EROFS: [503, 'read_only', 'is read-only; make it writable and try again'],
  EACCES: [503, 'no_access', 'denies access; check the owner and mode of its folder'],
  EPERM: [503, 'no_access', 'denies access; check the owner and mode of its folder'],
  S3: [503, 'store_unavailable', 'in a bucket is unavailable; try again'],
  S3_DENIED: [503, 'no_access', 'in a bucket denies access; check the keys and their policy'],
  BLOBS: [503, 'shards_unavailable', 'for shards (KV or R2) is unavailable; try again'],
}

/** A failure of the store. Clients get the cause's code; the log gets the cause. */
export class StoreError extends HttpError {
  /** The platform's error. It may name paths, so only the log shows it. */
  override readonly cause: unknown

  /** @param code the platform's error code, such as `ENOSPC` */
  constructor(code: string, cause: unknown) {
    const [status, name, what] = CAUSES[code] ?? [500, 'storage_failed', 'failed']
    super(status, name, `The gateway's storage ${what} (${code})`)
    this.cause = cause
  }
}
