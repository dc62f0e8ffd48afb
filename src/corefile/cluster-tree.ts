/**
 * Which names are made of a cluster's objects. Each tree of names is a snapshot of its own.
 * @module
 */

/** A tree of names. */
export type ClusterTree =
  /** Services, their endpoints, and Pods: the names of the DNS specification. */
  | { readonly kind: 'cluster' }
  /** The same with what several clusters have together: ServiceImports in place of Services. */
  | { readonly kind: 'multicluster'; readonly cluster?: string }
  /** What one cluster has for the others: Services that a ServiceExport names. */
  | { readonly kind: 'exports'; readonly cluster: string }
  /** Services by the addresses that they have outside, for `k8s_external`. */
  | {
      readonly kind: 'external'
      /** TTL of addresses and pointers. */
      readonly ttlSeconds: number
      /** Whether endpoints stand in for Services without an address outside. */
      readonly hasEndpoints: boolean
    }
  | HostsTree

/** Host names that Ingresses, routes and other objects say, for `k8s_gateway`. */
export type HostsTree = {
  readonly kind: 'hosts'
  /** As text in lower case, without the final dot; '' for the root. */
  readonly zones: readonly string[]
  /** Kinds of objects that say names: of those that say the same one, the first kind counts. */
  readonly resources: readonly HostResource[]
  /** TTL of what is there. */
  readonly ttlSeconds: number
  /** Classes of Ingresses that count; none for all. */
  readonly ingressClasses: readonly string[]
  /** Classes of Gateways that count; none for all. */
  readonly gatewayClasses: readonly string[]
  /** Label selectors, of which a Service must meet one; none for all Services. */
  readonly serviceSelectors: readonly string[]
  /** Which addresses of Nodes count. */
  readonly nodeAddressType: 'InternalIP' | 'ExternalIP'
}

/** Kinds of objects that say host names. */
export type HostResource =
  | 'HTTPRoute'
  | 'TLSRoute'
  | 'GRPCRoute'
  | 'Ingress'
  | 'Service'
  | 'DNSEndpoint'
  | 'Node'
  | 'VirtualServer'

/** The main one. */
export const CLUSTER_TREE: ClusterTree = { kind: 'cluster' }
