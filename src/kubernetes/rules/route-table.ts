/**
 * The routes of all HostRoutes: which path of which host goes to which Service.
 *
 * As for names, a host belongs to the namespace of the oldest object that may have it, and within
 * a namespace the older object has the path.
 * @module
 */
import { parseAddress } from '../../dns/address.ts'
import { objectKey } from '../objects/cluster.ts'
import {
  describeObject,
  type HostObject,
  type Refusal,
  type RoutedPath,
  type Service,
} from '../objects/objects.ts'
import type { HostsTree } from '../objects/options.ts'
import { recordRefusal } from './dns-records.ts'

/** Most objects with allowed hosts that are routed; the youngest beyond are refused. */
export const ROUTES_MAX = 10_000

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
    readonly refusal: Refusal | undefined
  }[]
}

/** What the routes depend on beside the objects. */
export type RouteContext = Pick<HostsTree, 'recordZones'> & {
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
  let count = 0
  const verdicts = sorted.map((object) => {
    const alone = recordRefusal(object, context)
    // A namespace without zones must not take the room of others.
    if (alone !== undefined) return { object, refusal: alone }
    if (count++ < ROUTES_MAX) return { object, refusal: addRoutes(object, drafts, context) }
    const message = `more than ${ROUTES_MAX} HostRoutes, and this is one of the youngest`
    return { object, refusal: { reason: 'TooManyRoutes', message } as const }
  })
  const hosts = [...drafts].map(([host, { routes }]): TableHost => {
    return { host, routes: [...routes.values()].sort((a, b) => compareTexts(a.path, b.path)) }
  })
  return { hosts: hosts.sort((a, b) => compareTexts(a.host, b.host)), verdicts }
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
): Refusal | undefined {
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
): Backend | Refusal {
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
