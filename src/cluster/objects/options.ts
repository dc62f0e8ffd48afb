/**
 * Options of naming: those of the Corefile's `kubernetes` directive that a snapshot depends on,
 * with CoreDNS's meaning and defaults.
 * @module
 */
import type { HostKind } from './objects.ts'
import type { Selector } from './selector.ts'

/** Which names Pods get. */
export type PodMode = 'disabled' | 'insecure' | 'verified'

/**
 * The kind of names to build from a cluster's objects. Each tree of names is a snapshot of its own.
 */
export type Tree =
  /** Services, their endpoints, and Pods: the names of the DNS specification. */
  | { readonly kind: 'cluster' }
  /** The same with ServiceImports, which several clusters share, in place of Services. */
  | { readonly kind: 'multicluster' }
  /** This cluster's part of shared Services: the endpoints of Services with a ServiceExport. */
  | {
      readonly kind: 'exports'
      /** Identifier of the cluster, a label in the names of its endpoints. */
      readonly cluster: string
    }
  /** Services by their external addresses (CoreDNS's `k8s_external`). */
  | {
      readonly kind: 'external'
      /** TTL of addresses and pointers. */
      readonly ttlSeconds: number
      /** Whether endpoints replace missing external addresses. */
      readonly hasEndpoints: boolean
    }
  | HostsTree

/** Hostnames in the objects themselves (k8s_gateway): absolute names within some zones. */
export type HostsTree = {
  readonly kind: 'hosts'
  /** As text in lower case, without the final dot; '' for the root. */
  readonly zones: readonly string[]
  /** Kinds of objects to take names from. If several have the same name, the first kind wins. */
  readonly resources: readonly HostSource[]
  readonly ttlSeconds: number
  /** Classes of Ingresses, and of Gateways, that count; none for all. */
  readonly ingressClasses: readonly string[]
  readonly gatewayClasses: readonly string[]
  /** A Service must match one of these; empty for all Services. */
  readonly serviceSelectors: readonly Selector[]
  /** Which addresses of Nodes count. */
  readonly nodeAddressType: 'InternalIP' | 'ExternalIP'
  /** Prefixes of external-dns's annotations that count, each with its slash; none for none. */
  readonly annotations: readonly string[]
  /** Whether hostnames have HTTPS and SVCB records (RFC 9460). */
  readonly hasBindings: boolean
  /** Whether external addresses of Services are replaced by their cluster IPs. */
  readonly hasClusterIPs: boolean
  /** The zones in which DNSRecords and HostRoutes of a namespace, or of `*`, may have names. */
  readonly recordZones: readonly { readonly namespace: string; readonly zones: readonly string[] }[]
  /** What the hosts of HostRoutes resolve to: addresses, or those of an object. */
  readonly router:
    | { readonly kind: 'addresses'; readonly addresses: readonly string[] }
    | {
        readonly kind: 'Gateway' | 'Service' | 'ClusterIP'
        readonly namespace: string
        readonly name: string
      }
}

/** Kinds of objects with hostnames. */
export type HostSource = HostKind | 'Service' | 'Node'

/** Options of naming. */
export type NamingOptions = {
  readonly tree: Tree
  /** Origins that the cluster's names are served under, absolute; at least one. */
  readonly origins: readonly Uint8Array[]
  /** The naming scheme of Services; `openshift3` is SkyDNS's. */
  readonly scheme: 'kubernetes' | 'openshift3'
  /** 0 to 3600. */
  readonly ttlSeconds: number
  readonly pods: PodMode
  /** Whether an endpoint without a hostname gets its Pod's name. */
  readonly usesPodNames: boolean
  /** Whether headless Services and endpoints have names. */
  readonly hasEndpoints: boolean
  /** Whether headless Services have names for each topology zone (CoreDNS's `zonal`). */
  readonly isZonal: boolean
  /** Whether a Service with a cluster IP but no ready endpoint has no name. */
  readonly ignoresEmptyServices: boolean
  /** Namespaces that are served; none for all. */
  readonly namespaces: ReadonlySet<string>
  /** Selector for namespaces. */
  readonly namespaceSelector: Selector
  /** Selector for Services, slices and Pods. */
  readonly objectSelector: Selector
  /** Addresses of the name server itself, from which its NS records follow. */
  readonly localAddresses: readonly string[]
}
