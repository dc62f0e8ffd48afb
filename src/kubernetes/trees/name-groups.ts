/**
 * The names of a cluster in groups that change together: one for each Service, one for each
 * namespace and its Pods, and one for what frames them. Tells which groups a change concerns.
 * @module
 */

import { word } from '../../bytes/bytes.ts'
import { parseAddress } from '../../dns/address.ts'
import { labelOffsets } from '../../dns/name.ts'
import { isByAddress, type RRset, type ZoneEntry } from '../../records/zone-entry.ts'
import { Cluster, objectKey } from '../objects/cluster.ts'
import type { ClusterObject, EndpointSlice, Kind, Pod, Service } from '../objects/objects.ts'
import type { NamingOptions } from '../objects/options.ts'
import { findServed, type ServedNamespaces } from '../objects/selection.ts'
import { standInOf } from '../rules/skydns-names.ts'
import { transferRecords } from '../rules/transfer-records.ts'
import { frameRecords, namespaceRecords, serviceKeys, sliceServiceKey } from './cluster-records.ts'
import { serviceRecords } from './service-records.ts'

/** The part of a group that is wanted. Addresses are told apart by a unit, always the same. */
export type GroupPart = {
  readonly hasNames: boolean
  readonly unitOf: (address: Uint8Array) => number
  readonly takesUnit: (unit: number) => boolean
}

const NO_PLACES: ReadonlySet<number> = new Set()

/** Groups are called by these and the key of a Service, or a namespace. */
const FRAME = 'frame'
const SERVICE = 'service '
const NAMESPACE = 'namespace '

/** A cluster's objects, and the groups of names that they amount to. */
export class NameGroups {
  private readonly cluster = new Cluster()
  private readonly options: NamingOptions
  private readonly localAddresses: ReadonlySet<string>
  private readonly changed = new Set<string>()
  private readonly warningsByGroup = new Map<string, readonly string[]>()
  private served: ServedNamespaces | undefined
  /** Slices are never changed, only replaced. */
  private readonly units = new WeakMap<EndpointSlice, Int32Array>()
  private isAllChanged = true

  constructor(options: NamingOptions) {
    this.options = options
    const local = options.localAddresses.filter((text) => parseAddress(text) !== undefined)
    this.localAddresses = new Set(local)
  }

  /** Adds an object or puts it in place of its former self. */
  set(object: ClusterObject): void {
    // Nothing of a Namespace matters but that it is there.
    if (object.kind === 'Namespace' && this.cluster.namespaces.has(object.name)) return
    const { kind, namespace, name } = object
    this.mark(kind, namespace, name)
    this.cluster.set(object)
    this.mark(kind, namespace, name)
  }

  /** Removes an object, if it is there. */
  delete(kind: Kind, namespace: string, name: string): void {
    this.mark(kind, namespace, name)
    this.cluster.delete(kind, namespace, name)
  }

  /** The groups that changed since the last time. */
  takeChanged(): readonly string[] {
    const changed = this.isAllChanged ? this.allGroups() : [...this.changed]
    this.isAllChanged = false
    this.changed.clear()
    return changed
  }

  /** Takes all groups for changed. */
  markAll(): void {
    this.isAllChanged = true
  }

  /** Makes the present entries of a group; beside a part that is wanted, others may come along. */
  entriesOf(group: string, part?: GroupPart): readonly ZoneEntry[] {
    const { cluster, options } = this
    this.served ??= findServed(cluster, options)
    const { served } = this
    if (group === FRAME) return withNamesAbove(frameRecords(cluster, options))
    if (group.startsWith(NAMESPACE)) {
      const namespace = group.slice(NAMESPACE.length)
      return served.has(namespace) ? namespaceRecords(cluster, namespace, options) : []
    }
    const key = group.slice(SERVICE.length)
    if (part !== undefined) {
      const { hasNames, unitOf, takesUnit } = part
      const placesOf = (slice: EndpointSlice): ReadonlySet<number> => {
        const units = this.unitsOf(slice, part)
        let places = NO_PLACES
        for (let place = 0; place < units.length; place++) {
          if (takesUnit(word(units, place))) places = new Set([...places, place])
        }
        return places
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

  /** Makes what a transfer of the zone has. */
  transferRecords(): Iterable<RRset> {
    return transferRecords(this.cluster, this.options)
  }

  /** Finds the Pod that runs at a client's address, where names of Pods are those of Pods. */
  podAt(client: string): Pod | undefined {
    return this.options.pods === 'verified' ? this.cluster.podAt(client) : undefined
  }

  /** Finds the slice that is here of that name. */
  sliceLike(slice: EndpointSlice): EndpointSlice | undefined {
    return this.cluster.slices.get(objectKey(slice))
  }

  /** Finds the Service that a slice belongs to. */
  serviceOf(slice: EndpointSlice): Service | undefined {
    return this.cluster.services.get(sliceServiceKey(slice))
  }

  /** What could not be named, as far as entries were made. */
  warnings(): string[] {
    return [...this.warningsByGroup.values()].flat()
  }

  /** The units of a slice's addresses, one after the other; 0 for what is none. */
  private unitsOf(slice: EndpointSlice, { unitOf }: GroupPart): Int32Array {
    const known = this.units.get(slice)
    if (known !== undefined) return known
    const addresses = slice.endpoints.flatMap((endpoint) => endpoint.addresses.map(parseAddress))
    const units = Int32Array.from(addresses, (address) =>
      address === undefined ? 0 : unitOf(address),
    )
    this.units.set(slice, units)
    return units
  }

  private allGroups(): string[] {
    const { namespaces } = this.cluster
    return [
      FRAME,
      ...Array.from(namespaces.keys(), (namespace) => NAMESPACE + namespace),
      ...Array.from(serviceKeys(this.cluster, this.options), (key) => SERVICE + key),
    ]
  }

  /** Marks the groups that an object, as it is now, has a part in; all of them are at first. */
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
        // It may be one behind the server's own addresses.
        if (this.localAddresses.size > 0) this.changed.add(FRAME)
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
    if (this.localAddresses.size === 0) return
    const isLocal = slice.endpoints.some(({ addresses }) =>
      addresses.some((address) => this.localAddresses.has(address)),
    )
    if (isLocal) this.changed.add(FRAME)
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

/** The frame holds up what it has no other part in, such as `dns` above `ns.dns`. */
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
