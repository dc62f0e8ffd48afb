/**
 * What shapes the names of a cluster: the options of the Corefile's `kubernetes` directive that
 * belong to whoever builds a snapshot, with CoreDNS's meaning and defaults.
 * @module
 */
import type { HostKind } from './objects.ts'
import type { Selector } from './selector.ts'

/** How the names of Pods are made. */
export type PodMode = 'disabled' | 'insecure' | 'verified'

/** Which names are made of a cluster's objects. Each tree of names is a snapshot of its own. */
export type Tree =
  /** Services, their endpoints, and Pods: the names of the DNS specification. */
  | { readonly kind: 'cluster' }
  /** The same with what several clusters have together: ServiceImports in place of Services. */
  | { readonly kind: 'multicluster' }
  /** What this one has for others: endpoints of Services that a ServiceExport names. */
  | {
      readonly kind: 'exports'
      /** Identifier of the cluster, by which its endpoints are told from others'. */
      readonly cluster: string
    }
  /** Services by the addresses that they have outside (CoreDNS's `k8s_external`). */
  | {
      readonly kind: 'external'
      /** TTL of addresses and pointers. */
      readonly ttlSeconds: number
      /** Whether endpoints stand in for Services without an address outside. */
      readonly hasEndpoints: boolean
    }
  | HostsTree

/** Host names that objects say themselves (k8s_gateway): absolute names within some zones. */
export type HostsTree = {
  readonly kind: 'hosts'
  /** As text in lower case, without the final dot; '' for the root. */
  readonly zones: readonly string[]
  /** Kinds of objects that say names: of those that say the same one, the first kind counts. */
  readonly resources: readonly HostSource[]
  readonly ttlSeconds: number
  /** Classes of Ingresses, and of Gateways, that count; none for all. */
  readonly ingressClasses: readonly string[]
  readonly gatewayClasses: readonly string[]
  /** A Service must meet one of these; none for all Services. */
  readonly serviceSelectors: readonly Selector[]
  /** Which addresses of Nodes count. */
  readonly nodeAddressType: 'InternalIP' | 'ExternalIP'
}

/** Kinds of objects that say host names. */
export type HostSource = HostKind | 'Service' | 'Node'

/** Options of naming. */
export type NamingOptions = {
  readonly tree: Tree
  /** Origins that the cluster's names are served under, absolute; at least one. */
  readonly origins: readonly Uint8Array[]
  /** By which scheme Services are named; that of OpenShift 3 is SkyDNS's. */
  readonly scheme: 'kubernetes' | 'openshift3'
  /** 0 to 3600. */
  readonly ttlSeconds: number
  readonly pods: PodMode
  /** Whether an endpoint without a host name is called after its Pod. */
  readonly usesPodNames: boolean
  /** Whether headless Services and endpoints have names. */
  readonly hasEndpoints: boolean
  /** Whether headless Services have names for each topology zone (CoreDNS's `zonal`). */
  readonly isZonal: boolean
  /** Whether a Service with a cluster IP but no ready endpoint has no name. */
  readonly ignoresEmptyServices: boolean
  /** Namespaces that are served; none for all. */
  readonly namespaces: ReadonlySet<string>
  /** Namespaces must meet this. */
  readonly namespaceSelector: Selector
  /** Services, slices and Pods must meet this. */
  readonly objectSelector: Selector
  /** Addresses of the name server itself, which decide who its NS records name. */
  readonly localAddresses: readonly string[]
}
