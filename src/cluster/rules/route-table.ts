/**
 * The routes of all HostRoutes: which path of which host goes to which Service.
 *
 * As for names, a host belongs to the namespace of the oldest object that may have it, and within
 * a namespace the older object has the path.
 * @module
 */
import { parseAddress } from '../../dns/names/address.ts'
import { objectKey } from '../objects/cluster.ts'
import {
  describeObject,
  type HostObject,
  type HostRefusal,
  type RoutedPath,
  type Service,
} from '../objects/objects.ts'
import type { SelectedHosts } from '../objects/options.ts'
import { recordRefusal } from './dns-records.ts'
import { fairShare, type SharedBound } from './fair-shares.ts'

/**
 * Most objects with allowed hosts that are routed, of a namespace and of all: the youngest of the
 * namespace with the most are refused first.
 */
const ROUTES: SharedBound = { eachMax: 1000, wholeMax: 10_000 }
/**
 * Most paths of these objects. nginx checks as many, with the longest hosts and paths, in 1.2 s.
 */
const PATHS: SharedBound = { eachMax: 4000, wholeMax: 16_000 }

/** The address and port of a Service; IPv6 without brackets. */
export type Backend = { readonly address: string; readonly port: number }

/** A path, and the object that has it. */
export type TableRoute = RoutedPath & {
  readonly object: HostObject
  /** `undefined` if the Service or its port is missing: the path answers 503. */
  readonly backend: Backend | undefined
}

/** A host, with its paths in the order of the text. */
export type TableHost = { readonly host: string; readonly routes: readonly TableRoute[] }

/** All routes, and what is wrong with each object: its first problem, if any. */
export type RouteTable = {
  readonly hosts: readonly TableHost[]
  readonly verdicts: readonly {
    readonly object: HostObject
    readonly refusal: HostRefusal | undefined
  }[]
}

/** What the routes depend on beside the objects. */
export type RouteContext = Pick<SelectedHosts, 'recordZones'> & {
  /** Finds a Service by its `namespace/name`. */
  readonly serviceOf: (key: string) => Service | undefined
}

type Draft = { readonly namespace: string; readonly routes: Map<string, TableRoute> }

/** Builds the table of some HostRoutes, in any order. */
export function routeTable(objects: Iterable<HostObject>, context: RouteContext): RouteTable {
  const sorted = [...objects].sort(
    (a, b) => a.createdMs - b.createdMs || compareTexts(objectKey(a), objectKey(b)),
  )
  const drafts = new Map<string, Draft>()
  const refusals = new Map(sorted.map((object) => [object, recordRefusal(object, context)]))
  // A namespace without zones must not take the room of others.
  const rooms = new Rooms(sorted.filter((object) => refusals.get(object) === undefined))
  const verdicts = sorted.map((object) => {
    const refusal = refusals.get(object) ?? rooms.enter(object)
    return { object, refusal: refusal ?? addRoutes(object, drafts, context) }
  })
  const hosts = [...drafts].map(([host, { routes }]): TableHost => {
    return { host, routes: [...routes.values()].sort((a, b) => compareTexts(a.path, b.path)) }
  })
  return { hosts: hosts.sort((a, b) => compareTexts(a.host, b.host)), verdicts }
}

type Count = { readonly routes: number; readonly paths: number }

const NONE: Count = { routes: 0, paths: 0 }

/** The room that each namespace has for its routes and paths. */
class Rooms {
  private readonly share: Count
  private readonly taken = new Map<string, Count>()
  private readonly isFull = new Set<string>()
  private entered = 0

  /** @param objects the oldest first, as they enter */
  constructor(objects: readonly HostObject[]) {
    const wanted = new Map<string, Count>()
    for (const object of objects) {
      wanted.set(object.namespace, plus(wanted.get(object.namespace), object))
    }
    const routes = fairShare(
      Array.from(wanted.values(), (one) => one.routes),
      ROUTES,
    )
    // Routes that do not fit take no room for paths.
    const paths = new Map<string, Count>()
    for (const object of objects) {
      const before = paths.get(object.namespace)
      if ((before?.routes ?? 0) < routes) paths.set(object.namespace, plus(before, object))
    }
    this.share = {
      routes,
      paths: fairShare(
        Array.from(paths.values(), (one) => one.paths),
        PATHS,
      ),
    }
  }

  /** Takes room for the next object. Returns a refusal if its namespace has none left. */
  enter(object: HostObject): HostRefusal | undefined {
    const { namespace } = object
    const { share } = this
    const next = plus(this.taken.get(namespace), object)
    const fits = next.routes <= share.routes && next.paths <= share.paths
    // Once one does not fit, no younger one takes its place.
    if (fits && !this.isFull.has(namespace) && this.entered < ROUTES.wholeMax) {
      this.entered++
      this.taken.set(namespace, next)
      return undefined
    }
    this.isFull.add(namespace)
    // Without the counts, which change with each object: statuses would be written again.
    const message =
      `namespace ${namespace} may have ${share.routes} HostRoutes with ${share.paths} paths, ` +
      'and this is one of its youngest'
    return { reason: 'TooManyRoutes', message }
  }
}

function plus({ routes, paths }: Count = NONE, object: HostObject): Count {
  return { routes: routes + 1, paths: paths + (object.paths?.length ?? 0) }
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

/** Adds an object's routes that no older object has. Returns the first problem. */
function addRoutes(
  object: HostObject,
  drafts: Map<string, Draft>,
  context: RouteContext,
): HostRefusal | undefined {
  const [host] = object.hosts
  if (host === undefined) return undefined
  const known = drafts.get(host.name)
  const draft = known ?? { namespace: object.namespace, routes: new Map() }
  if (draft.namespace !== object.namespace) {
    const [first] = draft.routes.values()
    const owner = first === undefined ? draft.namespace : describeObject(first.object)
    return { reason: 'Conflict', message: `${host.name} belongs to ${owner}` }
  }
  drafts.set(host.name, draft)
  const problems = (object.paths ?? []).flatMap((one) => {
    const older = draft.routes.get(one.path)
    if (older !== undefined) {
      const message = `${one.path} belongs to ${describeObject(older.object)}`
      return [{ reason: 'PathConflict', message } as const]
    }
    const found = findBackend(one, object, context)
    const backend = 'reason' in found ? undefined : found
    draft.routes.set(one.path, { ...one, object, backend })
    return 'reason' in found ? [found] : []
  })
  return problems[0]
}

function findBackend(
  { path, service, port }: RoutedPath,
  { namespace }: HostObject,
  { serviceOf }: RouteContext,
): Backend | HostRefusal {
  const found = serviceOf(objectKey({ namespace, name: service }))
  if (found === undefined) {
    return { reason: 'ServiceNotFound', message: `${path}: no Service ${namespace}/${service}` }
  }
  const address = found.clusterIPs.find((one) => parseAddress(one) !== undefined)
  if (address === undefined) {
    const message = `${path}: Service ${namespace}/${service} has no cluster IP`
    return { reason: 'ServiceHasNoAddress', message }
  }
  if (found.ports.some((one) => one.port === port && one.protocol === 'TCP')) {
    return { address, port }
  }
  const message = `${path}: Service ${namespace}/${service} has no TCP port ${port}`
  return { reason: 'PortNotFound', message }
}
