/**
 * What to serve, and what a running server can do.
 * @module
 */
import type { Collector } from './collector.ts'

/** What to serve; an empty string means not given. */
export type ServeOptions = {
  readonly conf: string
  readonly dnsPort: number
  readonly objects: readonly string[]
  /** A file of keys that replaces an etcd. */
  readonly etcd: string
  readonly files: string
  readonly kubeconfig: string
  readonly dohListen: string
  readonly insecure: boolean
  /** The token of `/v1/explain` at `dohListen`; absent or '' for no such route. */
  readonly explainToken?: string
  /** Whether another process may listen on the same ports, to take over from this one. */
  readonly isReplaceable?: boolean
  /** How long at most to stay after `lameduck` because queries still come over UDP. */
  readonly lingerMs?: number
  /** Threads that serve the same ports; 1 if absent. */
  readonly threads?: number
  /** Where spans of lists and watches go, if anywhere. */
  readonly collector?: Collector
  /** Comma-separated addresses that replace the machine's own. */
  readonly localAddresses: string
}

/** A running server. */
export type RunningServer = {
  /** Returns the names of plugins that are not ready, as `/ready` lists them. */
  readonly notReady: () => Promise<readonly string[]> | readonly string[]
  /** Rereads and applies the Corefile. Logs a failure and keeps the previous one. */
  readonly reload: () => Promise<void>
  /** Ports of the DNS listeners, in the order of the Corefile. */
  readonly ports: readonly number[]
  /** Reports the shutdown on `/ready`, waits for `lameduck` and for queries, and closes. */
  readonly stop: () => Promise<void>
}
