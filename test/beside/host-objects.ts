/**
 * Seeded objects with hostnames, of each kind that k8s_gateway knows, and queries about them.
 * @module
 */

import type { ApiObject } from '../real-cluster/api-server.ts'
import type { QuestionText } from '../real-cluster/asking.ts'
import { service, slice } from '../real-cluster/objects.ts'
import { pickFrom, type Random, someFrom } from '../views/random.ts'

/** The seed, another one by KUBEDOH_BESIDE_SEED. */
export const SEED: number = Number(process.env.KUBEDOH_BESIDE_SEED ?? 1)
/** Number of queries. */
export const QUERIES = 2000
/** The zones of the server. */
export const ZONES: readonly string[] = ['gw.test', 'b.test']
/** Label of hostnames that objects of several namespaces claim. */
export const SHARED = 'shared'
/** Label of hostnames of routes with a parent after one of another namespace. */
export const CARRIED = 'carried'
/** Label of hostnames of a DNSEndpoint that has several. */
export const SEVERAL = 'several'

const NAMESPACES = ['shop', 'blog']
const GATEWAY_API = 'gateway.networking.k8s.io/v1'
const ROUTES = ['HTTPRoute', 'GRPCRoute', 'TLSRoute'] as const
/** Mostly those that the project knows. */
const TYPES = 'A A A A A A AAAA AAAA AAAA TXT TXT TXT SOA NS MX CNAME SRV HTTPS'.split(' ')
const OBJECTS = 90

/** An object, and the status that the API server takes apart from it. */
export type WithStatus = { readonly object: ApiObject; readonly status?: object }

/** Objects, and the hostnames in them. */
export type Drawn = { readonly objects: readonly WithStatus[]; readonly hosts: readonly string[] }

type Draw = {
  readonly random: Random
  readonly hosts: Set<string>
  /** Number of the object. */
  readonly at: number
}
type Meta = { readonly name: string; readonly namespace: string }

/** Draws the objects. */
export function drawObjects(random: Random): Drawn {
  const hosts = new Set<string>()
  const objects = gateways(random)
  for (let at = 0; at < OBJECTS; at++) {
    objects.push(...pickFrom(random, KINDS)({ random, hosts, at }))
  }
  return { objects, hosts: [...hosts] }
}

/** Draws queries: hostnames as they are, and with labels added, removed or in capitals. */
export function* drawQuestions(
  random: Random,
  hosts: readonly string[],
  count: number,
): Generator<QuestionText> {
  const names = [...hosts, ...ZONES, 'dns1.kube-system.gw.test', 'x.dns1.kube-system.gw.test']
  for (let i = 0; i < count; i++) {
    const host = pickFrom(random, names)
    const name = ZONES.some((zone) => host.endsWith(zone))
      ? host
      : `${host}.${pickFrom(random, ZONES)}`
    const [, ...above] = name.split('.')
    const asked = pickFrom(random, [
      ...[name, name, name, name, name, name, name],
      name.toUpperCase(),
      `x.${name}`,
      name.replace('*', 'any'),
      above.length > 2 ? above.join('.') : name,
      `none-${i}.${pickFrom(random, ZONES)}`,
    ])
    yield `${asked}. ${pickFrom(random, TYPES)}`
  }
}

const KINDS = [ingress, route, route, balanced, withEndpoints, endpoint, severalEndpoints, node]

function gateways(random: Random): WithStatus[] {
  return NAMESPACES.flatMap((namespace) =>
    [0, 1, 2].map((at): WithStatus => {
      const addresses = addressesOf(random).map((value) => ({ type: 'IPAddress', value }))
      const spec = { gatewayClassName: 'any', listeners: [] }
      const metadata = { name: `gateway-${at}`, namespace }
      return { object: { ...of('Gateway', GATEWAY_API, metadata, spec), status: { addresses } } }
    }),
  )
}

function ingress(draw: Draw): WithStatus[] {
  const names = hostsOf(draw)
  const http = {
    paths: [
      {
        path: '/',
        pathType: 'Prefix',
        backend: { service: { name: 'web', port: { number: 80 } } },
      },
    ],
  }
  const spec = { rules: names.map((host) => ({ host, http })) }
  const object = of('Ingress', 'networking.k8s.io/v1', metaOf(draw), spec)
  return [{ object, status: balancerOf(draw.random) }]
}

function route(draw: Draw): WithStatus[] {
  const { random, at, hosts } = draw
  const metadata = metaOf(draw)
  const other = NAMESPACES.find((one) => one !== metadata.namespace)
  const first = { name: `gateway-${Math.floor(random() * 4)}` }
  const second = { name: 'gateway-0', namespace: other }
  const isCarried = random() < 0.1
  const parentRefs = isCarried ? [second, first] : [first, second].filter(() => random() < 0.7)
  const hostnames = isCarried ? [`${CARRIED}-${at}.gw.test`] : hostsOf(draw)
  for (const host of hostnames) hosts.add(host)
  return [
    { object: of(pickFrom(random, ROUTES), GATEWAY_API, metadata, { hostnames, parentRefs }) },
  ]
}

function balanced(draw: Draw): WithStatus[] {
  const { random, hosts } = draw
  const metadata = metaOf(draw)
  const externalIPs = random() < 0.3 ? ['198.51.100.7'] : []
  const object = service(pathOf(metadata), { type: 'LoadBalancer', externalIPs })
  const names = random() < 0.5 ? hostsOf(draw) : undefined
  if (names === undefined) hosts.add(`${metadata.name}.${metadata.namespace}`)
  const key = pickFrom(random, ['coredns.io/hostname', 'external-dns.alpha.kubernetes.io/hostname'])
  const annotations = names === undefined ? {} : { [key]: names.join(', ') }
  return [{ object: annotated(object, annotations), status: balancerOf(random) }]
}

function withEndpoints(draw: Draw): WithStatus[] {
  const { random, hosts, at } = draw
  const metadata = metaOf(draw)
  hosts.add(`${metadata.name}.${metadata.namespace}`)
  const object = service(pathOf(metadata), { clusterIP: 'None' })
  const endpoints = [1, 2].map((i) => {
    return { addresses: [`10.244.${at}.${i}`], conditions: { ready: random() < 0.7 } }
  })
  return [
    { object: annotated(object, { 'k8s-gateway.dns/resolve-endpoints': 'true' }) },
    { object: slice(`${pathOf(metadata)}-1`, metadata.name, endpoints) },
  ]
}

function endpoint(draw: Draw): WithStatus[] {
  const [dnsName = ''] = hostsOf(draw)
  return [endpointsOf(draw, [{ dnsName, ...recordsOf(draw.random) }])]
}

/** A DNSEndpoint with several hostnames. */
function severalEndpoints(draw: Draw): WithStatus[] {
  const names = [0, 1].map((i) => `${SEVERAL}-${draw.at}-${i}.gw.test`)
  for (const name of names) draw.hosts.add(name)
  return [
    endpointsOf(
      draw,
      names.map((dnsName) => ({ dnsName, ...recordsOf(draw.random) })),
    ),
  ]
}

function endpointsOf(draw: Draw, endpoints: readonly object[]): WithStatus {
  return { object: of('DNSEndpoint', 'externaldns.k8s.io/v1alpha1', metaOf(draw), { endpoints }) }
}

function recordsOf(random: Random): object {
  const ipv4 = addressesOf(random).filter((text) => !text.includes(':'))
  return pickFrom(random, [
    { recordType: 'A', targets: ipv4 },
    { recordType: 'AAAA', targets: ['2001:db8::5'] },
    { recordType: 'TXT', targets: ['one text', 'another'] },
    { recordType: 'TXT', targets: ['x'.repeat(300)] },
  ])
}

function node({ random, hosts, at }: Draw): WithStatus[] {
  const name = `node-${at}`
  hosts.add(name)
  const addresses = [
    { type: 'Hostname', address: name },
    ...addressesOf(random).map((address) => ({ type: 'InternalIP', address })),
    { type: 'ExternalIP', address: '203.0.113.99' },
  ]
  return [{ object: { apiVersion: 'v1', kind: 'Node', metadata: { name } }, status: { addresses } }]
}

function metaOf({ random, at }: Draw): Meta {
  return { name: `object-${at}`, namespace: pickFrom(random, NAMESPACES) }
}

function pathOf({ namespace, name }: Meta): string {
  return `${namespace}/${name}`
}

function of(kind: string, apiVersion: string, metadata: Meta, spec: object): ApiObject {
  return { apiVersion, kind, metadata, spec } as ApiObject
}

function annotated(object: ApiObject, annotations: object): ApiObject {
  return { ...object, metadata: { ...object.metadata, annotations } } as ApiObject
}

/** Draws hostnames: most of them of one object, some of two objects, some wildcards. */
function hostsOf({ random, hosts, at }: Draw): string[] {
  const zone = pickFrom(random, [...ZONES, ...ZONES, 'elsewhere.test'])
  const own = pickFrom(random, [
    `web-${at}.${zone}`,
    `a.b-${at}.${zone}`,
    `*.wild-${at}.${zone}`,
    `deep.wild-${at - 1}.gw.test`,
    `${SHARED}-${Math.floor(random() * 4)}.gw.test`,
  ])
  const names = [...new Set([own, ...someFrom(random, [`more-${at}.${zone}`], 1)])]
  for (const name of names) hosts.add(name)
  return names
}

function balancerOf(random: Random): object {
  return { loadBalancer: { ingress: addressesOf(random).map((ip) => ({ ip })) } }
}

function addressesOf(random: Random): string[] {
  const all = ['203.0.113.1', '203.0.113.2', '203.0.113.3', '2001:db8::1', '2001:db8::2']
  // Some have none yet.
  return random() < 0.1 ? [] : [...new Set([pickFrom(random, all), ...someFrom(random, all, 2)])]
}
