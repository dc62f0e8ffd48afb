/**
 * Which names are made of a cluster's objects. Each tree of names is a snapshot of its own.
 * @module
 */

/** A tree of names. */
export type ClusterTree =
  /** Services, their endpoints, and Pods: the names of the DNS specification. */
  | { readonly kind: 'cluster' }
  /** The same with what several clusters have together: ServiceImports in place of Services. */
  | { readonly kind: 'multicluster' }
  /** Services by the addresses that they have outside, for `k8s_external`. */
  | {
      readonly kind: 'external'
      /** TTL of addresses and pointers. */
      readonly ttlSeconds: number
      /** Whether endpoints stand in for Services without an address outside. */
      readonly hasEndpoints: boolean
    }

/** The main one. */
export const CLUSTER_TREE: ClusterTree = { kind: 'cluster' }
