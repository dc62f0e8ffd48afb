/**
 * Bounds the shards that no manifest lists: uploads for the next manifest, or uploads of a client
 * that has the exporter's token but not its signing key.
 * @module
 */
import { allShards } from '../../snapshot/format/manifest.ts'
import { type ClusterStore, DROPPED_MAX, manifestOf, type SignedManifest } from './store.ts'

/** Most bytes of a cluster's unlisted shards. */
export const UNLISTED_BYTES_MAX: number = 512 * 1024 * 1024
/** The least that a shard counts for, which bounds their number to 16,384. */
const SHARD_BYTES_LEAST = 32 * 1024
/** How long a shard may wait for its manifest. */
export const UNLISTED_MS: number = 10 * 60 * 1000
/** How long a count that left no room stays valid. */
const RECOUNT_MS = 10_000

/** Counts and removes unlisted shards, for the single writer of a cluster. */
export class UnlistedShards {
  private readonly store: ClusterStore
  private readonly now: () => number
  /** Unknown until the first shard. */
  private bytes: number | undefined
  private countedMs = 0

  /** @param now gives milliseconds since 1970 */
  constructor(store: ClusterStore, now: () => number) {
    this.store = store
    this.now = now
  }

  /** Whether shards are known to wait; a new writer knows of none. */
  get hasSome(): boolean {
    return (this.bytes ?? 0) > 0
  }

  /**
   * Makes room for a shard.
   * @param known the store's manifests, if the caller has read them
   * @returns the hashes of the shards that were removed for it; `undefined` if there is no room
   */
  async admit(
    size: number,
    known?: readonly SignedManifest[],
  ): Promise<readonly string[] | undefined> {
    const cost = Math.max(size, SHARD_BYTES_LEAST)
    let dropped: readonly string[] = []
    const isOver = (this.bytes ?? 0) + cost > UNLISTED_BYTES_MAX
    const isDue = Math.abs(this.now() - this.countedMs) >= RECOUNT_MS
    if (this.bytes === undefined || (isOver && isDue)) {
      const manifests = known ?? (await this.store.readManifests())
      const listed = manifests.flatMap((one) => allShards(manifestOf(one)))
      dropped = await this.drop(new Set(listed.map(({ sha256 }) => sha256)), new Set())
    }
    const bytes = (this.bytes ?? 0) + cost
    if (bytes > UNLISTED_BYTES_MAX) return undefined
    this.bytes = bytes
    return dropped
  }

  /**
   * Removes shards that waited for {@link UNLISTED_MS}, and at once those that older manifests
   * listed; {@link DROPPED_MAX} at a time. Counts the others.
   * @returns the hashes of the removed shards
   */
  async drop(
    listed: ReadonlySet<string>,
    delisted: ReadonlySet<string>,
  ): Promise<readonly string[]> {
    const nowMs = this.now()
    const unlisted = await this.store.unlistedShards(listed)
    // The clock may have been set back.
    const isOld = (writtenMs: number): boolean => Math.abs(nowMs - writtenMs) >= UNLISTED_MS
    const dropped = unlisted
      .filter(({ sha256, writtenMs }) => delisted.has(sha256) || isOld(writtenMs))
      .slice(0, DROPPED_MAX)
      .map(({ sha256 }) => sha256)
    if (dropped.length > 0) await this.store.dropShards(dropped)
    const gone = new Set(dropped)
    this.countedMs = nowMs
    this.bytes = unlisted
      .filter(({ sha256 }) => !gone.has(sha256))
      .reduce((sum, { bytes }) => sum + Math.max(bytes, SHARD_BYTES_LEAST), 0)
    return dropped
  }
}
