/**
 * Which shards in a bucket a process may remove. A shard must not be removed while another process
 * starts to list it. So a head names the shards that are removed before they are: from then on all
 * others take them for missing, and write none of them for {@link REMOVAL_MS}, within which the
 * removal has ended.
 * @module
 */
import { DROPPED_MAX } from '../../gateway/snapshots/store.ts'
import type { ClusterHead } from './cluster-head.ts'

/** How long others leave a shard alone that a process removes; clocks may differ by half of it. */
export const REMOVAL_MS = 60_000
/** How long after its decision a process still sends removals; each request ends within 5 s. */
const SENDING_MS = 20_000

/** The removals of one process. */
export class ShardRemovals {
  private readonly now: () => number
  /** When this process decided to remove shards that the head names. */
  private readonly decided = new Map<string, number>()
  private readonly done = new Set<string>()

  /** @param now gives milliseconds since 1970 */
  constructor(now: () => number) {
    this.now = now
  }

  /** Returns a head that names some more shards, {@link DROPPED_MAX} at a time. */
  decide(head: ClusterHead, sha256s: readonly string[]): ClusterHead {
    const atMs = this.now()
    const removed = new Map(head.removed)
    for (const sha256 of sha256s.slice(0, DROPPED_MAX)) {
      if (removed.has(sha256)) continue
      removed.set(sha256, atMs)
      this.decided.set(sha256, atMs)
      this.done.delete(sha256)
    }
    return { ...head, removed }
  }

  /** Returns whether the head names a shard by this process's decision. */
  isDecided({ removed }: ClusterHead, sha256: string): boolean {
    const atMs = this.decided.get(sha256)
    return atMs !== undefined && removed.get(sha256) === atMs
  }

  /** Returns whether this process may still send the removal. */
  maySend(head: ClusterHead, sha256: string): boolean {
    const atMs = this.decided.get(sha256) ?? 0
    return this.isDecided(head, sha256) && Math.abs(this.now() - atMs) < SENDING_MS
  }

  /** Notes that a shard is removed. */
  note(sha256: string): void {
    this.done.add(sha256)
  }

  /** Returns whether some process may be removing a shard at this moment. */
  isUnderway(head: ClusterHead, sha256: string): boolean {
    const atMs = head.removed.get(sha256)
    if (atMs === undefined) return false
    if (this.done.has(sha256) && this.isDecided(head, sha256)) return false
    // A clock may have been set back.
    return Math.abs(this.now() - atMs) < REMOVAL_MS
  }

  /** Returns a head that names only shards whose removal may be under way. */
  cleaned(head: ClusterHead): ClusterHead {
    const removed = new Map([...head.removed].filter(([sha256]) => this.isUnderway(head, sha256)))
    for (const sha256 of this.decided.keys()) {
      if (removed.has(sha256)) continue
      this.decided.delete(sha256)
      this.done.delete(sha256)
    }
    return { ...head, removed }
  }
}
