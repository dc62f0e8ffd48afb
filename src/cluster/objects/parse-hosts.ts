/**
 * Parses objects with hostnames: Ingresses, routes and Gateways (Gateway API), Routes (OpenShift),
 * VirtualServers (k8s.nginx.org), Nodes.
 * @module
 */
import { mapInSteps, type Steps } from '../../dns/bytes/steps.ts'
import type { Coverage } from '../../snapshot/records/host-claims.ts'
import { objectKey } from './cluster.ts'
import { countHosts, HOSTS_MAX } from './host-bounds.ts'
import { FieldError, type Fields } from './object-fields.ts'
import type {
  GatewayListener,
  HostKind,
  HostName,
  HostObject,
  NodeObject,
  Outside,
} from './objects.ts'

/** Names of external-dns's annotations, without their prefix. */
export const ANNOTATIONS: ReadonlySet<string> = new Set([
  'hostname',
  'internal-hostname',
  'target',
  'ttl',
  'controller',
  'access',
  'ingress-hostname-source',
  'gateway-hostname-source',
])

/** Parses a Gateway: the hostnames of its listeners point to its addresses. */
export function* parseGateway(fields: Fields): Steps<HostObject> {
  const spec = fields.child('spec')
  spec.checkLength('listeners', HOSTS_MAX)
  const addresses = fields.child('status').children('addresses')
  const targets = present(addresses.map((at) => at.text('value')))
  const listeners = spec.children('listeners')
  const names = yield* mapInSteps(listeners, (listener) => listener.text('hostname'))
  const secured = yield* mapInSteps(listeners, parseListener)
  return hostObject('Gateway', fields, {
    className: spec.text('gatewayClassName'),
    targets,
    hosts: yield* hostsOf(names, targets, 'suffix'),
    listeners: secured.flat(),
  })
}

/** Most parents of a route; the Gateway API allows 32. */
const PARENTS_MAX = 100

/** The API group of Gateways and their routes. */
const GATEWAY_API = 'gateway.networking.k8s.io'
/** The kinds of routes that a listener with the protocol HTTPS takes unless it lists some. */
const HTTPS_ROUTES: readonly string[] = ['HTTPRoute', 'GRPCRoute']

function parseListener(listener: Fields): GatewayListener[] {
  const port = listener.port('port')
  if (listener.text('protocol') !== 'HTTPS' || port === undefined) return []
  const allowed = listener.child('allowedRoutes')
  const listed = allowed.children('kinds').map((one) => one.text('kind'))
  const from = allowed.child('namespaces').text('from') || 'Same'
  return [
    {
      name: listener.text('name'),
      port,
      hostname: listener.text('hostname').toLowerCase(),
      kinds: listed.length > 0 ? listed : HTTPS_ROUTES,
      isPrivate: from === 'Same',
    },
  ]
}

/** Ingresses have TLS at port 443 only, and no other objects attached. */
const TLS_LISTENER = { name: '', port: 443, kinds: [], isPrivate: true } as const

/** Parses an Ingress: the host of each rule points to the load balancer. */
export function* parseIngress(fields: Fields): Steps<HostObject> {
  const spec = fields.child('spec')
  spec.checkLength('rules', HOSTS_MAX)
  const names = yield* mapInSteps(spec.children('rules'), (rule) => rule.text('host'))
  const targets = present(parseIngressStatus(fields).map(({ ip, hostname }) => hostname || ip))
  const secured = present(spec.children('tls').flatMap((tls) => tls.texts('hosts')))
  return hostObject('Ingress', fields, {
    className: spec.text('ingressClassName'),
    targets,
    hosts: yield* hostsOf(names, targets, 'label'),
    listeners: secured.map((host) => ({ ...TLS_LISTENER, hostname: host.toLowerCase() })),
  })
}

/** Parses the addresses of a load balancer. */
export function parseIngressStatus(fields: Fields): Outside['ingress'] {
  const entries = ingressEntries(fields)
  return entries.map((entry) => ({ ip: entry.text('ip'), hostname: entry.text('hostname') }))
}

/** Returns the entries of `status.loadBalancer.ingress`. */
export function ingressEntries(fields: Fields): readonly Fields[] {
  return fields.child('status').child('loadBalancer').children('ingress')
}

/** Returns a parser for routes of a kind, whose hostnames point to their parent Gateways. */
export function parseRoute(
  kind: 'HTTPRoute' | 'GRPCRoute' | 'TLSRoute' | 'TCPRoute' | 'UDPRoute',
): (fields: Fields) => Steps<HostObject> {
  return function* (fields) {
    const spec = fields.child('spec')
    spec.checkLength('hostnames', HOSTS_MAX)
    spec.checkLength('parentRefs', PARENTS_MAX)
    const { namespace } = fields.meta()
    const gateways = spec.children('parentRefs').flatMap((parent) => {
      if ((parent.text('kind') || 'Gateway') !== 'Gateway') return []
      if ((parent.text('group') || GATEWAY_API) !== GATEWAY_API) return []
      const name = parent.text('name')
      const key = objectKey({ namespace: parent.text('namespace') || namespace, name })
      return [{ key, listener: parent.text('sectionName'), port: parent.port('port') }]
    })
    return hostObject(kind, fields, {
      hosts: yield* hostsOf(spec.texts('hostnames'), [], 'suffix'),
      gateways,
    })
  }
}

/** Parses a VirtualServer of NGINX's ingress controller. */
export function* parseVirtualServer(fields: Fields): Steps<HostObject> {
  const ends = fields.child('status').children('externalEndpoints')
  const targets = present(ends.map((end) => end.text('ip') || end.text('hostname')))
  const hosts = yield* hostsOf([fields.child('spec').text('host')], targets, 'suffix')
  return hostObject('VirtualServer', fields, { targets, hosts })
}

/** Parses a Route of OpenShift: its host points to the routers that admitted it. */
export function* parseOpenShiftRoute(fields: Fields): Steps<HostObject> {
  const routers = fields.child('status').children('ingress')
  const admitted = routers.filter((router) =>
    router
      .children('conditions')
      .some((one) => one.text('type') === 'Admitted' && one.text('status') === 'True'),
  )
  const targets = present(admitted.map((router) => router.text('routerCanonicalHostname')))
  const names = [
    fields.child('spec').text('host'),
    ...admitted.map((router) => router.text('host')),
  ]
  return hostObject('Route', fields, { targets, hosts: yield* hostsOf(names, targets, 'label') })
}

/** Parses a Node; its names are the hostnames among its addresses. */
export function parseNode(fields: Fields): NodeObject {
  const addresses = fields.child('status').children('addresses')
  const ofType = (type: string): string[] =>
    addresses.filter((at) => at.text('type') === type).map((at) => at.text('address'))
  return {
    kind: 'Node',
    ...fields.meta(),
    namespace: '',
    ...fields.created(),
    hostnames: ofType('Hostname').map((name) => name.toLowerCase()),
    internalIPs: ofType('InternalIP'),
    externalIPs: ofType('ExternalIP'),
  }
}

/**
 * Returns an object with hostnames; `some` are its fields beyond those of every object.
 * @throws {FieldError} if it has too many
 */
export function hostObject(
  kind: HostKind,
  fields: Fields,
  some: Partial<HostObject> & Pick<HostObject, 'hosts'>,
): HostObject {
  const object: HostObject = {
    kind,
    ...fields.meta(),
    ...fields.created(),
    className: '',
    targets: [],
    gateways: [],
    listeners: [],
    annotations: fields.annotations(ANNOTATIONS),
    ...some,
  }
  const { problem } = countHosts(object)
  if (problem !== undefined) throw new FieldError(problem)
  return object
}

/** @param coverage how far the kind's own wildcards reach */
function hostsOf(
  names: readonly string[],
  targets: readonly string[],
  coverage: Coverage,
): Steps<HostName[]> {
  const unique = new Set(present(names).map((name) => name.toLowerCase()))
  return mapInSteps([...unique], (name): HostName => {
    return { name, targets, texts: [], ...(name.startsWith('*') && { coverage }) }
  })
}

function present(texts: readonly string[]): string[] {
  return texts.filter((text) => text !== '')
}
