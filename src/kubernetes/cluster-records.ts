/**
 * All names of a cluster: each rule is a file of its own, and this is the list of them.
 * @module
 */
import { NAME_BYTES_MAX } from '../dns/limits.ts'
import type { ZoneEntry } from '../records/zone-entry.ts'
import type { Cluster } from './cluster.ts'
import { nameserverNames } from './nameserver-names.ts'
import { findServiceProblem, findSliceProblem } from './naming-problems.ts'
import { describeObject, type Service } from './objects.ts'
import type { NamingOptions } from './options.ts'
import { podNames } from './pod-names.ts'
import { pointers } from './pointers.ts'
import { servedNamespaces } from './selection.ts'
import { serviceNames } from './service-names.ts'
import { zoneNames } from './zone-names.ts'

/** What a cluster's objects amount to. */
export type ClusterRecords = {
  readonly entries: readonly ZoneEntry[]
  /** Objects that DNS cannot name, or not wholly, one line each. */
  readonly warnings: readonly string[]
}

/** Makes all names of a cluster's present objects. */
export function clusterRecords(cluster: Cluster, options: NamingOptions): ClusterRecords {
  const namespaces = servedNamespaces(cluster, options)
  const served = new Set(namespaces)
  // The list of namespaces holds for reverse look-ups as well, the selector of namespaces does not:
  // so it is in CoreDNS (plugin/kubernetes/reverse.go).
  const pointsBack = (namespace: string): boolean =>
    options.namespaces.size === 0 || served.has(namespace)
  const warnings: string[] = []
  const entries: ZoneEntry[] = [
    ...zoneNames(namespaces),
    ...nameserverNames(cluster, options),
    ...podNames(cluster, namespaces, options),
    ...pointers(cluster, options, pointsBack),
  ].filter((entry) => fits(entry, options))
  for (const service of cluster.services.values()) {
    if (!served.has(service.namespace)) continue
    const named = nameService(cluster, service, options)
    for (const entry of named.entries) entries.push(entry)
    warnings.push(...named.warnings)
  }
  return { entries, warnings }
}

function nameService(cluster: Cluster, service: Service, options: NamingOptions): ClusterRecords {
  const slices = cluster.slicesOf(service)
  const names = serviceNames(service, slices, options)
  const entries = names.filter((entry) => fits(entry, options))
  const problems = [
    [service, findServiceProblem(service)] as const,
    ...slices.map((slice) => [slice, findSliceProblem(slice, options.usesPodNames)] as const),
    [service, names.length === entries.length ? undefined : 'names over 255 octets'] as const,
  ]
  const warnings = problems.flatMap(([object, problem]) =>
    problem === undefined ? [] : [`${describeObject(object)}: ${problem}`],
  )
  return { entries, warnings }
}

/** Tells whether an entry's names fit below every origin (RFC 1035 §3.1). */
function fits(entry: ZoneEntry, { origins }: NamingOptions): boolean {
  const room = NAME_BYTES_MAX - Math.max(...origins.map(({ length }) => length))
  if (entry.kind === 'pointer') return entry.target.length <= room
  if (entry.owner.length > room) return false
  return (
    entry.kind !== 'records' || entry.rdata.every(({ target }) => (target?.length ?? 0) <= room)
  )
}
