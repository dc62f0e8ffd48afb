/**
 * What shapes the names of a cluster: the options of the Corefile's `kubernetes` directive that
 * belong to whoever builds a snapshot, with CoreDNS's meaning and defaults.
 * @module
 */
import type { Selector } from './selector.ts'

/** How the names of Pods are made. */
export type PodMode = 'disabled' | 'insecure' | 'verified'

/** Options of naming. */
export type NamingOptions = {
  /** Origins that the cluster's names are served under, absolute; at least one. */
  readonly origins: readonly Uint8Array[]
  /** 0 to 3600. */
  readonly ttlSeconds: number
  readonly pods: PodMode
  /** Whether an endpoint without a host name is called after its Pod. */
  readonly usesPodNames: boolean
  /** Whether headless Services and endpoints have names. */
  readonly hasEndpoints: boolean
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
