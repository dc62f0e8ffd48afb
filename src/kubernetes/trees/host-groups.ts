/**
 * Hostnames of objects, each a group of its own. If objects of several namespaces claim the same
 * hostname, the one that wins is decided here, not at query time: the first kind in the order of
 * the resources and, within a kind, the oldest object. Tracks the names that a change affects.
 * @module
 */
import { CLAIMS_MAX } from '../../records/host-claims.ts'
import type { RRset, ZoneEntry } from '../../records/zone-entry.ts'
import { Cluster, objectKey } from '../objects/cluster.ts'
import {
  type ClusterObject,
  describeObject,
  type EndpointSlice,
  type Gateway,
  type Kind,
  type Service,
} from '../objects/objects.ts'
import type { HostsTree } from '../objects/options.ts'
import {
  absoluteNames,
  hostRecords,
  isTarget,
  type Naming,
  nameProblems,
  saidNames,
  serviceTargets,
  type Targets,
} from '../rules/host-names.ts'

/** An object with a hostname, and its targets, of which there are some. */
type Claim = Targets & { readonly object: Naming }

/** The present objects with hostnames, and their targets. */
export class HostGroups {
  private readonly tree: HostsTree
  /** Objects by their kind and key. */
  private readonly objects = new Map<string, Naming>()
  private readonly gateways = new Map<string, Gateway>()
  /** Slices, by the Services that they belong to. */
  private readonly slices = new Cluster()
  /** The objects with a hostname, and the routes of a Gateway. */
  private readonly sayers = new Index()
  private readonly routes = new Index()
  private readonly problems = new Map<string, readonly string[]>()
  private readonly changed = new Set<string>()
  private isAllChanged = true

  constructor(tree: HostsTree) {
    this.tree = tree
  }

  /** Adds or replaces an object. Ignores other kinds. */
  set(object: ClusterObject): void {
    const { kind, namespace, name } = object
    this.delete(kind, namespace, name)
    switch (object.kind) {
      case 'Namespace':
      case 'Pod':
      case 'ServiceImport':
      case 'ServiceExport':
        return
      case 'EndpointSlice':
        this.slices.set(object)
        this.markService(object)
        return
      case 'Gateway':
        this.gateways.set(objectKey(object), object)
        this.markRoutes(objectKey(object))
        return
      default:
        this.add(object)
    }
  }

  /** Removes an object, if it exists. */
  delete(kind: Kind, namespace: string, name: string): void {
    const key = objectKey({ namespace, name })
    if (kind === 'EndpointSlice') {
      this.markService(this.slices.slices.get(key))
      this.slices.delete(kind, namespace, name)
    } else if (kind === 'Gateway') {
      if (this.gateways.delete(key)) this.markRoutes(key)
    } else this.remove(`${kind} ${key}`)
  }

  /** Returns the names that changed since the last call. */
  takeChanged(): readonly string[] {
    const changed = this.isAllChanged ? [...this.sayers.keys()] : [...this.changed]
    this.isAllChanged = false
    this.changed.clear()
    return changed
  }

  /** Marks all names as changed. */
  markAll(): void {
    this.isAllChanged = true
  }

  /**
   * Returns a hostname's present records, of each namespace with a claim to it. Objects of one kind
   * in one namespace share the name, as in k8s_gateway.
   */
  entriesOf(name: string): readonly ZoneEntry[] {
    const claims = Map.groupBy(this.claimsOf(name), ({ object }) => object.namespace)
    return [...claims].slice(0, CLAIMS_MAX).flatMap(([namespace, own], rank) => {
      const same = own.filter(({ object }) => object.kind === own[0]?.object.kind)
      const hosts = same.flatMap((claim) => claim.hosts)
      const texts = same.flatMap((claim) => claim.texts)
      const objects = own.map(({ object }) => describeObject(object))
      return hostRecords(name, { hosts, texts, namespace, rank, objects }, this.tree.ttlSeconds)
    })
  }

  /** Returns the claims to a hostname that have targets, the one that wins first. */
  private claimsOf(name: string): Claim[] {
    const { resources } = this.tree
    const claims = this.sayers.of(name).flatMap((id): Claim[] => {
      const object = this.objects.get(id)
      if (object === undefined || !resources.includes(object.kind)) return []
      const said = this.targetsOf(object, name)
      const hosts = said.flatMap((targets) => targets.hosts).filter(isTarget)
      const texts = said.flatMap((targets) => targets.texts)
      return hosts.length + texts.length === 0 ? [] : [{ object, hosts, texts }]
    })
    const rankOf = ({ object }: Claim): number => resources.indexOf(object.kind)
    // Sorting is stable: what is as old stays in the order of the identifiers.
    return claims.sort((a, b) => rankOf(a) - rankOf(b) || createdMs(a) - createdMs(b))
  }

  /** Returns nothing: these zones are not transferred, as in k8s_gateway. */
  transferRecords(): Iterable<RRset> {
    return []
  }

  /** Returns nothing: hostnames do not belong to Pods. */
  podAt(_client: string): undefined {
    return undefined
  }

  /** Finds the slice of the same name. */
  sliceLike(slice: EndpointSlice): EndpointSlice | undefined {
    return this.slices.slices.get(objectKey(slice))
  }

  /** Finds the Service that a slice belongs to. */
  serviceOf(slice: EndpointSlice): Service | undefined {
    const object = this.objects.get(serviceId(slice))
    return object?.kind === 'Service' ? object : undefined
  }

  /** Returns a line for each hostname that is invalid. */
  warnings(): string[] {
    return [...this.problems.values()].flat()
  }

  private targetsOf(object: Naming, name: string): Targets[] {
    if (object.kind === 'Service') {
      return [serviceTargets(object, this.slices.slicesOf(object))]
    }
    const { zones, nodeAddressType } = this.tree
    if (object.kind === 'Node') {
      const isInternal = nodeAddressType === 'InternalIP'
      return [{ hosts: isInternal ? object.internalIPs : object.externalIPs, texts: [] }]
    }
    const gateways = object.gateways.flatMap((key) => this.gateways.get(key)?.targets ?? [])
    return object.hosts
      .filter((host) => absoluteNames(host.name, zones).has(name))
      .map(({ targets, texts }) => ({ hosts: [...targets, ...gateways], texts }))
  }

  private add(object: Naming): void {
    const id = `${object.kind} ${objectKey(object)}`
    this.objects.set(id, object)
    const problems = nameProblems(object)
    if (problems.length > 0) this.problems.set(id, problems)
    for (const name of this.namesOf(object)) this.sayers.add(name, id)
    for (const gateway of gatewaysOf(object)) this.routes.add(gateway, id)
    this.mark(object)
  }

  private remove(id: string): void {
    const object = this.objects.get(id)
    if (object === undefined) return
    this.mark(object)
    for (const name of this.namesOf(object)) this.sayers.delete(name, id)
    for (const gateway of gatewaysOf(object)) this.routes.delete(gateway, id)
    this.objects.delete(id)
    this.problems.delete(id)
  }

  private namesOf(object: Naming): string[] {
    return saidNames(object).flatMap((said) => [...absoluteNames(said, this.tree.zones)])
  }

  private mark(object: Naming): void {
    for (const name of this.namesOf(object)) this.changed.add(name)
  }

  private markRoutes(gateway: string): void {
    for (const id of this.routes.of(gateway)) {
      const route = this.objects.get(id)
      if (route !== undefined) this.mark(route)
    }
  }

  private markService(slice: EndpointSlice | undefined): void {
    const service = slice && this.serviceOf(slice)
    if (service?.outside?.resolvesEndpoints === true) this.mark(service)
  }
}

function serviceId({ namespace, serviceName }: EndpointSlice): string {
  return `Service ${objectKey({ namespace, name: serviceName })}`
}

function gatewaysOf(object: Naming): readonly string[] {
  return object.kind === 'Service' || object.kind === 'Node' ? [] : object.gateways
}

function createdMs({ object }: Claim): number {
  return (object.kind === 'Service' ? object.outside?.createdMs : object.createdMs) ?? 0
}

/** Identifiers by their owner. */
class Index {
  private readonly byKey = new Map<string, Set<string>>()

  keys(): Iterable<string> {
    return this.byKey.keys()
  }

  add(key: string, id: string): void {
    const ids = this.byKey.get(key) ?? new Set<string>()
    ids.add(id)
    this.byKey.set(key, ids)
  }

  delete(key: string, id: string): void {
    const ids = this.byKey.get(key)
    ids?.delete(id)
    if (ids?.size === 0) this.byKey.delete(key)
  }

  /** Returns them sorted, so that the same objects give the same entries. */
  of(key: string): string[] {
    return [...(this.byKey.get(key) ?? [])].sort()
  }
}
