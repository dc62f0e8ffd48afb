/**
 * What plugins need of the runtime they run in. The shim and the Worker each have one of these;
 * plugins touch no clock, chance, network or log but through it.
 * @module
 */

import type { ClusterTree } from '../corefile/cluster-tree.ts'
import type { KubernetesOptions } from '../corefile/kubernetes-options.ts'
import type { RRset } from '../records/zone-entry.ts'
import type { Snapshot } from '../snapshot/read/snapshot.ts'
import type { Visibility } from '../snapshot/read/visibility.ts'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'

/** An upstream server and how to reach it. */
export type Upstream = {
  readonly transport: 'dns' | 'tls' | 'https'
  /** An address, or the name of a host, which is looked up again and again. */
  readonly address: string
  readonly port: number
  /** The URL to ask, for `https`. */
  readonly url?: string
  /** Whom its certificate must be for; when left out, the host that `address` or `url` names. */
  readonly serverName?: string
}

/** What TLS to upstreams needs, as PEM text; the authorities are the machine's when left out. */
export type TlsIdentity = {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
}

/** By which connections an upstream is asked. */
export type UpstreamOptions = {
  readonly tls: TlsIdentity
  /** How long a connection is kept that nobody uses. */
  readonly expireMs: number
  /** How long a connection is kept at all, 0 for as long as it is used. */
  readonly ageMsMax: number
  /** Connections to keep that nobody uses, 0 for any number. */
  readonly idleMax: number
  /** The address to ask from; the system's choice when left out. */
  readonly sourceAddress?: string
  readonly dohMethod: 'GET' | 'POST'
  /** Addresses of servers, with ports, that know the names of upstreams; the system's for none. */
  readonly resolvers: readonly string[]
  /** Learns by what a query goes, and whether that was there before. */
  readonly onConnection: (protocol: 'udp' | 'tcp' | 'tcp-tls', isReused: boolean) => void
}

/** An upstream has as many queries under way as it may have: no reason to hold it for down. */
export class OverloadError extends Error {
  override readonly name = 'OverloadError'

  constructor() {
    super('too many queries under way')
  }
}

/** How to ask an upstream once. */
export type ExchangeOptions = {
  /** Over which transport to ask an upstream of plain DNS. */
  readonly protocol: 'udp' | 'tcp'
  readonly timeoutMs: number
}

/** An upstream that is asked, and the connections to it. */
export type UpstreamClient = {
  /** Sends a message and resolves with its answer, whatever that is. */
  readonly exchange: (message: Uint8Array, options: ExchangeOptions) => Promise<Uint8Array>
  /** Ends all connections. */
  readonly close: () => void
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
  /**
   * How the newest snapshot is held to be: new; old; too old to answer from; or made before all
   * objects were read, so that what it does not have may be there. For a client that sees some
   * namespaces only, by the last confirmation that does not depend on the others.
   */
  readonly freshness: (namespaces?: Visibility) => 'fresh' | 'stale' | 'expired' | 'partial'
  /** What a transfer of the zone has; absent where there are snapshots only. */
  readonly transferRecords?: () => Iterable<RRset>
  /** The Pod that runs at a client's address; absent where there are snapshots only. */
  readonly podAt?: (client: string) => ClientPod | undefined
}

/** A Pod, as far as it is told who asks. */
export type ClientPod = {
  readonly namespace: string
  readonly name: string
  readonly labels: ReadonlyMap<string, string>
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
  /** Milliseconds since 1970, by a clock that may step: for dates, never for durations. */
  readonly now: () => number
  /** Milliseconds since some moment, as `createElapsed` counts: for durations, TTLs, time-outs. */
  readonly elapsed: () => number
  /** An unpredictable number from 0 to 65535. */
  readonly random16: () => number
  /** Runs a task once after some time, and gives back how to call that off. */
  readonly after: (delayMs: number, task: () => void) => () => void
  /** Whether the machine has a network interface of this name. Absent where none can be listed. */
  readonly isInterface?: (name: string) => boolean
  /** Reads a file by its path as the Corefile has it; `undefined` when it is not there. */
  readonly readText: (path: string) => string | undefined
  /** Reads a file's bytes; `undefined` when it is not there. Absent where there are no files. */
  readonly readBytes?: (path: string) => Uint8Array | undefined
  /**
   * Lists the files in a folder and those below it, by paths that begin with the folder's, sorted
   * within each; `undefined` when it is not there.
   */
  readonly listFiles: (folder: string) => readonly string[] | undefined
  /** When a file was written last, in milliseconds since 1970; `undefined` when it is not there. */
  readonly modifiedMs: (path: string) => number | undefined
  /**
   * Makes ready to ask an upstream; no connection is made before the first query.
   * @throws {Error} when it cannot be asked in this runtime, or not with these options
   */
  readonly openUpstream: (upstream: Upstream, options: UpstreamOptions) => UpstreamClient
  /** Checks that certificate and key belong together. @throws {Error} that says what is wrong */
  readonly checkIdentity: (identity: TlsIdentity) => void
  /**
   * Finds the source of snapshots for a `kubernetes` directive; of its cluster's other names when
   * another tree is asked for.
   * @throws {ConfigError} when there can be none
   */
  readonly openCluster: (options: KubernetesOptions, tree?: ClusterTree) => SnapshotSource
  readonly metrics: Metrics
  readonly log: Log
  /** Prints a line of the query log. */
  readonly print: (line: string) => void
  /** Ends the process because of what the message says, as `loop` must. */
  readonly abort: (message: string) => void
}
