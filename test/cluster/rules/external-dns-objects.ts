/**
 * Objects of the examples of external-dns, as YAML.
 * @module
 */

const METADATA = 'metadata: { name: foo, namespace: testing'
const PREFIX = 'external-dns.alpha.kubernetes.io'

/** An Ingress with hosts, the entries of its status and annotations, all as YAML. */
export function ingress(hosts: string, entries: string, annotations = '', spec = ''): string {
  const rules = hosts.split(' ').map((host) => `{ host: "${host}" }`)
  return `
- kind: Ingress
  ${METADATA}, annotations: { ${annotations} } }
  spec: { rules: [${hosts === '' ? '' : rules.join(', ')}], ${spec} }
  status: { loadBalancer: { ingress: [${entries}] } }`
}

/** A Service with its type, annotations, and more of its spec and status. */
export function service(
  type: string,
  annotations: string,
  spec = '',
  entries = '{ ip: 192.0.2.1 }',
): string {
  return `
- kind: Service
  ${METADATA}, annotations: { ${annotations} } }
  spec: { type: ${type}, ${spec} }
  status: { loadBalancer: { ingress: [${entries}] } }`
}

/** A Gateway with the hostnames of its listeners. */
export function gateway(name: string, address: string, listeners = '', more = ''): string {
  const all = listeners
    .split(' ')
    .map((host, i) => `{ name: l${i}, protocol: HTTP, port: 80, hostname: "${host}" }`)
  return `
- kind: Gateway
  metadata: { name: ${name}, namespace: testing, ${more} }
  spec: { listeners: [${all.join(', ')}] }
  status: { addresses: [{ type: IPAddress, value: ${address} }] }`
}

/** A route with hostnames, attached to Gateways. */
export function route(hosts: string, parents: string, more = '', kind = 'HTTPRoute'): string {
  const names = hosts
    .split(' ')
    .filter((host) => host !== '')
    .map((host) => `"${host}"`)
  return `
- kind: ${kind}
  ${METADATA}, ${more} }
  spec: { hostnames: [${names.join(', ')}], parentRefs: [${parents}] }
  status: { parents: [${parents.replaceAll('{', '{ parentRef: {').replaceAll('}', '}, conditions: [{ type: Accepted, status: "True" }] }')}] }`
}

/** A DNSEndpoint with one endpoint. */
export function endpoint(fields: string): string {
  return `
- kind: DNSEndpoint
  ${METADATA} }
  spec: { endpoints: [{ ${fields} }] }`
}

/** An annotation. */
export const note = (name: string, value: string): string => `${PREFIX}/${name}: "${value}"`
/** Two Nodes with external and internal addresses. */
export const NODES: string = `
- kind: Node
  metadata: { name: node1 }
  status: { addresses: [{ type: ExternalIP, address: 192.0.2.11 }, { type: InternalIP, address: 10.0.1.1 }] }
- kind: Node
  metadata: { name: node2 }
  status: { addresses: [{ type: ExternalIP, address: 192.0.2.12 }, { type: InternalIP, address: 10.0.1.2 }] }`
