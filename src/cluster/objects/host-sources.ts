/**
 * The kinds of objects with hostnames: where the API serves each, and how it is parsed. A new kind
 * is an entry here, with its parser, and a name in `HOST_RESOURCES` (`corefile/cluster-tree.ts`).
 * @module
 */

import type { HostResource } from '../../corefile/cluster-tree.ts'
import type { Steps } from '../../dns/bytes/steps.ts'
import type { Fields } from './object-fields.ts'
import type { ClusterObject } from './objects.ts'
import { HOSTNAMES_LABEL, parseConfigMap } from './parse-config-map.ts'
import { parseDnsEndpoint } from './parse-dns-endpoint.ts'
import { parseDnsRecord } from './parse-dns-record.ts'
import { parseHostRoute } from './parse-host-route.ts'
import {
  parseGateway,
  parseIngress,
  parseNode,
  parseOpenShiftRoute,
  parseRoute,
  parseVirtualServer,
} from './parse-hosts.ts'

/** A kind of objects with hostnames. */
export type HostSourceEntry = {
  /** API group; '' for the core. */
  readonly group: string
  /** Plural name, as in RBAC rules. */
  readonly resource: string
  /** The newest first. */
  readonly versions: readonly string[]
  /** Returns the object, or the steps that parse a large one. */
  readonly parse: (fields: Fields) => ClusterObject | Steps<ClusterObject>
  /** The label of those that have hostnames; all when absent. */
  readonly labelSelector?: string
}

const GATEWAY_API = 'gateway.networking.k8s.io'

/** The kinds, but for Services, which give other names, too. */
export const HOST_SOURCES: Readonly<Record<Exclude<HostResource, 'Service'>, HostSourceEntry>> = {
  Ingress: {
    group: 'networking.k8s.io',
    resource: 'ingresses',
    versions: ['v1'],
    parse: parseIngress,
  },
  Gateway: {
    group: GATEWAY_API,
    resource: 'gateways',
    versions: ['v1', 'v1beta1'],
    parse: parseGateway,
  },
  HTTPRoute: {
    group: GATEWAY_API,
    resource: 'httproutes',
    versions: ['v1', 'v1beta1'],
    parse: parseRoute('HTTPRoute'),
  },
  GRPCRoute: {
    group: GATEWAY_API,
    resource: 'grpcroutes',
    versions: ['v1', 'v1alpha2'],
    parse: parseRoute('GRPCRoute'),
  },
  TLSRoute: {
    group: GATEWAY_API,
    resource: 'tlsroutes',
    versions: ['v1', 'v1alpha3', 'v1alpha2'],
    parse: parseRoute('TLSRoute'),
  },
  TCPRoute: {
    group: GATEWAY_API,
    resource: 'tcproutes',
    versions: ['v1alpha2'],
    parse: parseRoute('TCPRoute'),
  },
  UDPRoute: {
    group: GATEWAY_API,
    resource: 'udproutes',
    versions: ['v1alpha2'],
    parse: parseRoute('UDPRoute'),
  },
  DNSEndpoint: {
    group: 'externaldns.k8s.io',
    resource: 'dnsendpoints',
    versions: ['v1alpha1'],
    parse: parseDnsEndpoint,
  },
  DNSRecord: {
    group: 'kubedoh.dev',
    resource: 'dnsrecords',
    versions: ['v1alpha1'],
    parse: parseDnsRecord,
  },
  HostRoute: {
    group: 'kubedoh.dev',
    resource: 'hostroutes',
    versions: ['v1alpha1'],
    parse: parseHostRoute,
  },
  Route: {
    group: 'route.openshift.io',
    resource: 'routes',
    versions: ['v1'],
    parse: parseOpenShiftRoute,
  },
  ConfigMap: {
    group: '',
    resource: 'configmaps',
    versions: ['v1'],
    parse: parseConfigMap,
    labelSelector: HOSTNAMES_LABEL,
  },
  VirtualServer: {
    group: 'k8s.nginx.org',
    resource: 'virtualservers',
    versions: ['v1'],
    parse: parseVirtualServer,
  },
  Node: { group: '', resource: 'nodes', versions: ['v1'], parse: parseNode },
}
