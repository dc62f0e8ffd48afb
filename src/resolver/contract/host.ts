/**
 * The host: clock, random numbers, files, network and log, as plugins use them. Each runtime puts
 * one together; plugins use nothing else of the runtime. A plugin that needs more declares it in
 * its folder.
 * @module
 */
import type { ClusterTree } from '../../corefile/cluster-tree.ts'
import type { KubernetesOptions } from '../../corefile/kubernetes-options.ts'
import type { Log } from '../../dns/telemetry/log.ts'
import type { Metrics } from '../../dns/telemetry/metrics.ts'
import type { Snapshot } from '../../snapshot/read/snapshot.ts'
import type { Visibility } from '../../snapshot/read/visibility.ts'
import type { RRset } from '../../snapshot/records/zone-entry.ts'
import type { MaybePromise } from './maybe-promise.ts'

/** An upstream server and how to reach it. */
export type Upstream = {
  readonly transport: 'dns' | 'tls' | 'https' | 'grpc'
  /** An address, or a hostname, which is resolved again when its TTL ends. */
  readonly address: string
  readonly port: number
  /** The URL of the server, for `https` and `grpc`; `grpc` is not encrypted at `http://`. */
  readonly url?: string
  /** The name in its certificate; that of `address` or `url` when absent. */
  readonly serverName?: string
  /** A token for `https`, sent as `Authorization: Bearer`; never part of messages or metrics. */
  readonly token?: string
}

/** TLS to upstreams, as PEM text; the system's certificate authorities without `ca`. */
export type TlsIdentity = {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
}

/** The connections to an upstream. */
export type UpstreamOptions = {
  readonly tls: TlsIdentity
  /** How long an idle connection stays open. */
  readonly expireMs: number
  /** Age at which a connection closes; 0 for no bound. */
  readonly ageMsMax: number
  /** Idle connections; 0 for no bound. */
  readonly idleMax: number
  /** The source address; the system's choice when absent. */
  readonly sourceAddress?: string
  readonly dohMethod: 'GET' | 'POST'
  /** Servers, with ports, that resolve names of upstreams; the system's if empty. */
  readonly resolvers: readonly string[]
  /** Called for each query with its protocol, and whether it reuses a connection. */
  readonly onConnection: (protocol: 'udp' | 'tcp' | 'tcp-tls', isReused: boolean) => void
}

/** Options of a client with one connection, for occasional queries over plain DNS. */
export const ONE_CONNECTION: UpstreamOptions = {
  tls: {},
  expireMs: 0,
  ageMsMax: 0,
  idleMax: 1,
  dohMethod: 'POST',
  resolvers: [],
  onConnection: () => undefined,
}

/** Too many queries to an upstream are under way; the upstream may still be healthy. */
export class OverloadError extends Error {
  override readonly name = 'OverloadError'

  constructor() {
    super('too many queries under way')
  }
}

/** A response over UDP has the query's ID but no question, so it may answer another query. */
export class QuestionlessError extends Error {
  override readonly name = 'QuestionlessError'

  constructor() {
    super('a response over UDP has no question')
  }
}

/** Options of one query to an upstream. */
export type ExchangeOptions = {
  /** The transport for an upstream of plain DNS. */
  readonly protocol: 'udp' | 'tcp'
  readonly timeoutMs: number
  /** Ends the query early. */
  readonly signal?: AbortSignal
  /**
   * Maximum age of a connection that the query reuses; absent for any. After a failed attempt, the
   * time since its start: when a node is lost, all connections to it go silent at once.
   */
  readonly connectionAgeMsMax?: number
}

/** A client of an upstream, with its connections. */
export type UpstreamClient = {
  /** Sends a query and resolves with the response, whatever its content. */
  readonly exchange: (message: Uint8Array, options: ExchangeOptions) => Promise<Uint8Array>
  /** Closes all connections. */
  readonly close: () => void
}

/** The snapshots of one cluster. */
export type SnapshotSource = {
  /** The newest snapshot; `undefined` until there is one. */
  readonly current: () => Snapshot | undefined
  /**
   * Loads the snapshot, or one shard of it. Resolves with the snapshot to use, or `undefined` if
   * none is available.
   */
  readonly load: (shard?: number) => Promise<Snapshot | undefined>
  /**
   * The freshness of the newest snapshot. `expired` is too old to answer from; `partial` was built
   * before all objects were read, so that a missing name may exist; `unserved`, as the API server
   * serves none of the kinds that names come from. For a client that sees only
   * some namespaces, counts from the last confirmation that does not depend on the others.
   */
  readonly freshness: (
    namespaces?: Visibility,
  ) => 'fresh' | 'stale' | 'expired' | 'partial' | 'unserved'
  /** Returns the RRsets of a zone transfer; absent at gateways. */
  readonly transferRecords?: () => Iterable<RRset>
  /** Returns the Pod at a client's address; absent at gateways. */
  readonly podAt?: (client: string) => ClientPod | undefined
  /**
   * Returns a Service and its endpoints, for explanations; `null` if it does not exist, `undefined`
   * if that is unknown. Absent where objects are elsewhere.
   */
  readonly serviceState?: (
    namespace: string,
    name: string,
  ) => MaybePromise<ServiceState | null | undefined>
}

/** A directive that answers for each cluster that publishes, by the zones of each. */
export type ClusterOpener = {
  /** Opens the zones of a cluster, which its first query does otherwise. */
  readonly open: (cluster: string) => unknown
  /** Closes the zones of a cluster that does not publish any more. */
  readonly close: (cluster: string) => void
  /** Returns the zones that a cluster has, or would have. */
  readonly zonesOf: (cluster: string) => readonly Uint8Array[]
}

/** The clusters that publish, which may come and go. */
export type PublishedClusters = {
  readonly has: (cluster: string) => boolean
  /**
   * Reads the list of clusters; resolves with false when it cannot be read. `undefined` when it is
   * in memory.
   */
  readonly load: () => Promise<boolean> | undefined
}

/** A Service, as far as it explains why names below it do not exist. */
export type ServiceState = {
  readonly service: { readonly type: string }
  readonly endpoints: readonly {
    /** '' without one. */
    readonly hostname: string
    readonly addresses: readonly string[]
    readonly isReady: boolean
  }[]
}

/** The Pod of a client, for metadata. */
export type ClientPod = {
  readonly namespace: string
  readonly name: string
  readonly labels: ReadonlyMap<string, string>
}

/** What differs after a file was written. */
export type FileState = {
  /** Milliseconds since 1970. */
  readonly modifiedMs: number
  readonly bytes: number
}

/** The services of every runtime for plugins. */
export type Host = {
  /**
   * Whether a promise of one request may never settle for another, as on Workers. Requests then
   * must not share promises.
   */
  readonly isolatesRequests: boolean
  /** The hostname of the machine; `localhost` where unknown. */
  readonly hostname: string
  /** The runtime and its version: `node-26.2.0`. */
  readonly runtime: string
  /** Milliseconds since 1970, by a clock that may step: for dates, never for durations. */
  readonly now: () => number
  /** Milliseconds by a monotonic clock: for durations, TTLs and time-outs. */
  readonly elapsed: () => number
  /**
   * Milliseconds by a monotonic clock that stops while the machine sleeps, and that no step of the
   * wall clock moves: for how long a client has waited.
   */
  readonly awake: () => number
  /** An unpredictable number from 0 to 65535. */
  readonly random16: () => number
  /** Runs a task once after a delay. @returns a function that cancels it */
  readonly after: (delayMs: number, task: () => void) => () => void
  /** Resolves in a later turn of the event loop: sockets are read in between. */
  readonly nextTurn: () => Promise<unknown>
  /** Whether the machine has a network interface of this name. Absent where none can be listed. */
  readonly isInterface?: (name: string) => boolean
  /** Reads a file by its path as the Corefile has it; `undefined` if it does not exist. */
  readonly readText: (path: string) => string | undefined
  /** Reads a file's bytes; `undefined` if it does not exist. Absent where there are no files. */
  readonly readBytes?: (path: string) => Uint8Array | undefined
  /**
   * Lists the files in a folder and those below it, by paths that start with the folder's, sorted
   * within each; `undefined` if it does not exist.
   */
  readonly listFiles: (folder: string) => Promise<readonly string[] | undefined>
  /**
   * Reads a file's bytes without keeping the event loop waiting. Rejects with the reason if it does
   * not exist, is not a file, or is over 64 MiB.
   */
  readonly readFile: (path: string) => Promise<Uint8Array>
  /** Returns when a file was written last, and its size; `undefined` if it does not exist. */
  readonly fileState: (path: string) => FileState | undefined
  /**
   * Creates a client of an upstream, which connects at the first query.
   * @throws {Error} when this runtime does not support the upstream or the options
   */
  readonly openUpstream: (upstream: Upstream, options: UpstreamOptions) => UpstreamClient
  /** Checks that certificate and key match. @throws {Error} with the reason if not */
  readonly checkIdentity: (identity: TlsIdentity) => void
  /**
   * Returns the snapshots for a `kubernetes` directive: of the given tree, or of the cluster's own
   * names.
   * @throws {ConfigError} when the options do not fit the runtime
   */
  readonly openCluster: (options: KubernetesOptions, tree?: ClusterTree) => SnapshotSource
  /**
   * Returns which clusters publish, for a directive that answers for each of them. Absent where
   * clusters are watched.
   */
  readonly openClusters?: (opener: ClusterOpener) => PublishedClusters
  readonly metrics: Metrics
  readonly log: Log
  /** Prints a line of the query log. */
  readonly print: (line: string) => void
  /** Ends the process with an error, as `loop` must. */
  readonly abort: (message: string) => void
}
