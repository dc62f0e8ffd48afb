/**
 * All names of a cluster at once. The product builds them group by group.
 * @module
 */
import type { Cluster } from '../../src/cluster/objects/cluster.ts'
import type { NamingOptions } from '../../src/cluster/objects/options.ts'
import { findServed } from '../../src/cluster/objects/selection.ts'
import {
  namespaceRecords,
  serviceKeys,
  zoneRecords,
} from '../../src/cluster/trees/cluster-records.ts'
import { type NamedRecords, serviceRecords } from '../../src/cluster/trees/service-records.ts'

/** Returns all names of a cluster's present objects. */
export function clusterRecords(cluster: Cluster, options: NamingOptions): NamedRecords {
  const served = findServed(cluster, options)
  const warnings: string[] = []
  const entries = [
    ...zoneRecords(cluster, options),
    ...served.names.flatMap((namespace) => namespaceRecords(cluster, namespace, options)),
  ]
  for (const key of serviceKeys(cluster, options)) {
    const named = serviceRecords(cluster, key, { served, options })
    for (const entry of named.entries) entries.push(entry)
    warnings.push(...named.warnings)
  }
  return { entries, warnings }
}
