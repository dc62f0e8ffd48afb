/**
 * Snapshots as the exporter builds them, and their numbers.
 * @module
 */
import { equalBytes } from '../../dns/bytes/bytes.ts'
import { Shard } from '../../snapshot/read/shard.ts'
import { Snapshot } from '../../snapshot/read/snapshot.ts'
import type { HostConflict } from '../trees/host-conflicts.ts'
import type { RecordVerdict } from '../trees/record-verdicts.ts'

/** A built tree of names beside the main one. */
export type BuiltTree = {
  readonly shards: readonly Uint8Array[]
  readonly records: number
  readonly ttlSeconds: number
}

/** A built snapshot. */
export type BuiltSnapshot = {
  readonly shards: readonly Uint8Array[]
  readonly records: number
  readonly ttlSeconds: number
  /** Forward origins, with the final dot. */
  readonly origins: readonly string[]
  readonly warnings: readonly string[]
  /** Hostnames that objects of several namespaces claim; none when absent. */
  readonly conflicts?: readonly HostConflict[]
  /** What is decided about each DNSRecord; none when absent. */
  readonly verdicts?: readonly RecordVerdict[]
  /** Other trees of the same objects, by name. */
  readonly trees?: Readonly<Record<string, BuiltTree>>
}

/** Returns the generation after `previous`: the time in seconds, but at least `previous + 1`. */
export function nextGeneration(previous: number, nowMs: number): number {
  return Math.max(previous + 1, Math.floor(nowMs / 1000))
}

/** Turns built snapshots into open ones. */
export class ClusterSnapshots {
  private readonly now: () => number
  private built: BuiltSnapshot | undefined
  private snapshot: Snapshot | undefined

  /** @param now returns milliseconds since 1970 */
  constructor(now: () => number) {
    this.now = now
  }

  /** Returns the newest snapshot, `undefined` before the first. */
  current(): Snapshot | undefined {
    return this.snapshot
  }

  /** Serves this snapshot from now on. One with the same names keeps its generation. */
  take(built: BuiltSnapshot): void {
    if (this.built !== undefined && isSame(this.built, built)) return
    const { shards, ttlSeconds } = built
    const timeMs = this.now()
    const generation = nextGeneration(this.snapshot?.info.generation ?? 0, timeMs)
    const opened = this.openedShards()
    this.built = built
    this.snapshot = new Snapshot(
      { generation, timeMs, ttlSeconds, origins: [] },
      // This process wrote the bytes: they need no check.
      shards.map((bytes) => opened.get(bytes) ?? new Shard(bytes)),
    )
  }

  /** Returns the open shards of a tree; unchanged ones are those of the previous snapshot. */
  private openedShards(): ReadonlyMap<Uint8Array, Shard> {
    const opened = new Map<Uint8Array, Shard>()
    for (const shard of this.snapshot?.shards ?? []) {
      if (shard !== undefined) opened.set(shard.bytes, shard)
    }
    return opened
  }
}

function isSame(a: BuiltSnapshot, b: BuiltSnapshot): boolean {
  return (
    a.shards.length === b.shards.length &&
    a.shards.every((shard, i) => {
      const other = b.shards[i]
      return other === shard || (other !== undefined && equalBytes(other, shard))
    })
  )
}
