/**
 * Options of naming: those of the Corefile's `kubernetes` directive that a snapshot depends on,
 * with CoreDNS's meaning and defaults.
 * @module
 */
import type { ClusterTree, HostsTree } from '../../corefile/cluster-tree.ts'
import type { Selector } from './selector.ts'

/** Which names Pods get. */
export type PodMode = 'disabled' | 'insecure' | 'verified'

/**
 * The kind of names to build from a cluster's objects. Each tree of names is a snapshot of its own.
 */
export type Tree = Exclude<ClusterTree, HostsTree | { readonly kind: 'etcd' }> | SelectedHosts

/** A tree of hostnames, with its selectors parsed; a Service must match one, if there are any. */
export type SelectedHosts = Omit<HostsTree, 'serviceSelectors'> & {
  readonly serviceSelectors: readonly Selector[]
}

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
