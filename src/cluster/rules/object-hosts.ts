/**
 * The hostnames of objects and where each points, as in k8s_gateway (its gateway.go and
 * kubernetes.go):
 *
 * | object | names | point to |
 * |---|---|---|
 * | Ingress, VirtualServer | hosts of its rules | its load balancer |
 * | Gateway | hostnames of its listeners | its addresses |
 * | HTTPRoute, GRPCRoute, TLSRoute | its hostnames | its Gateways |
 * | LoadBalancer Service | an annotation's, else `<name>.<ns>` | `externalIPs`, else its balancer |
 * | Service with `k8s-gateway.dns/resolve-endpoints` | the same | its ready endpoints |
 * | DNSEndpoint, ConfigMap | those of its records | their targets |
 * | DNSRecord | its own, in an allowed zone | its values |
 * | HostRoute | its own, in an allowed zone | the router |
 * | Route (OpenShift) | its host | the routers that admitted it |
 * | Node | its hostnames | its addresses of one type |
 *
 * If the annotations of external-dns count, they add hostnames and replace targets; headless,
 * ExternalName and NodePort Services with a hostname have names, too.
 * @module
 */

import { concatBytes } from '../../dns/bytes/bytes.ts'
import { parseName } from '../../dns/names/name.ts'
import { TYPE } from '../../dns/names/rr-type.ts'
import { objectKey } from '../objects/cluster.ts'
import type {
  EndpointSlice,
  HostName,
  HostObject,
  HostRecords,
  NodeObject,
  Service,
} from '../objects/objects.ts'
import type { SelectedHosts } from '../objects/options.ts'
import { serviceNumbers } from './backend-records.ts'
import { recordRefusal } from './dns-records.ts'
import { externalHosts, insideAddresses } from './external-names.ts'
import { type HostAnnotations, readAnnotations } from './host-annotations.ts'
import { listenerPorts } from './listener-ports.ts'
import { fitting, NAMES_MAX, PAIRS_MAX } from './pairs.ts'
import { withBindings } from './service-bindings.ts'

/** An object with hostnames. */
export type Naming = HostObject | Service | NodeObject

/** The other objects that targets depend on. */
export type HostContext = {
  readonly tree: Pick<
    SelectedHosts,
    'annotations' | 'nodeAddressType' | 'recordZones' | 'hasBindings' | 'hasClusterIPs' | 'router'
  >
  readonly slicesOf: (service: Service) => readonly EndpointSlice[]
  /** Finds a Gateway by its `namespace/name`. */
  readonly gatewayOf: (key: string) => HostObject | undefined
  /** Finds a Service by its `namespace/name`. */
  readonly serviceOf: (key: string) => Service | undefined
  readonly nodes: () => Iterable<NodeObject>
  /** Whether only the names count: targets in other objects are left out. */
  readonly isNamesOnly?: boolean
}

/** A label, and names, by RFC 1123; the first label may be a wildcard. */
const LABEL = '[a-z0-9](?:[-a-z0-9]*[a-z0-9])?'
const HOST_NAME = new RegExp(`^(?:\\*\\.)?${LABEL}(?:\\.${LABEL})*$`)
/** Weight of the SRV records of NodePort Services, as in external-dns. */
const NODE_PORT_WEIGHT = 50

/**
 * Returns the hostnames of an object, each absolute or below any zone. If they have too many
 * targets in all, the last targets of each are left out.
 */
export function hostsOf(object: Naming, context: HostContext): readonly HostName[] {
  const hosts = allHosts(object, context)
  const count = hosts.reduce((sum, { targets }) => sum + targets.length, 0)
  if (count <= PAIRS_MAX) return hosts
  return hosts.map((host) => ({ ...host, targets: fitting(host.targets, hosts.length) }))
}

function allHosts(object: Naming, context: HostContext): readonly HostName[] {
  switch (object.kind) {
    case 'Node': {
      const isInternal = context.tree.nodeAddressType === 'InternalIP'
      const targets = isInternal ? object.internalIPs : object.externalIPs
      return object.hostnames.map((name) => ({ name, targets, texts: [] }))
    }
    case 'Service':
      return serviceHosts(object, context)
    default:
      return objectHosts(object, context)
  }
}

/** Returns what is wrong with annotations, and which hostnames of a Service are invalid. */
export function objectProblems(object: Naming, prefixes: readonly string[]): readonly string[] {
  const said = object.kind === 'Service' ? (object.outside?.hostnames ?? []) : []
  const wrong = said.filter((text) => !HOST_NAME.test(text))
  return [
    ...ownProblem(object),
    ...annotationsOf(object, prefixes).problems,
    ...wrong.map((text) => `"${text}" is not a hostname`),
  ]
}

function ownProblem(object: Naming): readonly string[] {
  if (object.kind === 'Node') return []
  const { problem } = object.kind === 'Service' ? (object.outside ?? {}) : object
  return problem === undefined ? [] : [problem]
}

function annotationsOf(object: Naming, prefixes: readonly string[]): HostAnnotations {
  const own = object.kind === 'Service' ? object.outside?.annotations : undefined
  const all = object.kind === 'Service' || object.kind === 'Node' ? own : object.annotations
  return readAnnotations(all ?? new Map(), prefixes)
}

function objectHosts(object: HostObject, context: HostContext): readonly HostName[] {
  const { tree, isNamesOnly = false } = context
  if (recordRefusal(object, tree) !== undefined) return []
  if (object.kind === 'HostRoute') {
    return object.hosts.map((host) => ({ ...host, targets: routerTargets(context) }))
  }
  const said = annotationsOf(object, tree.annotations)
  if (said.isForeign) return []
  const gateways = object.gateways.flatMap(({ key }) => gatewayTargets(key, context))
  const own = (said.takesOwn ? object.hosts : []).map((host): HostName => {
    if (gateways.length === 0) return host
    // Hosts of a route have no targets of their own: they share those of its Gateways.
    return {
      ...host,
      targets: host.targets.length === 0 ? gateways : [...host.targets, ...gateways],
    }
  })
  const targets = [...object.targets, ...gateways]
  const added = said.hostnames.map((name): HostName => ({ name, targets, texts: [] }))
  const hosts = [...own, ...added].map((host) => withAnnotations(host, said))
  if (!tree.hasBindings) return hosts
  const portsOf = listenerPorts(object, context.gatewayOf)
  return withBindings(hosts, { isNamesOnly, portsOf: ({ name }) => portsOf(name) })
}

/** Returns the addresses and hostnames of a Gateway, or those of an annotation in their place. */
export function gatewayTargets(key: string, context: HostContext): readonly string[] {
  const { tree, gatewayOf, isNamesOnly = false } = context
  const gateway = gatewayOf(key)
  if (gateway === undefined || isNamesOnly) return []
  const { targets } = annotationsOf(gateway, tree.annotations)
  return targets.length > 0 ? targets : gateway.targets
}

/** Returns where the hosts of HostRoutes point; nowhere if the router has no address. */
function routerTargets(context: HostContext): readonly string[] {
  const { router } = context.tree
  if (router.kind === 'addresses') return router.addresses
  if (router.kind === 'Gateway') return gatewayTargets(objectKey(router), context)
  const service = context.serviceOf(objectKey(router))
  if (service === undefined) return []
  return router.kind === 'ClusterIP' ? service.clusterIPs : baseTargets(service, context)
}

/** Replaces targets and TTL; records and texts keep theirs. */
function withAnnotations(host: HostName, { targets, ttlSeconds }: HostAnnotations): HostName {
  if (host.records !== undefined || host.texts.length > 0) return host
  return {
    ...host,
    ...(targets.length > 0 && { targets }),
    ...(ttlSeconds !== undefined && { ttlSeconds }),
  }
}

function serviceHosts(service: Service, context: HostContext): readonly HostName[] {
  const { outside, clusterIPs } = service
  if (outside === undefined) return []
  const said = annotationsOf(service, context.tree.annotations)
  if (said.isForeign) return []
  // There may be tens of thousands of names, which all have the same targets.
  const names = baseNames(service)
  const known = new Set(names)
  const others = said.hostnames.filter((name) => !known.has(name))
  const targets = names.length > 0 ? baseTargets(service, context) : []
  const base = names.map((name): HostName => ({ name, targets, texts: [] }))
  const added = annotatedHosts(service, others, { context, said })
  const inside = said.internalHostnames.map((name): HostName => {
    return { name, targets: clusterIPs, texts: [] }
  })
  const { ttlSeconds } = said
  const hosts = [
    ...[...base, ...added].map((host) => withAnnotations(host, said)),
    ...inside.map((host) => ({ ...host, ...(ttlSeconds !== undefined && { ttlSeconds }) })),
  ]
  // Endpoints and Nodes have other ports than the Service.
  const hasPorts = !outside.resolvesEndpoints && outside.nodePorts === undefined
  const isBound = context.tree.hasBindings && hasPorts && !service.isHeadless
  const { isNamesOnly = false } = context
  return isBound ? withBindings(hosts, { isNamesOnly, portsOf: () => outside.securePorts }) : hosts
}

/** Returns the names that k8s_gateway takes from a Service. */
function baseNames({ outside, name, namespace }: Service): readonly string[] {
  if (outside === undefined) return []
  const { isLoadBalancer, resolvesEndpoints, hostnames } = outside
  if (!isLoadBalancer && !resolvesEndpoints) return []
  return hostnames?.filter((host) => HOST_NAME.test(host)) ?? [`${name}.${namespace}`]
}

/** Returns a Service's endpoints if an annotation says so, else its external addresses. */
function baseTargets(service: Service, { slicesOf, tree }: HostContext): readonly string[] {
  const { outside } = service
  if (outside === undefined) return []
  if (outside.resolvesEndpoints) return readyAddresses(slicesOf(service))
  // `externalIPs`, set by people, have precedence over the load balancer.
  const outer = outside.externalIPs.length > 0 ? outside.externalIPs : externalHosts(service)
  const inner = tree.hasClusterIPs ? insideAddresses(service) : []
  // Names exist inside once they exist outside.
  return outer.length > 0 && inner.length > 0 ? inner : outer
}

function readyAddresses(slices: readonly EndpointSlice[]): string[] {
  const endpoints = slices.flatMap((slice) => slice.endpoints.unpack())
  return endpoints.flatMap(({ addresses, isReady }) => (isReady ? addresses : []))
}

/** Returns the hosts of a hostname annotation that `k8s_gateway` does not read. */
function annotatedHosts(
  service: Service,
  names: readonly string[],
  { context, said }: { readonly context: HostContext; readonly said: HostAnnotations },
): HostName[] {
  const targets = names.length === 0 ? undefined : annotatedTargets(service, { context, said })
  if (targets === undefined) return []
  const hosts = names.map((name): HostName => ({ name, targets, texts: [] }))
  const nodePorts = fitting(service.outside?.nodePorts ?? [], names.length, NAMES_MAX)
  return hosts.flatMap((host) => [host, ...portHosts(service.name, host.name, nodePorts)])
}

/** Returns where these hosts point; `undefined` if the service has none. */
function annotatedTargets(
  service: Service,
  { context, said }: { readonly context: HostContext; readonly said: HostAnnotations },
): readonly string[] | undefined {
  const { outside, isHeadless, externalName } = service
  if (outside === undefined) return undefined
  if (outside.nodePorts !== undefined) return nodeAddresses(context.nodes(), said.access)
  if (outside.isLoadBalancer || outside.resolvesEndpoints || outside.externalIPs.length > 0) {
    return baseTargets(service, context)
  }
  if (externalName !== '') return [externalName]
  if (!isHeadless) return said.targets.length > 0 ? [] : undefined
  return readyAddresses(context.slicesOf(service))
}

/** Returns the addresses of Nodes: those from outside, if there are any, unless `access` says. */
function nodeAddresses(nodes: Iterable<NodeObject>, access: string): string[] {
  const all = [...nodes]
  const outer = all.flatMap(({ externalIPs }) => externalIPs)
  const inner = all.flatMap(({ internalIPs }) => internalIPs)
  if (access === 'private') return inner
  return access === 'public' || outer.length > 0 ? outer : inner
}

/** Returns an SRV record for each port of a NodePort Service, `_<service>._<protocol>.<name>`. */
function portHosts(
  service: string,
  name: string,
  ports: NonNullable<NonNullable<Service['outside']>['nodePorts']>,
): HostName[] {
  const target = ports.length === 0 ? undefined : parseName(name)
  return ports.flatMap(({ protocol, port }): HostName[] => {
    if (target === undefined || port === undefined) return []
    const rdata = concatBytes(serviceNumbers(0, NODE_PORT_WEIGHT, port), target)
    const records: HostRecords[] = [{ type: TYPE.SRV, rdata: [rdata] }]
    return [
      { name: `_${service}._${protocol.toLowerCase()}.${name}`, targets: [], texts: [], records },
    ]
  })
}
