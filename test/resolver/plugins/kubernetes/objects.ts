/**
 * The cluster that tests of the `kubernetes` plugin ask about.
 * @module
 */
import { GENERATION } from '../../../fake-cluster.ts'

/** Two Namespaces with one of each kind of Service, and Pods. */
export const SHOP = `
- {kind: Namespace, metadata: {name: shop}}
- {kind: Namespace, metadata: {name: empty}}
# A Service with a cluster IP, two ports, one ready endpoint and one that is not.
- kind: Service
  metadata: {name: web, namespace: shop}
  spec: {clusterIP: 192.0.2.10, ports: [{name: http, port: 80}, {name: https, port: 443}]}
- kind: EndpointSlice
  metadata: {name: web-1, namespace: shop, labels: {kubernetes.io/service-name: web}}
  endpoints:
    - {addresses: [198.51.100.1], targetRef: {name: web-a}}
    - {addresses: [198.51.100.2], conditions: {ready: false}}
  ports: [{name: http, port: 8080}]
# A Service of both families, without ports.
- kind: Service
  metadata: {name: dual, namespace: shop}
  spec: {clusterIPs: [192.0.2.20, '2001:db8::20']}
# A headless Service of both families.
- kind: Service
  metadata: {name: db, namespace: shop}
  spec: {clusterIP: None}
- kind: EndpointSlice
  metadata: {name: db-1, namespace: shop, labels: {kubernetes.io/service-name: db}}
  endpoints:
    - {addresses: [198.51.100.11], hostname: db-0}
    - {addresses: [198.51.100.12]}
  ports: [{name: sql, port: 5432}]
- kind: EndpointSlice
  metadata: {name: db-2, namespace: shop, labels: {kubernetes.io/service-name: db}}
  endpoints: [{addresses: ['2001:db8::11'], hostname: db-0}]
  ports: [{name: sql, port: 5432}]
# A headless Service without ready endpoints.
- {kind: Service, metadata: {name: idle, namespace: shop}, spec: {clusterIP: None}}
- kind: Pod
  metadata: {name: web-a, namespace: shop}
  status: {phase: Running, podIP: 198.51.100.1}
- kind: Pod
  metadata: {name: old, namespace: shop}
  status: {phase: Succeeded, podIP: 198.51.100.9}
`

/** ExternalName Services, by what their names lead to. */
export function aliases(targets: Readonly<Record<string, string>>): string {
  const services = Object.entries(targets).map(
    ([name, target]) =>
      `- {kind: Service, metadata: {name: ${name}, namespace: shop}, ` +
      `spec: {type: ExternalName, externalName: ${target}}}`,
  )
  return `${SHOP}${services.join('\n')}\n`
}

/** The SOA record of a zone with a TTL, in the authority section. */
export function soa(zone: string = 'cluster.local', ttlSeconds: number = 5): string {
  const names = `ns.dns.${zone}. hostmaster.${zone}.`
  const numbers = `${GENERATION} 7200 1800 86400 ${ttlSeconds}`
  return `authority: ${zone}. ${Math.min(ttlSeconds, 300)} IN SOA ${names} ${numbers}`
}
