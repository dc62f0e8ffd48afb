/**
 * All names of a cluster: each rule is a file of its own, and this is the list of them.
 * @module
 */
import { NAME_BYTES_MAX } from '../dns/limits.ts'
import type { Pointer, Rdata, ZoneEntry } from '../records/zone-entry.ts'
import { type Cluster, objectKey } from './cluster.ts'
import { exportNames, importNames } from './import-names.ts'
import { nameserverNames } from './nameserver-names.ts'
import { findImportProblem, findServiceProblem, findSliceProblem } from './naming-problems.ts'
import { describeObject, type EndpointSlice, type Service, type ServiceImport } from './objects.ts'
import type { NamingOptions } from './options.ts'
import {
  outsideNames,
  outsideNameserver,
  outsideNamespace,
  outsidePointers,
} from './outside-names.ts'
import { podNames } from './pod-names.ts'
import { clusterIpPointers, endpointPointers } from './pointers.ts'
import { servedNamespaces } from './selection.ts'
import { serviceNames } from './service-names.ts'
import { skydnsFrame, standInNames } from './skydns-names.ts'
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

const NOTHING: ClusterRecords = { entries: [], warnings: [] }

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
  const warnings: string[] = []
  const entries = [
    ...frameRecords(cluster, options),
    ...served.names.flatMap((namespace) => namespaceRecords(cluster, namespace, options)),
  ]
  for (const key of serviceKeys(cluster, options)) {
    const named = serviceRecords(cluster, key, { served, options })
    for (const entry of named.entries) entries.push(entry)
    warnings.push(...named.warnings)
  }
  return { entries, warnings }
}

/** Lists the keys of all Services, or ServiceImports, whether or not these exist. */
export function serviceKeys(cluster: Cluster, { tree }: NamingOptions): Set<string> {
  if (tree.kind === 'multicluster') return new Set(cluster.imports.keys())
  if (tree.kind === 'exports') return new Set(cluster.exports.keys())
  const keys = new Set(cluster.services.keys())
  for (const slice of cluster.slices.values()) keys.add(sliceServiceKey(slice))
  return keys
}

/** Makes the names that belong to no one namespace. */
export function frameRecords(cluster: Cluster, options: NamingOptions): ZoneEntry[] {
  const { tree } = options
  const frame = options.scheme === 'openshift3' ? skydnsFrame() : []
  const entries =
    tree.kind === 'external'
      ? outsideNameserver(cluster, { ...options, tree })
      : [...zoneNames(), ...frame, ...nameserverNames(cluster, options)]
  return entries.filter(fitting(options))
}

/** Makes the name of a served namespace, and those of its Pods. */
export function namespaceRecords(
  cluster: Cluster,
  namespace: string,
  options: NamingOptions,
): ZoneEntry[] {
  const frame = options.scheme === 'openshift3' ? skydnsFrame(namespace) : []
  const entries =
    options.tree.kind === 'external'
      ? outsideNamespace(namespace)
      : [...namespaceNames(namespace), ...frame, ...podNames(cluster, namespace, options)]
  return entries.filter(fitting(options))
}

/** What the records of one Service are made with. */
export type ServiceContext = {
  readonly served: ServedNamespaces
  readonly options: NamingOptions
  readonly part?: RecordsPart
}

/** Makes the names of a Service and of its endpoints, and where their addresses point back to. */
export function serviceRecords(
  cluster: Cluster,
  key: string,
  context: ServiceContext,
): ClusterRecords {
  const { served, options, part } = context
  const slash = key.indexOf('/')
  const namespace = key.slice(0, slash)
  const named =
    !served.has(namespace) || part?.hasNames === false
      ? NOTHING
      : nameService(cluster, key, options)
  if (!served.pointsBack(namespace)) return named
  const pointers = servicePointers(cluster, { namespace, name: key.slice(slash + 1) }, context)
  const entries = [...named.entries, ...pointers.filter(fitting(options))]
  return { entries, warnings: named.warnings }
}

function servicePointers(
  cluster: Cluster,
  place: { readonly namespace: string; readonly name: string },
  { options, part }: ServiceContext,
): Pointer[] {
  const { tree } = options
  const service = cluster.services.get(objectKey(place))
  switch (tree.kind) {
    case 'external':
      return service === undefined ? [] : outsidePointers(service, tree, part?.takesAddress)
    case 'multicluster':
    case 'exports':
    case 'hosts':
      return []
    case 'cluster': {
      const own = service && clusterIpPointers(service, options, part?.takesAddress)
      // SkyDNS knows no way back from endpoints.
      const slices = options.scheme === 'openshift3' ? [] : cluster.slicesOf(place)
      const others = slices.map((slice) => endpointPointers(slice, options, part?.placesOf(slice)))
      return [...(own ?? []), ...others.flat()]
    }
  }
}

/** Key of the Service that a slice belongs to, whether or not that exists. */
export function sliceServiceKey({ namespace, serviceName }: EndpointSlice): string {
  return objectKey({ namespace, name: serviceName })
}

function nameService(cluster: Cluster, key: string, options: NamingOptions): ClusterRecords {
  const { tree } = options
  if (tree.kind === 'multicluster') {
    const imported = cluster.imports.get(key)
    if (imported === undefined) return NOTHING
    const slices = cluster.importSlicesOf(imported)
    return fittingRecords(imported, importNames(imported, slices, options), { slices, options })
  }
  const service = cluster.services.get(key)
  if (service === undefined || (tree.kind === 'exports' && !cluster.exports.has(key)))
    return NOTHING
  const slices = cluster.slicesOf(service)
  if (tree.kind === 'exports') {
    const names = exportNames(service, slices, { ...options, tree })
    return fittingRecords(service, names, { slices, options })
  }
  const names =
    tree.kind === 'external'
      ? outsideNames(service, slices, { ...options, tree })
      : serviceNames(service, slices, options)
  const others =
    options.scheme === 'openshift3' && tree.kind === 'cluster'
      ? standInNames(cluster, service, options)
      : []
  return fittingRecords(service, [...names, ...others], { slices, options })
}

function fittingRecords(
  named: Service | ServiceImport,
  names: readonly ZoneEntry[],
  { slices, options }: { slices: readonly EndpointSlice[]; options: NamingOptions },
): ClusterRecords {
  const entries = names.filter(fitting(options))
  const problem = named.kind === 'Service' ? findServiceProblem(named) : findImportProblem(named)
  const problems = [
    [named, problem] as const,
    ...slices.map((slice) => [slice, findSliceProblem(slice, options.usesPodNames)] as const),
    [named, names.length === entries.length ? undefined : 'names over 255 octets'] as const,
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
    if (entry.kind === 'pod-address') return true
    if (entry.owner.length > room) return false
    return entry.kind !== 'records' || entry.rdata.every(hasRoom)
  }
}
