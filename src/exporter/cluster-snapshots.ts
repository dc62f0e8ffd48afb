/**
 * The snapshots of a cluster that this process answers from itself.
 * @module
 */
import { openShard } from '../snapshot/open-shard.ts'
import { Snapshot } from '../snapshot/snapshot.ts'
import { type BuiltSnapshot, nextGeneration } from './snapshot-builder.ts'

/** Built snapshots in, open ones out. */
export class ClusterSnapshots {
  private readonly now: () => number
  private built: BuiltSnapshot | undefined
  private snapshot: Snapshot | undefined

  /** @param now gives milliseconds since 1970 */
  constructor(now: () => number) {
    this.now = now
  }

  /** The newest snapshot, `undefined` before the first. */
  current(): Snapshot | undefined {
    return this.snapshot
  }

  /** Answers from this one from now on. One that says the same keeps its generation. */
  take(built: BuiltSnapshot): void {
    if (this.built !== undefined && isSame(this.built, built)) return
    const { shards, records, ttlSeconds } = built
    const nowMs = this.now()
    const generation = nextGeneration(this.snapshot?.info.generation ?? 0, nowMs)
    this.built = built
    this.snapshot = new Snapshot(
      { generation, timeMs: nowMs, ttlSeconds, records, origins: [] },
      shards.map((bytes) => openShard(bytes)),
    )
  }
}

function isSame(a: BuiltSnapshot, b: BuiltSnapshot): boolean {
  return (
    a.shards.length === b.shards.length &&
    a.shards.every((shard, i) => Buffer.compare(shard, b.shards[i] ?? shard.subarray(1)) === 0)
  )
}
