/**
 * Every field of objects that is read, and what it must be.
 * @module
 */
import { parse } from 'yaml'

/** What a field must be, in the words of a problem. */
export type Wanted = 'text' | 'a list' | 'an object' | 'true or false' | 'a port from 1 to 65535'

/** Values that a field of each type may not have. */
export const WRONG: Readonly<Record<Wanted, readonly unknown[]>> = {
  text: [0, 7, true, false, [], {}],
  'a list': ['', 'x', 0, 7, true, false, {}],
  'an object': ['', 'x', 0, 7, true, false, []],
  'true or false': ['', 'true', 0, 1, [], {}],
  'a port from 1 to 65535': ['', '80', 0, -1, 1.5, 65536, true, false, [], {}],
}

const META: Readonly<Record<string, Wanted>> = {
  apiVersion: 'text',
  metadata: 'an object',
  'metadata.name': 'text',
  'metadata.namespace': 'text',
  'metadata.labels': 'an object',
  'metadata.labels.tier': 'text',
}

const portFields = (list: string): Readonly<Record<string, Wanted>> => ({
  [list]: 'a list',
  [`${list}[0]`]: 'an object',
  [`${list}[0].name`]: 'text',
  [`${list}[0].protocol`]: 'text',
  [`${list}[0].port`]: 'a port from 1 to 65535',
})

const LOAD_BALANCER: Readonly<Record<string, Wanted>> = {
  status: 'an object',
  'status.loadBalancer': 'an object',
  'status.loadBalancer.ingress': 'a list',
  'status.loadBalancer.ingress[0]': 'an object',
  'status.loadBalancer.ingress[0].ip': 'text',
  'status.loadBalancer.ingress[0].hostname': 'text',
}

const routeOf = (kind: string): (typeof FIELDS)[number] => ({
  kind,
  object: parse(`
    kind: ${kind}
    metadata: { name: web, namespace: shop, labels: { tier: gold } }
    spec:
      hostnames: [web.example.org]
      parentRefs: [{ kind: Gateway, namespace: edge, name: main }]`),
  fields: {
    ...META,
    spec: 'an object',
    'spec.hostnames': 'a list',
    'spec.hostnames[0]': 'text',
    'spec.parentRefs': 'a list',
    'spec.parentRefs[0]': 'an object',
    'spec.parentRefs[0].kind': 'text',
    'spec.parentRefs[0].namespace': 'text',
    'spec.parentRefs[0].name': 'text',
  },
})

/** A good object of each kind, and its fields. */
export const FIELDS: readonly {
  readonly kind: string
  readonly object: unknown
  readonly fields: Readonly<Record<string, Wanted>>
}[] = [
  {
    kind: 'Namespace',
    object: parse('{ kind: Namespace, metadata: { name: shop, labels: { tier: gold } } }'),
    fields: META,
  },
  {
    kind: 'Service',
    object: parse(`
      kind: Service
      metadata: { name: web, namespace: shop, labels: { tier: gold } }
      spec:
        type: ExternalName
        externalName: www.example.org
        clusterIP: 192.0.2.1
        clusterIPs: [192.0.2.1]
        externalIPs: [203.0.113.1]
        ports: [{ name: http, port: 80, protocol: TCP }]
      status: { loadBalancer: { ingress: [{ ip: 203.0.113.2, hostname: lb.example.net }] } }`),
    fields: {
      ...META,
      'metadata.annotations': 'an object',
      ...LOAD_BALANCER,
      spec: 'an object',
      'spec.type': 'text',
      'spec.externalName': 'text',
      'spec.externalIPs': 'a list',
      'spec.externalIPs[0]': 'text',
      'spec.clusterIP': 'text',
      'spec.clusterIPs': 'a list',
      'spec.clusterIPs[0]': 'text',
      ...portFields('spec.ports'),
    },
  },
  {
    kind: 'EndpointSlice',
    object: parse(`
      kind: EndpointSlice
      metadata: { name: web, namespace: shop, labels: { tier: gold } }
      endpoints:
        - addresses: [192.0.2.1]
          hostname: web-0
          conditions: { ready: true }
          targetRef: { name: web-abc }
          zone: eu-1a
      ports: [{ name: http, port: 80, protocol: TCP }]`),
    fields: {
      ...META,
      endpoints: 'a list',
      'endpoints[0]': 'an object',
      'endpoints[0].addresses': 'a list',
      'endpoints[0].addresses[0]': 'text',
      'endpoints[0].hostname': 'text',
      'endpoints[0].conditions': 'an object',
      'endpoints[0].conditions.ready': 'true or false',
      'endpoints[0].targetRef': 'an object',
      'endpoints[0].targetRef.name': 'text',
      'endpoints[0].zone': 'text',
      'metadata.annotations': 'an object',
      ...portFields('ports'),
    },
  },
  {
    kind: 'Pod',
    object: parse(`
      kind: Pod
      metadata: { name: web, namespace: shop, labels: { tier: gold } }
      status: { phase: Running, podIP: 192.0.2.1 }`),
    fields: { ...META, status: 'an object', 'status.phase': 'text', 'status.podIP': 'text' },
  },
  {
    kind: 'ServiceImport',
    object: parse(`
      kind: ServiceImport
      metadata: { name: web, namespace: shop, labels: { tier: gold } }
      spec: { type: ClusterSetIP, ips: [192.0.2.1], ports: [{ name: http, port: 80, protocol: TCP }] }`),
    fields: {
      ...META,
      spec: 'an object',
      'spec.type': 'text',
      'spec.ips': 'a list',
      'spec.ips[0]': 'text',
      ...portFields('spec.ports'),
    },
  },
  {
    kind: 'Gateway',
    object: parse(`
      kind: Gateway
      metadata: { name: main, namespace: edge, labels: { tier: gold } }
      spec: { gatewayClassName: nginx }
      status: { addresses: [{ type: IPAddress, value: 203.0.113.1 }] }`),
    fields: {
      ...META,
      spec: 'an object',
      'spec.gatewayClassName': 'text',
      status: 'an object',
      'status.addresses': 'a list',
      'status.addresses[0]': 'an object',
      'status.addresses[0].value': 'text',
    },
  },
  {
    kind: 'Ingress',
    object: parse(`
      kind: Ingress
      metadata: { name: web, namespace: shop, labels: { tier: gold } }
      spec: { ingressClassName: nginx, rules: [{ host: web.example.org }] }
      status: { loadBalancer: { ingress: [{ ip: 203.0.113.2, hostname: lb.example.net }] } }`),
    fields: {
      ...META,
      ...LOAD_BALANCER,
      spec: 'an object',
      'spec.ingressClassName': 'text',
      'spec.rules': 'a list',
      'spec.rules[0]': 'an object',
      'spec.rules[0].host': 'text',
    },
  },
  routeOf('HTTPRoute'),
  routeOf('GRPCRoute'),
  routeOf('TLSRoute'),
  {
    kind: 'VirtualServer',
    object: parse(`
      kind: VirtualServer
      metadata: { name: web, namespace: shop, labels: { tier: gold } }
      spec: { host: web.example.org }
      status: { externalEndpoints: [{ ip: 203.0.113.1, hostname: lb.example.net }] }`),
    fields: {
      ...META,
      spec: 'an object',
      'spec.host': 'text',
      status: 'an object',
      'status.externalEndpoints': 'a list',
      'status.externalEndpoints[0]': 'an object',
      'status.externalEndpoints[0].ip': 'text',
    },
  },
  {
    kind: 'DNSEndpoint',
    object: parse(`
      kind: DNSEndpoint
      metadata: { name: web, namespace: shop, labels: { tier: gold } }
      spec: { endpoints: [{ dnsName: a.example.org, recordType: A, targets: [203.0.113.1] }] }`),
    fields: {
      ...META,
      spec: 'an object',
      'spec.endpoints': 'a list',
      'spec.endpoints[0]': 'an object',
      'spec.endpoints[0].dnsName': 'text',
      'spec.endpoints[0].recordType': 'text',
      'spec.endpoints[0].targets': 'a list',
      'spec.endpoints[0].targets[0]': 'text',
    },
  },
  {
    kind: 'Node',
    object: parse(`
      kind: Node
      metadata: { name: a, namespace: shop, labels: { tier: gold } }
      status: { addresses: [{ type: Hostname, address: a }] }`),
    fields: {
      ...META,
      status: 'an object',
      'status.addresses': 'a list',
      'status.addresses[0]': 'an object',
      'status.addresses[0].type': 'text',
      'status.addresses[0].address': 'text',
    },
  },
]

/** A copy of an object with another value in one place, such as `spec.ports[0].name`. */
export function replaced(object: unknown, path: string, value: unknown): unknown {
  return replacedAt(object, path.match(/\w+/g) ?? [], value)
}

function replacedAt(object: unknown, keys: readonly string[], value: unknown): unknown {
  const [key, ...rest] = keys
  if (key === undefined) return value
  if (Array.isArray(object)) {
    return object.map((item, i) => (String(i) === key ? replacedAt(item, rest, value) : item))
  }
  const entries = Object.entries(object ?? {})
  if (!entries.some(([name]) => name === key)) entries.push([key, undefined])
  return Object.fromEntries(
    entries.map(([name, item]) => [name, name === key ? replacedAt(item, rest, value) : item]),
  )
}
