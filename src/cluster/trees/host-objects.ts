/**
 * The objects with hostnames, by the names that they say, and the objects that these point to.
 * Tracks the names that a change affects. An object may have thousands of hostnames, so changes
 * wait until they are applied in steps; of several changes of one object, the last one counts.
 * @module
 */
import type { Steps } from '../../dns/bytes/steps.ts'
import { Cluster, objectKey } from '../objects/cluster.ts'
import {
  type ClusterObject,
  describeObject,
  type EndpointSlice,
  type HostName,
  type HostObject,
  type Kind,
  type NodeObject,
  type Service,
} from '../objects/objects.ts'
import type { SelectedHosts } from '../objects/options.ts'
import { isRouter, mayHaveNames } from '../objects/selection.ts'
import { recordRefusal } from '../rules/dns-records.ts'
import { hostProblems, isPublishable, isWithin, namesOfHost } from '../rules/host-names.ts'
import {
  gatewayTargets,
  type HostContext,
  hostsOf,
  type Naming,
  objectProblems,
} from '../rules/object-hosts.ts'
import { ClusterIPs } from './cluster-ips.ts'
import { KeyIndex } from './key-index.ts'
import type { RecordVerdicts } from './record-verdicts.ts'

/** Hostnames that a step handles. */
const STEP_HOSTS = 50
/** Most problems of an object that are warnings, each; the others are counted. */
const PROBLEMS_MAX = 10

type Change = { readonly kind: Kind; readonly namespace: string; readonly name: string } & {
  /** Absent if it is gone. */
  readonly object?: ClusterObject
}

/** The objects. */
export class HostObjects {
  /** The context of targets. */
  readonly context: HostContext
  readonly inside: ClusterIPs | undefined
  private readonly tree: SelectedHosts
  private readonly records: RecordVerdicts
  /** Changes that are not applied yet, by the object's kind and key. */
  private readonly waiting = new Map<string, Change>()
  /** Objects by their kind and key, like the maps below. */
  private readonly objects = new Map<string, Naming>()
  /** The absolute names that each object says. */
  private readonly names = new Map<string, readonly string[]>()
  private readonly problems = new Map<string, readonly string[]>()
  /** Objects with a hostname outside of the zones. */
  private readonly outside = new Set<string>()
  private readonly gateways = new Map<string, HostObject>()
  /** Slices, by the Services that they belong to. */
  private readonly slices = new Cluster()
  /** The objects with a hostname, and the routes of a Gateway. */
  private readonly sayers = new KeyIndex()
  private readonly routes = new KeyIndex()
  /** Nodes, and the Services that point to them. */
  private readonly nodes = new Map<string, NodeObject>()
  private readonly nodeServices = new Set<string>()
  /** The context of names, which depend on no other object but listeners of Gateways. */
  private readonly namesContext: HostContext
  private changed = new Set<string>()

  /** @param records receives the refusals of objects that depend on no other object */
  constructor(tree: SelectedHosts, records: RecordVerdicts) {
    this.tree = tree
    this.records = records
    this.inside = tree.hasClusterIPs ? new ClusterIPs() : undefined
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

  /** Adds or replaces an object. Ignores kinds without hostnames. */
  set(object: ClusterObject): void {
    const { kind, namespace, name } = object
    if (IGNORED.has(kind)) return
    this.waiting.set(`${kind} ${objectKey(object)}`, { kind, namespace, name, object })
  }

  /** Removes an object, if it exists. */
  delete(kind: Kind, namespace: string, name: string): void {
    if (IGNORED.has(kind)) return
    this.waiting.set(`${kind} ${objectKey({ namespace, name })}`, { kind, namespace, name })
  }

  /** Applies the changes so far. */
  *apply(): Steps<void> {
    for (const [id, change] of this.waiting) {
      this.waiting.delete(id)
      yield* this.drop(change)
      if (change.object !== undefined) yield* this.take(change.object)
      yield
    }
  }

  /** Returns the names that changed since the last call. */
  takeChanged(): ReadonlySet<string> {
    const { changed } = this
    this.changed = new Set()
    return changed
  }

  /** Returns all names that objects say. */
  allNames(): Iterable<string> {
    return this.sayers.keys()
  }

  /** Returns whether an object says a name. */
  isSaid(name: string): boolean {
    return this.sayers.has(name)
  }

  /** Returns the objects that say a name, in an order that depends on nothing else. */
  sayersOf(name: string): readonly Naming[] {
    return this.sayers.of(name).flatMap((id) => this.objects.get(id) ?? [])
  }

  /** Finds the slice of the same name. */
  sliceLike(slice: EndpointSlice): EndpointSlice | undefined {
    const change = this.waiting.get(`EndpointSlice ${objectKey(slice)}`)
    if (change === undefined) return this.slices.slices.get(objectKey(slice))
    return change.object?.kind === 'EndpointSlice' ? change.object : undefined
  }

  /** Finds the Service that a slice belongs to. */
  serviceOf(slice: EndpointSlice): Service | undefined {
    const change = this.waiting.get(serviceId(slice))
    if (change === undefined) return this.serviceAt(serviceId(slice))
    return change.object?.kind === 'Service' ? change.object : undefined
  }

  /** Returns what is wrong with objects, one line each. */
  warnings(): string[] {
    return [...this.problems.values()].flat()
  }

  /** Returns the first object with a hostname outside of the zones. */
  firstOutside(): string | undefined {
    let first: string | undefined
    for (const id of this.outside) if (first === undefined || id < first) first = id
    return first
  }

  private serviceAt(id: string): Service | undefined {
    const object = this.objects.get(id)
    return object?.kind === 'Service' ? object : undefined
  }

  private *take(object: ClusterObject): Steps<void> {
    switch (object.kind) {
      case 'Namespace':
      case 'Pod':
      case 'ServiceImport':
      case 'ServiceExport':
        return
      case 'EndpointSlice':
        this.slices.set(object)
        yield* this.markService(object)
        return
      case 'Gateway':
        yield* this.changeGateway(objectKey(object), object)
        if (mayHaveNames(object, this.tree)) yield* this.add(object)
        return
      case 'Service':
        yield* this.markUsers(this.inside?.change(idOf(object), object))
        if (isRouter(object, this.tree) || mayHaveNames(object, this.tree)) yield* this.add(object)
        return
      default:
        yield* this.add(object)
    }
  }

  private *drop({ kind, namespace, name, object }: Change): Steps<void> {
    const key = objectKey({ namespace, name })
    const id = `${kind} ${key}`
    if (kind === 'EndpointSlice') {
      yield* this.markService(this.slices.slices.get(key))
      this.slices.delete(kind, namespace, name)
      return
    }
    // One that is replaced changes its routes once, with its successor.
    if (kind === 'Gateway' && object === undefined) yield* this.changeGateway(key, undefined)
    if (kind === 'Service') yield* this.markUsers(this.inside?.change(id, undefined))
    yield* this.remove(id)
  }

  private *add(object: Naming): Steps<void> {
    const id = idOf(object)
    this.objects.set(id, object)
    const isOwn = object.kind !== 'Service' && object.kind !== 'Node'
    const refusal = isOwn ? recordRefusal(object, this.tree) : undefined
    this.records.set(object, refusal)
    const problems = new Set(refusal === undefined ? [] : [refusal.message])
    for (const problem of objectProblems(object, this.tree.annotations)) problems.add(problem)
    const hosts = hostsOf(object, this.namesContext)
    const names: string[] = []
    const targets = new Set<readonly string[]>()
    for (const [i, host] of hosts.entries()) {
      if (i % STEP_HOSTS === 0) yield
      for (const problem of hostProblems(host)) problems.add(problem)
      targets.add(host.targets)
      // Names of Services and Nodes are meant to be below a zone.
      if (isOwn && this.isOutside(host)) this.outside.add(id)
      if (!isPublishable(host)) continue
      for (const name of namesOfHost(host, this.tree.zones)) {
        names.push(name)
        this.sayers.add(name, id)
        this.changed.add(name)
      }
    }
    this.names.set(id, names)
    if (problems.size > 0) this.problems.set(id, linesOf(object, [...problems]))
    for (const parent of parentsOf(object, this.tree)) this.routes.add(parent, id)
    if (object.kind === 'Node') this.nodes.set(object.name, object)
    if (isOfNodes(object)) this.nodeServices.add(id)
    this.inside?.use(id, [...targets].flat())
    yield* this.markDependents(object)
  }

  private *remove(id: string): Steps<void> {
    const object = this.objects.get(id)
    if (object === undefined) return
    yield* this.markDependents(object)
    for (const [i, name] of (this.names.get(id) ?? []).entries()) {
      if (i % STEP_HOSTS === 0) yield
      this.sayers.delete(name, id)
      this.changed.add(name)
    }
    for (const parent of parentsOf(object, this.tree)) this.routes.delete(parent, id)
    if (object.kind === 'Node') this.nodes.delete(object.name)
    this.nodeServices.delete(id)
    this.inside?.use(id, [])
    this.objects.delete(id)
    this.names.delete(id)
    this.records.delete(object)
    this.problems.delete(id)
    this.outside.delete(id)
  }

  /** Returns whether a name with several labels, which is meant to be absolute, is in no zone. */
  private isOutside(host: HostName): boolean {
    const { name } = host
    return (
      isPublishable(host) &&
      name.includes('.') &&
      !this.tree.zones.some((zone) => isWithin(name, zone))
    )
  }

  /** Marks the names of the objects that point to an object. */
  private *markDependents(object: Naming): Steps<void> {
    const ids = object.kind === 'Node' ? this.nodeServices : this.routes.of(idOf(object))
    for (const id of ids) yield* this.mark(id)
  }

  private *mark(id: string): Steps<void> {
    for (const [i, name] of (this.names.get(id) ?? []).entries()) {
      if (i % STEP_HOSTS === 0) yield
      this.changed.add(name)
    }
  }

  /** Sets or deletes a Gateway. Its listeners add names to its routes. */
  private *changeGateway(key: string, gateway: HostObject | undefined): Steps<void> {
    const before = this.gateways.get(key)
    if (partsForRoutes(before) === partsForRoutes(gateway)) {
      if (gateway !== undefined) this.gateways.set(key, gateway)
      return
    }
    const routes = this.routes.of(key).flatMap((id) => this.objects.get(id) ?? [])
    for (const route of routes) yield* this.remove(idOf(route))
    if (gateway === undefined) this.gateways.delete(key)
    else this.gateways.set(key, gateway)
    this.inside?.use(key, gatewayTargets(key, this.context))
    for (const route of routes) yield* this.add(route)
  }

  /** Marks the objects, and the routes of the Gateways, that point to addresses of a Service. */
  private *markUsers(users: readonly string[] = []): Steps<void> {
    for (const id of users.flatMap((user) => [user, ...this.routes.of(user)])) yield* this.mark(id)
  }

  private *markService(slice: EndpointSlice | undefined): Steps<void> {
    const service = slice && this.serviceAt(serviceId(slice))
    const { resolvesEndpoints = false, annotations } = service?.outside ?? {}
    const isAnnotated = annotations !== undefined && annotations.size > 0
    if (service === undefined || !(resolvesEndpoints || isAnnotated)) return
    yield* this.mark(idOf(service))
    yield* this.markDependents(service)
  }
}

const IGNORED: ReadonlySet<Kind> = new Set(['Namespace', 'Pod', 'ServiceImport', 'ServiceExport'])

/** Returns the first problems of an object as lines, and the number of the others. */
function linesOf(object: Naming, problems: readonly string[]): string[] {
  const more = problems.length - PROBLEMS_MAX
  const shown = problems.slice(0, PROBLEMS_MAX)
  const rest = more > 0 ? [`${more} more problems`] : []
  return [...shown, ...rest].map((problem) => `${describeObject(object)}: ${problem}`)
}

/** Returns what routes take from a Gateway, as text; '' for none. */
function partsForRoutes(gateway: HostObject | undefined): string {
  if (gateway === undefined) return ''
  const { targets, listeners, annotations } = gateway
  return JSON.stringify([targets, listeners, [...annotations]])
}

function serviceId({ namespace, serviceName }: EndpointSlice): string {
  return `Service ${objectKey({ namespace, name: serviceName })}`
}

/** Returns the objects that an object points to: Gateways by their keys, a Service by its id. */
function parentsOf(object: Naming, { router }: SelectedHosts): readonly string[] {
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
