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
  type Host,
  type HostObject,
  type Kind,
  type Node,
  type Service,
} from '../objects/objects.ts'
import type { HostsTree } from '../objects/options.ts'
import { isRouter, mayHaveNames } from '../objects/selection.ts'
import { recordRefusal, routerRefusal } from '../rules/dns-records.ts'
import {
  hostProblems,
  hostRecords,
  isPublishable,
  isTarget,
  isWithin,
  namesOfHost,
  type Targets,
} from '../rules/host-names.ts'
import {
  gatewayTargets,
  type HostContext,
  hostsOf,
  type Naming,
  objectProblems,
} from '../rules/object-hosts.ts'
import { type Claim, createdMs, isEmpty, joinTargets, sharing } from './claims.ts'
import { ClusterIPs } from './cluster-ips.ts'
import { CnameLoops } from './cname-loops.ts'
import { describeConflict, type HostConflict } from './host-conflicts.ts'
import { KeyIndex } from './key-index.ts'
import { type RecordVerdict, RecordVerdicts } from './record-verdicts.ts'

/** The present objects with hostnames, and their targets. */
export class HostGroups {
  private readonly tree: HostsTree
  /** Objects by their kind and key. */
  private readonly objects = new Map<string, Naming>()
  private readonly gateways = new Map<string, HostObject>()
  /** Slices, by the Services that they belong to. */
  private readonly slices = new Cluster()
  /** The objects with a hostname, and the routes of a Gateway. */
  private readonly sayers = new KeyIndex()
  private readonly routes = new KeyIndex()
  /** Nodes, and the Services that point to them. */
  private readonly nodes = new Map<string, Node>()
  private readonly nodeServices = new Set<string>()
  private readonly context: HostContext
  /** The context of names, which depend on no other object but listeners of Gateways. */
  private readonly namesContext: HostContext
  private readonly problems = new Map<string, readonly string[]>()
  /** By hostname. */
  private readonly conflicting = new Map<string, HostConflict>()
  private readonly records = new RecordVerdicts()
  private readonly loops = new CnameLoops()
  /** Objects with a hostname outside of the zones. */
  private readonly outside = new Set<string>()
  private readonly inside: ClusterIPs | undefined
  private readonly changed = new Set<string>()
  /** What `hostsByName` returned since the last change. */
  private readonly hosts = new Map<Naming, ReadonlyMap<string, readonly Host[]>>()
  private isAllChanged = true

  constructor(tree: HostsTree) {
    this.tree = tree
    if (tree.hasClusterIPs) this.inside = new ClusterIPs()
    this.context = {
      tree,
      slicesOf: (service) => this.slices.slicesOf(service),
      gatewayOf: (key) => this.gateways.get(key),
      serviceOf: (key) => this.serviceAt(`Service ${key}`),
      nodes: () => this.nodes.values(),
    }
    const { gatewayOf } = this.context
    const none = (): [] => []
    const others = { slicesOf: none, nodes: none, gatewayOf, serviceOf: () => undefined }
    this.namesContext = { tree, ...others, isNamesOnly: true }
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
        this.changeGateway(objectKey(object), object)
        if (mayHaveNames(object, this.tree)) this.add(object)
        return
      case 'Service':
        this.markUsers(this.inside?.change(idOf(object), object))
        if (isRouter(object, this.tree) || mayHaveNames(object, this.tree)) this.add(object)
        return
      default:
        this.add(object)
    }
  }

  /** Removes an object, if it exists. */
  delete(kind: Kind, namespace: string, name: string): void {
    const key = objectKey({ namespace, name })
    this.hosts.clear()
    if (kind === 'EndpointSlice') {
      this.markService(this.slices.slices.get(key))
      this.slices.delete(kind, namespace, name)
    } else if (kind === 'Gateway') {
      if (this.gateways.has(key)) this.changeGateway(key, undefined)
      this.remove(`${kind} ${key}`)
    } else {
      const id = `${kind} ${key}`
      if (kind === 'Service') this.markUsers(this.inside?.change(id, undefined))
      this.remove(id)
    }
  }

  /** Returns the names that changed since the last call. */
  takeChanged(): readonly string[] {
    const changed = this.isAllChanged ? [...this.sayers.keys()] : [...this.changed]
    this.isAllChanged = false
    this.changed.clear()
    this.hosts.clear()
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
    const all = this.claimsOf(name)
    const claims = Map.groupBy(all, ({ object }) => object.namespace)
    this.noteConflict(name, [...claims.values()])
    const [first = []] = claims.values()
    this.loops.set(name, joinTargets(sharing(first)).hosts)
    const objects = all.map(({ object }) => object)
    this.records.decide(name, objects, new Set(sharing(first).map(({ object }) => object)))
    return [...claims].slice(0, CLAIMS_MAX).flatMap(([namespace, own], rank) => {
      const same = sharing(own)
      const objects = own.map(({ object }) => describeObject(object))
      const claim = { ...joinTargets(same), namespace, rank, objects }
      return hostRecords(name, claim, this.tree.ttlSeconds)
    })
  }

  /** Returns the claims to a hostname that have targets, the one that wins first. */
  private claimsOf(name: string): Claim[] {
    const { resources } = this.tree
    const claims = this.sayers.of(name).flatMap((id): Claim[] => {
      const object = this.objects.get(id)
      if (object === undefined || !mayHaveNames(object, this.tree)) return []
      const targets = this.targetsOf(object, name)
      if (!isEmpty(targets)) return [{ object, ...targets }]
      if (object.kind === 'HostRoute') this.records.set(object, routerRefusal(this.tree))
      return []
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
    return this.serviceAt(serviceId(slice))
  }

  /** The hostnames that objects of several namespaces claim, of groups that were built. */
  get conflicts(): readonly HostConflict[] {
    return [...this.conflicting.values()]
  }

  /**
   * Returns a line for each hostname that is invalid or has several owners, and one
   * if hostnames are outside of the zones: a cluster may have many of these, for other zones.
   */
  warnings(): string[] {
    const invalid = [
      ...[...this.problems.values()].flat(),
      ...this.conflicts.map(describeConflict),
      ...this.records.warnings(),
      ...this.loops.warnings(),
    ]
    const [first] = [...this.outside].sort()
    if (first === undefined) return invalid
    const zones = this.tree.zones.join(' ')
    const message = `hostnames outside of the zones ${zones} have names below these only`
    return [...invalid, `${first}: ${message}`]
  }

  /** Returns the decisions on DNSRecords. */
  verdicts(): readonly RecordVerdict[] {
    return this.records.all()
  }

  /** @param owners the claims of each namespace, those of the owner first */
  private noteConflict(host: string, owners: readonly (readonly Claim[])[]): void {
    const objects = owners.slice(0, CLAIMS_MAX).flatMap(([first]) => first?.object ?? [])
    // A name with bindings only has the conflict of the hostname that they describe.
    const isDerived = owners.flat().every((claim) => isEmpty({ ...claim, bindings: [] }))
    if (objects.length < 2 || isDerived || this.isRepeated(host)) this.conflicting.delete(host)
    else this.conflicting.set(host, { host, objects })
  }

  /** Returns whether a name is an absolute hostname, once more below a zone as in k8s_gateway. */
  private isRepeated(name: string): boolean {
    return this.tree.zones.some(
      (zone) => name.endsWith(`.${zone}`) && this.sayers.has(name.slice(0, -zone.length - 1)),
    )
  }

  private serviceAt(id: string): Service | undefined {
    const object = this.objects.get(id)
    return object?.kind === 'Service' ? object : undefined
  }

  private targetsOf(object: Naming, name: string): Targets {
    const own = this.hostsByName(object).get(name) ?? []
    return joinTargets(
      own.map(({ name: said, targets, texts, records = [], bindings = [], ttlSeconds }) => {
        const valid = targets.filter((target) => isTarget(target) && target !== said)
        const hosts = this.inside === undefined ? valid : this.inside.replace(valid)
        return { hosts, texts, records, bindings, ttlSeconds }
      }),
    )
  }

  /**
   * Returns an object's hosts by their absolute names. Keeps them until the next change: an object
   * may have tens of thousands, and each name asks for those of its own.
   */
  private hostsByName(object: Naming): ReadonlyMap<string, readonly Host[]> {
    const known = this.hosts.get(object)
    if (known !== undefined) return known
    const byName = new Map<string, Host[]>()
    for (const host of hostsOf(object, this.context)) {
      for (const name of namesOfHost(host, this.tree.zones)) {
        const same = byName.get(name)
        if (same === undefined) byName.set(name, [host])
        else same.push(host)
      }
    }
    this.hosts.set(object, byName)
    return byName
  }

  private add(object: Naming): void {
    const id = idOf(object)
    this.objects.set(id, object)
    const hosts = hostsOf(object, this.namesContext)
    const isOwn = object.kind !== 'Service' && object.kind !== 'Node'
    const refusal = isOwn ? recordRefusal(object, this.tree) : undefined
    this.records.set(object, refusal)
    const problems = [
      ...(refusal === undefined ? [] : [refusal.message]),
      ...objectProblems(object, this.tree.annotations),
      ...hosts.flatMap(hostProblems),
    ]
    const lines = problems.map((problem) => `${describeObject(object)}: ${problem}`)
    if (lines.length > 0) this.problems.set(id, [...new Set(lines)])
    // Names of Services and Nodes are meant to be below a zone.
    if (isOwn && hosts.some((host) => this.isOutside(host))) this.outside.add(id)
    for (const name of this.namesOf(object)) this.sayers.add(name, id)
    for (const parent of parentsOf(object, this.tree)) this.routes.add(parent, id)
    if (object.kind === 'Node') this.nodes.set(object.name, object)
    if (isOfNodes(object)) this.nodeServices.add(id)
    this.inside?.use(
      id,
      hosts.flatMap(({ targets }) => targets),
    )
    this.mark(object)
  }

  private remove(id: string): void {
    const object = this.objects.get(id)
    if (object === undefined) return
    this.mark(object)
    for (const name of this.namesOf(object)) this.sayers.delete(name, id)
    for (const parent of parentsOf(object, this.tree)) this.routes.delete(parent, id)
    if (object.kind === 'Node') this.nodes.delete(object.name)
    this.nodeServices.delete(id)
    this.inside?.use(id, [])
    this.objects.delete(id)
    this.records.delete(object)
    this.problems.delete(id)
    this.outside.delete(id)
  }

  /** Returns whether a name with several labels, which is meant to be absolute, is in no zone. */
  private isOutside(host: Host): boolean {
    const { name } = host
    return (
      isPublishable(host) &&
      name.includes('.') &&
      !this.tree.zones.some((zone) => isWithin(name, zone))
    )
  }

  private namesOf(object: Naming): string[] {
    const hosts = hostsOf(object, this.namesContext).filter(isPublishable)
    return hosts.flatMap((host) => [...namesOfHost(host, this.tree.zones)])
  }

  private mark(object: Naming): void {
    for (const name of this.namesOf(object)) this.changed.add(name)
    const dependents = object.kind === 'Node' ? this.nodeServices : this.routes.of(idOf(object))
    for (const id of dependents) {
      const dependent = this.objects.get(id)
      if (dependent !== undefined) this.mark(dependent)
    }
  }

  /** Sets or deletes a Gateway. Its listeners add names to its routes. */
  private changeGateway(key: string, gateway: HostObject | undefined): void {
    const routes = [...this.routes.of(key)].flatMap((id) => this.objects.get(id) ?? [])
    for (const route of routes) this.remove(idOf(route))
    if (gateway === undefined) this.gateways.delete(key)
    else this.gateways.set(key, gateway)
    this.inside?.use(key, gatewayTargets(key, this.context))
    for (const route of routes) this.add(route)
  }

  /** Marks the objects, and the routes of the Gateways, that point to addresses of a Service. */
  private markUsers(users: readonly string[] = []): void {
    for (const id of users.flatMap((user) => [user, ...this.routes.of(user)])) {
      const object = this.objects.get(id)
      if (object !== undefined) this.mark(object)
    }
  }

  private markService(slice: EndpointSlice | undefined): void {
    const service = slice && this.serviceOf(slice)
    const { resolvesEndpoints = false, annotations } = service?.outside ?? {}
    const isAnnotated = annotations !== undefined && annotations.size > 0
    if (service !== undefined && (resolvesEndpoints || isAnnotated)) this.mark(service)
  }
}

function serviceId({ namespace, serviceName }: EndpointSlice): string {
  return `Service ${objectKey({ namespace, name: serviceName })}`
}

/** Returns the objects that an object points to: Gateways by their keys, a Service by its id. */
function parentsOf(object: Naming, { router }: HostsTree): readonly string[] {
  if (object.kind === 'Service' || object.kind === 'Node') return []
  if (object.kind !== 'HostRoute') return object.gateways.map(({ key }) => key)
  if (router.kind === 'addresses') return []
  return [router.kind === 'Gateway' ? objectKey(router) : `Service ${objectKey(router)}`]
}

function idOf(object: Naming): string {
  return `${object.kind} ${objectKey(object)}`
}

/** Returns whether the targets of an object are Nodes. */
function isOfNodes(object: Naming): boolean {
  return object.kind === 'Service' && object.outside?.nodePorts !== undefined
}
