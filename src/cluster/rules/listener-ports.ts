/**
 * The HTTPS listeners that serve a hostname: the object's own, or its Gateways'.
 * @module
 */
import type { GatewayListener, HostObject, ParentGateway, SecurePort } from '../objects/objects.ts'

/**
 * Returns a function that finds the HTTPS ports of a hostname of an object. An object can have tens
 * of thousands of hostnames and of listeners, so each hostname is looked up.
 * @param gatewayOf finds a Gateway by its `namespace/name`
 */
export function listenerPorts(
  object: HostObject,
  gatewayOf: (key: string) => HostObject | undefined,
): (name: string) => readonly SecurePort[] {
  const attached = object.gateways.flatMap((parent) => {
    const gateway = gatewayOf(parent.key)
    return gateway?.listeners.filter((one) => takes(gateway, one, { route: object, parent })) ?? []
  })
  const byHostname = new Map<string, Set<number>>()
  for (const { hostname, port } of [...object.listeners, ...attached]) {
    const ports = byHostname.get(hostname) ?? new Set()
    byHostname.set(hostname, ports.add(port))
  }
  const portsOf = (hostnames: readonly string[]): SecurePort[] => {
    const ports = new Set(hostnames.flatMap((one) => [...(byHostname.get(one) ?? [])]))
    return Array.from(ports, (port) => ({ service: 'https', protocol: 'TCP', port }))
  }
  // TLS of an Ingress needs the host itself (Kubernetes, "Ingress", TLS).
  const isAlone = object.kind === 'Ingress'
  return (name) => portsOf(isAlone ? [name] : ['', name, ...wildcardsOver(name)])
}

type Attachment = { readonly route: HostObject; readonly parent: ParentGateway }

/**
 * Returns whether a listener takes a route that names its Gateway. A selector of namespaces counts
 * as met: their labels are not known here.
 */
function takes(
  gateway: HostObject,
  listener: GatewayListener,
  { route, parent }: Attachment,
): boolean {
  const { name, port, kinds, isPrivate } = listener
  const isNamed = parent.listener === '' || parent.listener === name
  const isReachable = !isPrivate || route.namespace === gateway.namespace
  return isNamed && isReachable && (parent.port ?? port) === port && kinds.includes(route.kind)
}

/** Returns the wildcards that stand for a name; one stands for many labels. */
function wildcardsOver(name: string): string[] {
  const wildcards: string[] = []
  for (let at = name.indexOf('.'); at >= 0; at = name.indexOf('.', at + 1)) {
    wildcards.push(`*${name.slice(at)}`)
  }
  return wildcards
}
