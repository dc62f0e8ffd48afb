/**
 * What plugins need of the runtime they run in. The shim and the Worker each have one of these;
 * plugins touch no clock, chance, network or log but through it.
 * @module
 */

import type { KubernetesOptions } from '../corefile/kubernetes-options.ts'
import type { Snapshot } from '../snapshot/snapshot.ts'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'

/** An upstream server and how to reach it. */
export type Upstream = {
  readonly transport: 'dns' | 'https'
  /** For `dns`: an address. For `https`: the URL's host, and `url` the whole of it. */
  readonly address: string
  readonly port: number
  /** The URL to ask, for `https`. */
  readonly url?: string
}

/** How to ask an upstream once. */
export type ExchangeOptions = {
  /** Over which transport to ask an upstream of plain DNS. */
  readonly protocol: 'udp' | 'tcp'
  readonly timeoutMs: number
}

/** Where the snapshots of one cluster come from. */
export type SnapshotSource = {
  /** The newest snapshot; `undefined` until there is one. */
  readonly current: () => Snapshot | undefined
  /**
   * Loads what an answer lacks: the snapshot, or one shard of it. Resolves with the snapshot to go
   * on with, or `undefined` when there is none to be had.
   */
  readonly load: (shard?: number) => Promise<Snapshot | undefined>
  /** How old the newest snapshot is held to be. */
  readonly freshness: () => 'fresh' | 'stale' | 'expired'
}

/** The runtime. */
export type Host = {
  /**
   * Whether what one request began may never end for another, as on Workers: then no promise is
   * shared between requests.
   */
  readonly isolatesRequests: boolean
  /** The machine's name, `localhost` where it has none to tell. */
  readonly hostname: string
  /** What runs this program, and its version: `node-26.2.0`. */
  readonly runtime: string
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** An unpredictable number from 0 to 65535. */
  readonly random16: () => number
  /** Runs a task once after some time, and gives back how to call that off. */
  readonly after: (delayMs: number, task: () => void) => () => void
  /** Reads a file by its path as the Corefile has it; `undefined` when it is not there. */
  readonly readText: (path: string) => string | undefined
  /** When a file was written last, in milliseconds since 1970; `undefined` when it is not there. */
  readonly modifiedMs: (path: string) => number | undefined
  /** Sends a message to an upstream and resolves with its answer, whatever that is. */
  readonly exchange: (
    upstream: Upstream,
    message: Uint8Array,
    options: ExchangeOptions,
  ) => Promise<Uint8Array>
  /** Finds the source of snapshots for a `kubernetes` directive. */
  readonly openCluster: (options: KubernetesOptions) => SnapshotSource
  readonly metrics: Metrics
  readonly log: Log
  /** Prints a line of the query log. */
  readonly print: (line: string) => void
  /** Ends the process because of what the message says, as `loop` must. */
  readonly abort: (message: string) => void
}
