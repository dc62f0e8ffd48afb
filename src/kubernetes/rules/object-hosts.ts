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

import { concatBytes } from '../../bytes/bytes.ts'
import { parseName } from '../../dns/name.ts'
import { TYPE } from '../../dns/rr-type.ts'
import { objectKey } from '../objects/cluster.ts'
import type {
  EndpointSlice,
  Host,
  HostObject,
  HostRecords,
  Listener,
  Node,
  ParentGateway,
  SecurePort,
  Service,
} from '../objects/objects.ts'
import type { HostsTree } from '../objects/options.ts'
import { serviceNumbers } from './backend-records.ts'
import { recordRefusal } from './dns-records.ts'
import { externalHosts, insideAddresses } from './external-names.ts'
import { type HostAnnotations, readAnnotations } from './host-annotations.ts'
import { withBindings } from './service-bindings.ts'

/** An object with hostnames. */
export type Naming = HostObject | Service | Node

/** The other objects that targets depend on. */
export type HostContext = {
  readonly tree: Pick<
    HostsTree,
    'annotations' | 'nodeAddressType' | 'recordZones' | 'hasBindings' | 'hasClusterIPs' | 'router'
  >
  readonly slicesOf: (service: Service) => readonly EndpointSlice[]
  /** Finds a Gateway by its `namespace/name`. */
  readonly gatewayOf: (key: string) => HostObject | undefined
  /** Finds a Service by its `namespace/name`. */
  readonly serviceOf: (key: string) => Service | undefined
  readonly nodes: () => Iterable<Node>
  /** Whether only the names count: targets in other objects are left out. */
  readonly isNamesOnly?: boolean
}

/** A label, and names, by RFC 1123; the first label may be a wildcard. */
const LABEL = '[a-z0-9](?:[-a-z0-9]*[a-z0-9])?'
const HOST_NAME = new RegExp(`^(?:\\*\\.)?${LABEL}(?:\\.${LABEL})*$`)
/** Weight of the SRV records of NodePort Services, as in external-dns. */
const NODE_PORT_WEIGHT = 50

/** Returns the hostnames of an object, each absolute or below any zone. */
export function hostsOf(object: Naming, context: HostContext): readonly Host[] {
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
    ...annotationsOf(object, prefixes).problems,
    ...wrong.map((text) => `"${text}" is not a hostname`),
  ]
}

function annotationsOf(object: Naming, prefixes: readonly string[]): HostAnnotations {
  const own = object.kind === 'Service' ? object.outside?.annotations : undefined
  const all = object.kind === 'Service' || object.kind === 'Node' ? own : object.annotations
  return readAnnotations(all ?? new Map(), prefixes)
}

function objectHosts(object: HostObject, context: HostContext): readonly Host[] {
  const { tree, isNamesOnly = false } = context
  if (recordRefusal(object, tree) !== undefined) return []
  if (object.kind === 'HostRoute') {
    return object.hosts.map((host) => ({ ...host, targets: routerTargets(context) }))
  }
  const said = annotationsOf(object, tree.annotations)
  if (said.isForeign) return []
  const gateways = object.gateways.flatMap(({ key }) => gatewayTargets(key, context))
  const own = (said.takesOwn ? object.hosts : []).map((host): Host => {
    return { ...host, targets: [...host.targets, ...gateways] }
  })
  const added = said.hostnames.map((name): Host => {
    return { name, targets: [...object.targets, ...gateways], texts: [] }
  })
  const hosts = [...own, ...added].map((host) => withAnnotations(host, said))
  return tree.hasBindings
    ? withBindings(hosts, {
        isNamesOnly,
        portsOf: ({ name }) => listenerPorts(object, name, context),
      })
    : hosts
}

/** Returns the HTTPS listeners that serve a hostname: the object's own, or its Gateways'. */
function listenerPorts(
  object: HostObject,
  name: string,
  { gatewayOf }: HostContext,
): readonly SecurePort[] {
  const attached = object.gateways.flatMap((parent) => {
    const gateway = gatewayOf(parent.key)
    return gateway?.listeners.filter((one) => takes(gateway, one, { route: object, parent })) ?? []
  })
  // TLS of an Ingress needs the host itself (Kubernetes, "Ingress", TLS).
  const serving = [...object.listeners, ...attached].filter(({ hostname }) =>
    object.kind === 'Ingress' ? hostname === name : covers(hostname, name),
  )
  return serving.map(({ port }) => ({ service: 'https', protocol: 'TCP', port }))
}

type Attachment = { readonly route: HostObject; readonly parent: ParentGateway }

/**
 * Returns whether a listener takes a route that names its Gateway. A selector of namespaces counts
 * as met: their labels are not known here.
 */
function takes(gateway: HostObject, listener: Listener, { route, parent }: Attachment): boolean {
  const { name, port, kinds, isPrivate } = listener
  const isNamed = parent.listener === '' || parent.listener === name
  const isReachable = !isPrivate || route.namespace === gateway.namespace
  return isNamed && isReachable && (parent.port ?? port) === port && kinds.includes(route.kind)
}

/** Returns whether a listener's hostname, whose wildcard stands for many labels, has a name. */
function covers(hostname: string, name: string): boolean {
  const isWildcard = hostname.startsWith('*.')
  return hostname === '' || hostname === name || (isWildcard && name.endsWith(hostname.slice(1)))
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
function withAnnotations(host: Host, { targets, ttlSeconds }: HostAnnotations): Host {
  if (host.records !== undefined || host.texts.length > 0) return host
  return {
    ...host,
    ...(targets.length > 0 && { targets }),
    ...(ttlSeconds !== undefined && { ttlSeconds }),
  }
}

function serviceHosts(service: Service, context: HostContext): readonly Host[] {
  const { outside, clusterIPs } = service
  if (outside === undefined) return []
  const said = annotationsOf(service, context.tree.annotations)
  if (said.isForeign) return []
  const base = baseNames(service).map((name): Host => {
    return { name, targets: baseTargets(service, context), texts: [] }
  })
  const known = new Set(base.map(({ name }) => name))
  const added = said.hostnames
    .filter((name) => !known.has(name))
    .flatMap((name) => annotatedHosts(service, name, { context, said }))
  const inside = said.internalHostnames.map((name): Host => {
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
  name: string,
  { context, said }: { readonly context: HostContext; readonly said: HostAnnotations },
): Host[] {
  const { outside, isHeadless, externalName } = service
  if (outside === undefined) return []
  if (outside.nodePorts !== undefined) {
    const targets = nodeAddresses(context.nodes(), said.access)
    return [{ name, targets, texts: [] }, ...portHosts(service, name)]
  }
  if (outside.isLoadBalancer || outside.resolvesEndpoints || outside.externalIPs.length > 0) {
    return [{ name, targets: baseTargets(service, context), texts: [] }]
  }
  if (externalName !== '') return [{ name, targets: [externalName], texts: [] }]
  if (!isHeadless) return said.targets.length > 0 ? [{ name, targets: [], texts: [] }] : []
  return [{ name, targets: readyAddresses(context.slicesOf(service)), texts: [] }]
}

/** Returns the addresses of Nodes: those from outside, if there are any, unless `access` says. */
function nodeAddresses(nodes: Iterable<Node>, access: string): string[] {
  const all = [...nodes]
  const outer = all.flatMap(({ externalIPs }) => externalIPs)
  const inner = all.flatMap(({ internalIPs }) => internalIPs)
  if (access === 'private') return inner
  return access === 'public' || outer.length > 0 ? outer : inner
}

/** Returns an SRV record for each port of a NodePort Service, `_<service>._<protocol>.<name>`. */
function portHosts({ name: service, outside }: Service, name: string): Host[] {
  const target = parseName(name)
  return (outside?.nodePorts ?? []).flatMap(({ protocol, port }): Host[] => {
    if (target === undefined || port === undefined) return []
    const rdata = concatBytes(serviceNumbers(0, NODE_PORT_WEIGHT, port), target)
    const records: HostRecords[] = [{ type: TYPE.SRV, rdata: [rdata] }]
    return [
      { name: `_${service}._${protocol.toLowerCase()}.${name}`, targets: [], texts: [], records },
    ]
  })
}
