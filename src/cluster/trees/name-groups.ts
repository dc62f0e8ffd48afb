/**
 * The names of a cluster in groups that change together: one for each Service, one for each
 * namespace with its Pods, and one for the zone-level names. Tracks the groups that a change
 * affects.
 * @module
 */

import { word } from '../../dns/bytes/bytes.ts'
import { parseAddress } from '../../dns/names/address.ts'
import { labelOffsets } from '../../dns/names/name.ts'
import { isByAddress, type RRset, type ZoneEntry } from '../../snapshot/records/zone-entry.ts'
import { Cluster, objectKey } from '../objects/cluster.ts'
import type { ClusterObject, EndpointSlice, Kind, Pod, Service } from '../objects/objects.ts'
import type { NamingOptions } from '../objects/options.ts'
import type { Endpoint } from '../objects/packed-endpoints.ts'
import { findServed, type ServedNamespaces } from '../objects/selection.ts'
import { standInOf } from '../rules/skydns-names.ts'
import { transferRecords } from '../rules/transfer-records.ts'
import { namespaceRecords, serviceKeys, sliceServiceKey, zoneRecords } from './cluster-records.ts'
import type { RecordVerdict } from './record-verdicts.ts'
import { serviceRecords } from './service-records.ts'

/** The part of a group that is needed. Each address has a unit, always the same. */
export type GroupPart = {
  readonly hasNames: boolean
  readonly unitOf: (address: Uint8Array) => number
  readonly takesUnit: (unit: number) => boolean
}

const NO_PLACES: ReadonlySet<number> = new Set()

/** Names of groups: these, followed by the key of a Service or a namespace. */
const ZONE = 'zone'
const SERVICE = 'service '
const NAMESPACE = 'namespace '

/** A cluster's objects and the groups of their names. */
export class NameGroups {
  private readonly cluster = new Cluster()
  private readonly options: NamingOptions
  private readonly localAddresses: ReadonlySet<string>
  private readonly changed = new Set<string>()
  private readonly warningsByGroup = new Map<string, readonly string[]>()
  private served: ServedNamespaces | undefined
  /** Slices are immutable, so the units of one stay the same. */
  private readonly units = new WeakMap<EndpointSlice, Int32Array>()
  private isAllChanged = true

  constructor(options: NamingOptions) {
    this.options = options
    const local = options.localAddresses.filter((text) => parseAddress(text) !== undefined)
    this.localAddresses = new Set(local)
  }

  /** Adds or replaces an object. */
  set(object: ClusterObject): void {
    // Of a Namespace, only its existence matters.
    if (object.kind === 'Namespace' && this.cluster.namespaces.has(object.name)) return
    const { kind, namespace, name } = object
    this.mark(kind, namespace, name)
    this.cluster.set(object)
    this.mark(kind, namespace, name)
  }

  /** Removes an object, if it exists. */
  delete(kind: Kind, namespace: string, name: string): void {
    this.mark(kind, namespace, name)
    this.cluster.delete(kind, namespace, name)
  }

  /** Returns the groups that changed since the last call. */
  takeChanged(): readonly string[] {
    const changed = this.isAllChanged ? this.allGroups() : [...this.changed]
    this.isAllChanged = false
    this.changed.clear()
    return changed
  }

  /** Marks all groups as changed. */
  markAll(): void {
    this.isAllChanged = true
  }

  /** Returns the present entries of a group; with a part, at least the entries of this part. */
  entriesOf(group: string, part?: GroupPart): readonly ZoneEntry[] {
    const { cluster, options } = this
    this.served ??= findServed(cluster, options)
    const { served } = this
    if (group === ZONE) return withNamesAbove(zoneRecords(cluster, options))
    if (group.startsWith(NAMESPACE)) {
      const namespace = group.slice(NAMESPACE.length)
      return served.has(namespace) ? namespaceRecords(cluster, namespace, options) : []
    }
    const key = group.slice(SERVICE.length)
    if (part !== undefined) {
      const { hasNames, unitOf, takesUnit } = part
      const placesOf = (slice: EndpointSlice): ReadonlySet<number> => {
        const units = this.unitsOf(slice, part)
        let places: Set<number> | undefined
        for (let place = 0; place < units.length; place++) {
          if (!takesUnit(word(units, place))) continue
          places ??= new Set()
          places.add(place)
        }
        return places ?? NO_PLACES
      }
      const takesAddress = (address: Uint8Array): boolean => takesUnit(unitOf(address))
      const wanted = { hasNames, takesAddress, placesOf }
      return serviceRecords(cluster, key, { served, options, part: wanted }).entries
    }
    const named = serviceRecords(cluster, key, { served, options })
    if (named.warnings.length === 0) this.warningsByGroup.delete(group)
    else this.warningsByGroup.set(group, named.warnings)
    return named.entries
  }

  /** Returns the records of a zone transfer. */
  transferRecords(): Iterable<RRset> {
    return transferRecords(this.cluster, this.options)
  }

  /** Finds the Pod that runs at a client's address, with `pods verified`. */
  podAt(client: string): Pod | undefined {
    return this.options.pods === 'verified' ? this.cluster.podAt(client) : undefined
  }

  /** Returns a Service and all endpoints of its slices; `null` if it does not exist. */
  serviceState(
    namespace: string,
    name: string,
  ): { readonly service: Service; readonly endpoints: readonly Endpoint[] } | null {
    const service = this.cluster.services.get(objectKey({ namespace, name }))
    if (service === undefined) return null
    const slices = this.cluster.slicesOf(service)
    return { service, endpoints: slices.flatMap(({ endpoints }) => endpoints.unpack()) }
  }

  /** Finds the slice of the same name. */
  sliceLike(slice: EndpointSlice): EndpointSlice | undefined {
    return this.cluster.slices.get(objectKey(slice))
  }

  /** Finds the Service that a slice belongs to. */
  serviceOf(slice: EndpointSlice): Service | undefined {
    return this.cluster.services.get(sliceServiceKey(slice))
  }

  /** The hostnames with several owners: names of Services have one. */
  readonly conflicts: readonly [] = []

  /** Returns nothing: DNSRecords give no names of Services. */
  verdicts(): readonly RecordVerdict[] {
    return []
  }

  /** Returns a line for each object that DNS cannot name, of groups that were built. */
  warnings(): string[] {
    return [...this.warningsByGroup.values()].flat()
  }

  /** Returns the units of a slice's addresses, in order; 0 for one that is invalid. */
  private unitsOf(slice: EndpointSlice, { unitOf }: GroupPart): Int32Array {
    const known = this.units.get(slice)
    if (known !== undefined) return known
    const units = Int32Array.from(slice.endpoints.hosts, (host) => {
      const address = parseAddress(host)
      return address === undefined ? 0 : unitOf(address)
    })
    this.units.set(slice, units)
    return units
  }

  private allGroups(): string[] {
    const namespaces = Array.from(this.cluster.namespaces.keys(), (name) => NAMESPACE + name)
    const keys = serviceKeys(this.cluster, this.options)
    return [ZONE, ...namespaces, ...Array.from(keys, (key) => SERVICE + key)]
  }

  /** Marks the groups that an object, as it is now, affects; initially all are marked. */
  private mark(kind: Kind, namespace: string, name: string): void {
    if (kind === 'Namespace') this.served = undefined
    if (this.isAllChanged) return
    const key = objectKey({ namespace, name })
    switch (kind) {
      case 'Namespace':
        this.markNamespace(name)
        return
      case 'Service':
        this.changed.add(SERVICE + key)
        if (this.options.scheme === 'openshift3')
          this.changed.add(SERVICE + (standInOf(key) ?? key))
        // Its endpoints may have the server's own addresses.
        if (this.localAddresses.size > 0) this.changed.add(ZONE)
        return
      case 'EndpointSlice':
        this.markSlice(this.cluster.slices.get(key))
        return
      case 'Pod':
        this.changed.add(NAMESPACE + namespace)
        return
      case 'ServiceImport':
      case 'ServiceExport':
        this.changed.add(SERVICE + key)
        return
      default:
        return
    }
  }

  private markSlice(slice: EndpointSlice | undefined): void {
    if (slice === undefined) return
    this.changed.add(SERVICE + this.keyOfSlice(slice))
    if (slice.endpoints.hasOneOf(this.localAddresses)) this.changed.add(ZONE)
  }

  private markNamespace(name: string): void {
    this.changed.add(NAMESPACE + name)
    const { services, slices, imports } = this.cluster
    for (const service of services.values()) {
      if (service.namespace === name) this.changed.add(SERVICE + objectKey(service))
    }
    for (const imported of imports.values()) {
      if (imported.namespace === name) this.changed.add(SERVICE + objectKey(imported))
    }
    for (const slice of slices.values()) {
      if (slice.namespace === name) this.changed.add(SERVICE + this.keyOfSlice(slice))
    }
  }

  private keyOfSlice(slice: EndpointSlice): string {
    if (this.options.tree.kind !== 'multicluster') return sliceServiceKey(slice)
    return objectKey({ namespace: slice.namespace, name: slice.importName })
  }
}

/** Adds the names above zone-level names, such as `dns` above `ns.dns`. */
function withNamesAbove(entries: readonly ZoneEntry[]): ZoneEntry[] {
  return entries.flatMap((entry): ZoneEntry[] => {
    if (isByAddress(entry)) return [entry]
    const { owner, namespace } = entry
    const above = labelOffsets(owner).slice(1)
    return [
      entry,
      ...above.map((at): ZoneEntry => {
        return { kind: 'name', owner: owner.slice(at), namespace, isImplied: true }
      }),
    ]
  })
}
