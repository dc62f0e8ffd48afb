/**
 * Parses objects with hostnames: Ingresses, routes and Gateways (Gateway API), VirtualServers
 * (k8s.nginx.org), DNSEndpoints (external-dns), Nodes.
 * @module
 */

import { objectKey } from './cluster.ts'
import type { Fields } from './object-fields.ts'
import type { Gateway, Host, HostKind, HostObject, Node, Outside } from './objects.ts'

/** Parses a Gateway. */
export function parseGateway(fields: Fields): Gateway {
  return {
    kind: 'Gateway',
    ...fields.meta(),
    className: fields.child('spec').text('gatewayClassName'),
    targets: present(
      fields
        .child('status')
        .children('addresses')
        .map((at) => at.text('value')),
    ),
  }
}

/** Parses an Ingress: the host of each rule points to the load balancer. */
export function parseIngress(fields: Fields): HostObject {
  const spec = fields.child('spec')
  const names = spec.children('rules').map((rule) => rule.text('host'))
  const targets = parseIngressStatus(fields).map(({ ip, hostname }) => hostname || ip)
  return hostObject('Ingress', fields, {
    className: spec.text('ingressClassName'),
    hosts: hostsOf(names, present(targets)),
  })
}

/** Parses the addresses of a load balancer. */
export function parseIngressStatus(fields: Fields): Outside['ingress'] {
  const entries = fields.child('status').child('loadBalancer').children('ingress')
  return entries.map((entry) => ({ ip: entry.text('ip'), hostname: entry.text('hostname') }))
}

/** Returns a parser for routes of a kind, whose hostnames point to their parent Gateways. */
export function parseRoute(
  kind: 'HTTPRoute' | 'GRPCRoute' | 'TLSRoute',
): (fields: Fields) => HostObject {
  return (fields) => {
    const spec = fields.child('spec')
    const { namespace } = fields.meta()
    const gateways = spec.children('parentRefs').flatMap((parent) => {
      if ((parent.text('kind') || 'Gateway') !== 'Gateway') return []
      const name = parent.text('name')
      return [objectKey({ namespace: parent.text('namespace') || namespace, name })]
    })
    return hostObject(kind, fields, { hosts: hostsOf(spec.texts('hostnames'), []), gateways })
  }
}

/** Parses a VirtualServer of NGINX's ingress controller. */
export function parseVirtualServer(fields: Fields): HostObject {
  const ends = fields.child('status').children('externalEndpoints')
  const targets = ends.map((end) => end.text('ip') || end.text('hostname'))
  const hosts = hostsOf([fields.child('spec').text('host')], present(targets))
  return hostObject('VirtualServer', fields, { hosts })
}

/** Parses a DNSEndpoint: records of the types A, AAAA, CNAME and TXT. */
export function parseDnsEndpoint(fields: Fields): HostObject {
  const endpoints = fields.child('spec').children('endpoints')
  return hostObject('DNSEndpoint', fields, { hosts: endpoints.flatMap(parseHost) })
}

function parseHost(endpoint: Fields): Host[] {
  const targets = present(endpoint.texts('targets'))
  const name = endpoint.text('dnsName').toLowerCase().replace(/\.$/, '')
  switch (endpoint.text('recordType')) {
    case 'A':
    case 'AAAA':
    case 'CNAME':
      return [{ name, targets, texts: [] }]
    case 'TXT':
      return [{ name, targets: [], texts: targets }]
    default:
      return []
  }
}

/** Parses a Node; its names are the hostnames among its addresses. */
export function parseNode(fields: Fields): Node {
  const addresses = fields.child('status').children('addresses')
  const ofType = (type: string): string[] =>
    addresses.filter((at) => at.text('type') === type).map((at) => at.text('address'))
  return {
    kind: 'Node',
    ...fields.meta(),
    namespace: '',
    createdMs: fields.createdMs(),
    hostnames: ofType('Hostname').map((name) => name.toLowerCase()),
    internalIPs: ofType('InternalIP'),
    externalIPs: ofType('ExternalIP'),
  }
}

function hostObject(
  kind: HostKind,
  fields: Fields,
  some: Partial<HostObject> & Pick<HostObject, 'hosts'>,
): HostObject {
  const createdMs = fields.createdMs()
  return { kind, ...fields.meta(), createdMs, className: '', gateways: [], ...some }
}

function hostsOf(names: readonly string[], targets: readonly string[]): Host[] {
  return present(names).map((name) => ({ name: name.toLowerCase(), targets, texts: [] }))
}

function present(texts: readonly string[]): string[] {
  return texts.filter((text) => text !== '')
}
