/**
 * All names of a cluster: each rule is a file of its own, and this is the list of them.
 * @module
 */
import { NAME_BYTES_MAX } from '../dns/limits.ts'
import type { Rdata, ZoneEntry } from '../records/zone-entry.ts'
import { type Cluster, objectKey } from './cluster.ts'
import { nameserverNames } from './nameserver-names.ts'
import { findServiceProblem, findSliceProblem } from './naming-problems.ts'
import { describeObject, type EndpointSlice, type Service } from './objects.ts'
import type { NamingOptions } from './options.ts'
import { podNames } from './pod-names.ts'
import { clusterIpPointers, endpointPointers } from './pointers.ts'
import { servedNamespaces } from './selection.ts'
import { serviceNames } from './service-names.ts'
import { namespaceNames, zoneNames } from './zone-names.ts'

/** What a cluster's objects amount to. */
export type ClusterRecords = {
  readonly entries: readonly ZoneEntry[]
  /** Objects that DNS cannot name, or not wholly, one line each. */
  readonly warnings: readonly string[]
}

/**
 * Which namespaces are served. The list of namespaces holds for reverse look-ups as well, the
 * selector of namespaces does not: so it is in CoreDNS (plugin/kubernetes/reverse.go).
 */
export type ServedNamespaces = {
  readonly names: readonly string[]
  readonly has: (namespace: string) => boolean
  readonly pointsBack: (namespace: string) => boolean
}

/** A part of a Service's records. */
export type RecordsPart = {
  readonly hasNames: boolean
  /** Whether a cluster IP is to point back. */
  readonly takesAddress: (address: Uint8Array) => boolean
  /** Which of a slice's addresses are to point back, by their places among all of them. */
  readonly placesOf: (slice: EndpointSlice) => ReadonlySet<number>
}

/** Finds the namespaces that are served. */
export function findServed(cluster: Cluster, options: NamingOptions): ServedNamespaces {
  const names = servedNamespaces(cluster, options)
  const served = new Set(names)
  return {
    names,
    has: (namespace) => served.has(namespace),
    pointsBack: (namespace) => options.namespaces.size === 0 || served.has(namespace),
  }
}

/** Makes all names of a cluster's present objects. */
export function clusterRecords(cluster: Cluster, options: NamingOptions): ClusterRecords {
  const served = findServed(cluster, options)
  const keys = new Set(cluster.services.keys())
  for (const slice of cluster.slices.values()) keys.add(sliceServiceKey(slice))
  const warnings: string[] = []
  const entries = [
    ...frameRecords(cluster, options),
    ...served.names.flatMap((namespace) => namespaceRecords(cluster, namespace, options)),
  ]
  for (const key of keys) {
    const named = serviceRecords(cluster, key, { served, options })
    for (const entry of named.entries) entries.push(entry)
    warnings.push(...named.warnings)
  }
  return { entries, warnings }
}

/** Makes the names that belong to no one namespace. */
export function frameRecords(cluster: Cluster, options: NamingOptions): ZoneEntry[] {
  const entries = [...zoneNames(), ...nameserverNames(cluster, options)]
  return entries.filter(fitting(options))
}

/** Makes the name of a served namespace, and those of its Pods. */
export function namespaceRecords(
  cluster: Cluster,
  namespace: string,
  options: NamingOptions,
): ZoneEntry[] {
  const entries = [...namespaceNames(namespace), ...podNames(cluster, namespace, options)]
  return entries.filter(fitting(options))
}

/** Makes the names of a Service and of its endpoints, and where their addresses point back to. */
export function serviceRecords(
  cluster: Cluster,
  key: string,
  {
    served,
    options,
    part,
  }: {
    readonly served: ServedNamespaces
    readonly options: NamingOptions
    readonly part?: RecordsPart
  },
): ClusterRecords {
  const slash = key.indexOf('/')
  const namespace = key.slice(0, slash)
  const name = key.slice(slash + 1)
  const service = cluster.services.get(key)
  const named =
    service === undefined || !served.has(namespace) || part?.hasNames === false
      ? { entries: [], warnings: [] }
      : nameService(cluster, service, options)
  if (!served.pointsBack(namespace)) return named
  const isFitting = fitting(options)
  const entries = [...named.entries]
  if (service !== undefined) {
    for (const pointer of clusterIpPointers(service, options, part?.takesAddress)) {
      if (isFitting(pointer)) entries.push(pointer)
    }
  }
  for (const slice of cluster.slicesOf({ namespace, name })) {
    for (const pointer of endpointPointers(slice, options, part?.placesOf(slice))) {
      if (isFitting(pointer)) entries.push(pointer)
    }
  }
  return { entries, warnings: named.warnings }
}

/** Key of the Service that a slice belongs to, whether or not that exists. */
export function sliceServiceKey({ namespace, serviceName }: EndpointSlice): string {
  return objectKey({ namespace, name: serviceName })
}

function nameService(cluster: Cluster, service: Service, options: NamingOptions): ClusterRecords {
  const slices = cluster.slicesOf(service)
  const names = serviceNames(service, slices, options)
  const entries = names.filter(fitting(options))
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

/** Tells of entries whether their names fit below every origin (RFC 1035 §3.1). */
function fitting({ origins }: NamingOptions): (entry: ZoneEntry) => boolean {
  let longest = 0
  for (const { length } of origins) longest = Math.max(longest, length)
  const room = NAME_BYTES_MAX - longest
  const hasRoom = ({ target }: Rdata): boolean => target === undefined || target.length <= room
  return (entry) => {
    if (entry.kind === 'pointer') return entry.target.length <= room
    if (entry.owner.length > room) return false
    return entry.kind !== 'records' || entry.rdata.every(hasRoom)
  }
}
