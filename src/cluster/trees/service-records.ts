/**
 * The entries of one Service: its names by the rules of the tree, its pointers, and warnings.
 * @module
 */
import type { Pointer, ZoneEntry } from '../../snapshot/records/zone-entry.ts'
import { type Cluster, objectKey } from '../objects/cluster.ts'
import {
  type ClusterObject,
  describeObject,
  type EndpointSlice,
  type Service,
  type ServiceImport,
} from '../objects/objects.ts'
import type { NamingOptions } from '../objects/options.ts'
import type { ServedNamespaces } from '../objects/selection.ts'
import { externalNames, externalPointers } from '../rules/external-names.ts'
import { exportNames, importNames } from '../rules/import-names.ts'
import {
  type NamedService,
  type NamedSlice,
  nameEndpoints,
  nameSlice,
} from '../rules/named-slices.ts'
import {
  findImportProblem,
  findPairsProblem,
  findPortProblem,
  findServiceProblem,
  findSliceProblem,
  keepFitting,
} from '../rules/naming-problems.ts'
import { clusterIpPointers, endpointPointers } from '../rules/pointers.ts'
import { serviceNames } from '../rules/service-names.ts'
import { standInNames } from '../rules/skydns-names.ts'

/** Entries of some objects. */
export type NamedRecords = {
  readonly entries: readonly ZoneEntry[]
  /** Objects that DNS cannot name, or only in part, one line each. */
  readonly warnings: readonly string[]
}

/** A part of a Service's records. */
export type RecordsPart = {
  readonly hasNames: boolean
  /** Returns whether the pointer of a cluster IP is needed. */
  readonly takesAddress: (address: Uint8Array) => boolean
  /** Returns the indexes of a slice's addresses whose pointers are needed. */
  readonly placesOf: (slice: EndpointSlice) => ReadonlySet<number>
}

const NOTHING: NamedRecords = { entries: [], warnings: [] }

/** The input for the records of one Service. */
export type ServiceContext = {
  readonly served: ServedNamespaces
  readonly options: NamingOptions
  readonly part?: RecordsPart
}

/** Returns the names of a Service and of its endpoints, and the pointers of their addresses. */
export function serviceRecords(
  cluster: Cluster,
  key: string,
  context: ServiceContext,
): NamedRecords {
  const { served, options, part } = context
  const slash = key.indexOf('/')
  const place = { namespace: key.slice(0, slash), name: key.slice(slash + 1) }
  const hasNames = served.has(place.namespace) && part?.hasNames !== false
  const hasOwn = options.tree.kind === 'cluster' && (hasNames || part === undefined)
  const named = nameEndpoints(hasOwn ? cluster.slicesOf(place) : [], place, options)
  const { entries, warnings } = hasNames ? nameService(cluster, place, { named, options }) : NOTHING
  if (!served.pointsBack(place.namespace)) return { entries, warnings }
  const pointers = servicePointers(cluster, place, { named, options, part })
  return { entries: joinEntries(entries, keepFitting(pointers, options)), warnings }
}

/** Namespace and name of a Service. */
type ServicePlace = { readonly namespace: string; readonly name: string }

/** The objects of one Service. */
type ServiceSources = {
  readonly named: NamedService
  readonly options: NamingOptions
  readonly part?: RecordsPart | undefined
}

function servicePointers(
  cluster: Cluster,
  place: ServicePlace,
  { named, options, part }: ServiceSources,
): readonly Pointer[] {
  const { tree } = options
  const service = cluster.services.get(objectKey(place))
  switch (tree.kind) {
    case 'external':
      return service === undefined ? [] : externalPointers(service, tree, part?.takesAddress)
    case 'multicluster':
    case 'exports':
    case 'hosts':
      return []
    case 'cluster': {
      const { owner } = named
      if (owner === undefined) return []
      const own = service && clusterIpPointers(service, owner, options, part?.takesAddress)
      // SkyDNS has no pointers of endpoints.
      const hasOthers = options.hasEndpoints && options.scheme !== 'openshift3'
      if (!hasOthers) return own ?? []
      const wanted =
        part === undefined
          ? named.slices
          : namePart(cluster.slicesOf(place), owner, { options, part })
      const others = wanted.map((slice) => endpointPointers(slice, options))
      return [...(own ?? []), ...others.flat()]
    }
  }
}

/** Names the needed addresses; most slices have none. */
function namePart(
  slices: readonly EndpointSlice[],
  owner: Uint8Array,
  { options, part }: { readonly options: NamingOptions; readonly part: RecordsPart },
): NamedSlice[] {
  return slices.flatMap((slice) => {
    const places = part.placesOf(slice)
    return places.size === 0 ? [] : [nameSlice(slice, owner, options.usesPodNames, places)]
  })
}

function nameService(
  cluster: Cluster,
  place: ServicePlace,
  { named, options }: ServiceSources,
): NamedRecords {
  const { tree, usesPodNames } = options
  const key = objectKey(place)
  const problemsOf = (slices: readonly EndpointSlice[]): readonly Problem[] =>
    slices.map((slice) => [slice, findSliceProblem(slice, usesPodNames)])
  if (tree.kind === 'multicluster') {
    const imported = cluster.imports.get(key)
    if (imported === undefined) return NOTHING
    const slices = cluster.importSlicesOf(imported)
    const names = importNames(imported, slices, options)
    return fittingRecords(imported, names, { problems: problemsOf(slices), options })
  }
  const service = cluster.services.get(key)
  if (service === undefined || (tree.kind === 'exports' && !cluster.exports.has(key)))
    return NOTHING
  if (tree.kind === 'cluster') {
    const names = serviceNames(service, named, options)
    const others = options.scheme === 'openshift3' ? standInNames(cluster, service, options) : []
    const problems = named.slices.map(({ slice, isWhole, addresses }): Problem => {
      const problem = isWhole ? findPortProblem(slice.ports) : findSliceProblem(slice, usesPodNames)
      return [slice, problem ?? findPairsProblem(slice.ports, addresses.length)]
    })
    return fittingRecords(service, joinEntries(names, others), { problems, options })
  }
  const slices = cluster.slicesOf(service)
  const names =
    tree.kind === 'exports'
      ? exportNames(service, slices, { ...options, tree })
      : tree.kind === 'external'
        ? externalNames(service, slices, { ...options, tree })
        : []
  return fittingRecords(service, names, { problems: problemsOf(slices), options })
}

/** An object and its problem. */
type Problem = readonly [ClusterObject, string | undefined]

function fittingRecords(
  named: Service | ServiceImport,
  names: readonly ZoneEntry[],
  { problems, options }: { problems: readonly Problem[]; options: NamingOptions },
): NamedRecords {
  const entries = keepFitting(names, options)
  const problem = named.kind === 'Service' ? findServiceProblem(named) : findImportProblem(named)
  const own: Problem[] = [
    [named, problem],
    ...problems,
    [named, names.length === entries.length ? undefined : 'names over 255 bytes'],
  ]
  const warnings: string[] = []
  for (const [object, problem] of own) {
    if (problem !== undefined) warnings.push(`${describeObject(object)}: ${problem}`)
  }
  return { entries, warnings }
}

function joinEntries(
  some: readonly ZoneEntry[],
  others: readonly ZoneEntry[],
): readonly ZoneEntry[] {
  if (others.length === 0) return some
  return some.length === 0 ? others : [...some, ...others]
}
