/**
 * Builds snapshots of a cluster's present objects.
 * @module
 */
import { formatName } from '../dns/name.ts'
import type { Cluster } from '../kubernetes/cluster.ts'
import { clusterRecords } from '../kubernetes/cluster-records.ts'
import type { NamingOptions } from '../kubernetes/options.ts'
import { buildShards } from '../snapshot/build-shards.ts'
import { countEntries } from '../snapshot/grouped-shards.ts'
import { shardCountFor } from '../snapshot/shard-count.ts'
import { countRecords } from '../snapshot/shard-records.ts'

/** A snapshot that was built, not yet opened. */
export type BuiltSnapshot = {
  readonly shards: readonly Uint8Array[]
  readonly records: number
  readonly ttlSeconds: number
  /** Forward origins, with their final dot. */
  readonly origins: readonly string[]
  readonly warnings: readonly string[]
}

/** Builds a snapshot as a whole. The same objects and options give the same octets. */
export function buildSnapshot(cluster: Cluster, options: NamingOptions): BuiltSnapshot {
  const { entries, warnings } = clusterRecords(cluster, options)
  const shards = buildShards(entries, shardCountFor(countEntries(entries)))
  return {
    shards,
    records: shards.reduce((sum, bytes) => sum + countRecords(bytes), 0),
    ttlSeconds: options.ttlSeconds,
    origins: options.origins.map((origin) => formatName(origin)),
    warnings,
  }
}

/** The generation after `previous`: the time in seconds, or one more when that is not later. */
export function nextGeneration(previous: number, nowMs: number): number {
  return Math.max(previous + 1, Math.floor(nowMs / 1000))
}
