/**
 * The trees of names that a cluster's objects can form. Each tree has its own snapshot.
 * @module
 */

/** A tree of names. */
export type ClusterTree =
  /** Services, endpoints and Pods: the names of the Kubernetes DNS specification. */
  | { readonly kind: 'cluster' }
  /** The same for a clusterset: ServiceImports in place of Services (MCS-API). */
  | { readonly kind: 'multicluster'; readonly cluster?: string }
  /** The Services that one cluster exports to a clusterset with a ServiceExport. */
  | { readonly kind: 'exports'; readonly cluster: string }
  | ExternalTree
  | HostsTree
  /** Keys of an etcd, for `etcd`; of no object. */
  | { readonly kind: 'etcd' }

/** Services by their external addresses, for `k8s_external`. */
export type ExternalTree = {
  readonly kind: 'external'
  /** TTL of A, AAAA and PTR records. */
  readonly ttlSeconds: number
  /** Whether Services without an external address have their endpoints' addresses. */
  readonly hasEndpoints: boolean
}

/** Hostnames of Ingresses, routes and other objects, for `k8s_gateway`. */
export type HostsTree = {
  readonly kind: 'hosts'
  /** Lower-case text without the final dot; '' for the root. */
  readonly zones: readonly string[]
  /** Kinds of objects with hostnames. If several kinds have the same name, the first wins. */
  readonly resources: readonly HostResource[]
  /** TTL of all records. */
  readonly ttlSeconds: number
  /** Accepted classes of Ingresses; empty for all. */
  readonly ingressClasses: readonly string[]
  /** Accepted classes of Gateways; empty for all. */
  readonly gatewayClasses: readonly string[]
  /** Label selectors; a Service must match one of them. Empty for all Services. */
  readonly serviceSelectors: readonly string[]
  /** Type of the Node addresses to publish. */
  readonly nodeAddressType: 'InternalIP' | 'ExternalIP'
  /** Prefixes of external-dns's annotations that count, each with its slash; none for none. */
  readonly annotations: readonly string[]
  /** Whether hostnames have HTTPS and SVCB records (RFC 9460). */
  readonly hasBindings: boolean
  /** Whether external addresses of Services are replaced by their cluster IPs. */
  readonly hasClusterIPs: boolean
  /** The zones in which DNSRecords and HostRoutes of a namespace may have names. */
  readonly recordZones: readonly RecordZones[]
  /** What the hosts of HostRoutes resolve to. */
  readonly router: RouterTarget
}

/** The router, which proxies the paths of HostRoutes. */
export type RouterTarget =
  | { readonly kind: 'addresses'; readonly addresses: readonly string[] }
  /** By its external addresses. */
  | { readonly kind: 'Gateway' | 'Service'; readonly namespace: string; readonly name: string }
  /** By the cluster IPs of a Service. */
  | { readonly kind: 'ClusterIP'; readonly namespace: string; readonly name: string }

/** Zones within those of the tree, for the DNSRecords and HostRoutes of one namespace. */
export type RecordZones = {
  /** `*` for every namespace. */
  readonly namespace: string
  /** Lower-case text without the final dot. */
  readonly zones: readonly string[]
}

/** Kinds of objects with hostnames. */
export const HOST_RESOURCES = [
  'HTTPRoute',
  'TLSRoute',
  'GRPCRoute',
  'TCPRoute',
  'UDPRoute',
  'Gateway',
  'Ingress',
  'Service',
  'DNSEndpoint',
  'DNSRecord',
  'HostRoute',
  'Node',
  'Route',
  'ConfigMap',
  'VirtualServer',
] as const

/** A kind of objects with hostnames. */
export type HostResource = (typeof HOST_RESOURCES)[number]

/** Returns the name of a tree among those that a cluster publishes. */
export function treeName(tree: ClusterTree): string {
  return tree.kind === 'hosts' && tree.hasClusterIPs ? 'inside' : tree.kind
}

/** The tree of the `kubernetes` plugin. */
export const CLUSTER_TREE: ClusterTree = { kind: 'cluster' }
