/**
 * A snapshot from all objects at once, which one that was built change by change must equal.
 * @module
 */

import { buildLabels } from '../../../src/cluster/follow/cluster-builder.ts'
import type { BuiltSnapshot } from '../../../src/cluster/follow/snapshot-builder.ts'
import type { Cluster } from '../../../src/cluster/objects/cluster.ts'
import type { NamingOptions } from '../../../src/cluster/objects/options.ts'
import { formatName } from '../../../src/dns/names/name.ts'
import { LABELS_TREE } from '../../../src/snapshot/format/manifest.ts'
import { shardCountFor } from '../../../src/snapshot/format/shard-count.ts'
import { countRecords } from '../../../src/snapshot/read/shard-records.ts'
import { buildShards } from '../../../src/snapshot/write/build-shards.ts'
import { countEntries } from '../../../src/snapshot/write/group-units.ts'
import { clusterRecords } from '../cluster-names.ts'

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
