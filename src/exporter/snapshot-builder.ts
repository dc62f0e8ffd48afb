/**
 * Builds snapshots of a cluster's present objects.
 * @module
 */
import { formatName } from '../dns/name.ts'
import type { Cluster } from '../kubernetes/cluster.ts'
import { clusterRecords } from '../kubernetes/cluster-records.ts'
import type { NamingOptions } from '../kubernetes/options.ts'
import type { ZoneEntry } from '../records/zone-entry.ts'
import { buildShards } from '../snapshot/build-shards.ts'

/** A snapshot that was built, not yet opened. */
export type BuiltSnapshot = {
  readonly shards: readonly Uint8Array[]
  readonly records: number
  readonly ttlSeconds: number
  /** Forward origins, with their final dot. */
  readonly origins: readonly string[]
  readonly warnings: readonly string[]
}

/** Builds a snapshot. The same objects and options give the same octets. */
export function buildSnapshot(cluster: Cluster, options: NamingOptions): BuiltSnapshot {
  const { entries, warnings } = clusterRecords(cluster, options)
  return {
    shards: buildShards(entries),
    records: countRecords(entries),
    ttlSeconds: options.ttlSeconds,
    origins: options.origins.map((origin) => formatName(origin)),
    warnings,
  }
}

/** The generation after `previous`: the time in seconds, or one more when that is not later. */
export function nextGeneration(previous: number, nowMs: number): number {
  return Math.max(previous + 1, Math.floor(nowMs / 1000))
}

function countRecords(entries: readonly ZoneEntry[]): number {
  let records = 0
  for (const entry of entries) {
    if (entry.kind === 'pointer') records++
    if (entry.kind === 'records') records += entry.rdata.length
  }
  return records
}
