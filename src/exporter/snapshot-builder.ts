/**
 * Builds snapshots of a cluster's present objects.
 * @module
 */
import { formatName } from '../dns/name.ts'
import type { Cluster } from '../kubernetes/objects/cluster.ts'
import type { NamingOptions } from '../kubernetes/objects/options.ts'
import { clusterRecords } from '../kubernetes/trees/cluster-records.ts'
import { LABELS_TREE } from '../snapshot/format/manifest.ts'
import { shardCountFor } from '../snapshot/format/shard-count.ts'
import { countRecords } from '../snapshot/read/shard-records.ts'
import { buildShards } from '../snapshot/write/build-shards.ts'
import { countEntries } from '../snapshot/write/group-units.ts'
import { buildLabels } from './label-tree.ts'

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
  /** Other trees of the same objects, by name. */
  readonly trees?: Readonly<Record<string, BuiltTree>>
}

/** Builds a snapshot from all objects at once. The same objects and options give the same bytes. */
export function buildSnapshot(cluster: Cluster, options: NamingOptions): BuiltSnapshot {
  const { entries, warnings } = clusterRecords(cluster, options)
  const labels = buildLabels(cluster.namespaces.values(), options)
  const shards = buildShards(entries, shardCountFor(countEntries(entries)))
  return {
    shards,
    records: shards.reduce((sum, bytes) => sum + countRecords(bytes), 0),
    ttlSeconds: options.ttlSeconds,
    origins: options.origins.map((origin) => formatName(origin)),
    warnings: [...warnings, ...labels.warnings],
    ...(labels.tree && { trees: { [LABELS_TREE]: labels.tree } }),
  }
}

/** Returns the generation after `previous`: the time in seconds, but at least `previous + 1`. */
export function nextGeneration(previous: number, nowMs: number): number {
  return Math.max(previous + 1, Math.floor(nowMs / 1000))
}
