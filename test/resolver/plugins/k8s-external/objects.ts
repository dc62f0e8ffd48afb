/**
 * The cluster that tests of the `k8s_external` plugin ask about.
 * @module
 */
import { block, directive, type Server, serve } from '../../../ask.ts'
import { type FakeClusterOptions, GENERATION } from '../../../fake-cluster.ts'

/** A Namespace with Services that have something outside, and some that have not. */
export const OUTSIDE = `
- {kind: Namespace, metadata: {name: shop}}
- kind: Service
  metadata: {name: web, namespace: shop}
  spec: {type: LoadBalancer, clusterIP: 192.0.2.10, externalIPs: [203.0.113.1],
    ports: [{name: http, port: 80}, {name: https, port: 443}]}
  status: {loadBalancer: {ingress: [{ip: '2001:db8::1'}]}}
- kind: Service
  metadata: {name: out, namespace: shop}
  spec: {clusterIP: 192.0.2.11, ports: [{name: http, port: 80}]}
  status: {loadBalancer: {ingress: [{hostname: lb.example.net}]}}
- {kind: Service, metadata: {name: inside, namespace: shop}, spec: {clusterIP: 192.0.2.12}}
- {kind: Service, metadata: {name: db, namespace: shop}, spec: {clusterIP: None}}
- kind: EndpointSlice
  metadata: {name: db-1, namespace: shop, labels: {kubernetes.io/service-name: db}}
  endpoints: [{addresses: [198.51.100.1], hostname: db-0}, {addresses: [198.51.100.2]}]
  ports: [{name: sql, port: 5432}]
- {kind: Service, metadata: {name: dns, namespace: shop}, spec: {externalIPs: [203.0.113.53]}}
- kind: EndpointSlice
  metadata: {name: dns-1, namespace: shop, labels: {kubernetes.io/service-name: dns}}
  endpoints: [{addresses: [198.51.100.53]}]
`

/** A server for `ext.test`, reverse zones, and whatever a forwarder says of `lb.example.net`. */
export function serveExternal(
  options: readonly string[] = [],
  cluster: Partial<FakeClusterOptions> = {},
): Server {
  const external = directive('k8s_external ext.test in-addr.arpa', ...options)
  const plugins = [
    'ready',
    'transfer .',
    'kubernetes cluster.local',
    external,
    'forward . 192.0.2.53',
  ]
  const lines = plugins.map((line) => (line === 'transfer .' ? directive(line, 'to *') : line))
  return serve(block(...lines), {
    cluster: { objects: OUTSIDE, localAddresses: ['198.51.100.53'], ...cluster },
    upstream: ({ question }) => {
      const [name = '', , type = ''] = question.split(' ')
      if (name !== 'lb.example.net.') return ['NXDOMAIN aa ra']
      const rdata = type === 'A' ? '203.0.113.80' : '2001:db8::80'
      return ['NOERROR aa ra', `${name} 60 IN ${type} ${rdata}`]
    },
  })
}

/** The SOA record of a zone, without its section. */
export function soaOf(zone: string, ttlSeconds = 5, apex = 'dns'): string {
  const names = `ns1.${apex}.${zone}. hostmaster.${apex}.${zone}.`
  return `${zone}. ${ttlSeconds} IN SOA ${names} ${GENERATION} 7200 1800 86400 ${ttlSeconds}`
}

/** The SOA record of a zone in the authority section. */
export function denial(zone = 'ext.test', ttlSeconds = 5, apex = 'dns'): string {
  return `authority: ${soaOf(zone, ttlSeconds, apex)}`
}
