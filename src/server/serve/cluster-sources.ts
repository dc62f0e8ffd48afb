/**
 * Opens the clusters of `kubernetes` and `k8s_gateway` directives for a server in this process:
 * reads them from object files, or watches an API server. Once one of them is large, a thread of
 * its own watches them all.
 * @module
 */

import { sleep } from '../../cluster/api/backoff.ts'
import { hostBoundsFor } from '../../cluster/api/host-budget.ts'
import { measuredApi, throttledApi } from '../../cluster/api/measured-api.ts'
import {
  type ApiConnection,
  ConnectionError,
  connectionOf,
  type ObjectApi,
} from '../../cluster/api/object-api.ts'
import { readObjectFiles } from '../../cluster/api/object-files.ts'
import { SharedWatch } from '../../cluster/api/shared-watch.ts'
import { createObjectSource } from '../../cluster/follow/export-source.ts'
import { LiveCluster } from '../../cluster/follow/live-cluster.ts'
import { namingOptions } from '../../cluster/follow/naming.ts'
import { ClusterSnapshots } from '../../cluster/follow/snapshot-builder.ts'
import type { ClusterObject } from '../../cluster/objects/objects.ts'
import type { NamingOptions } from '../../cluster/objects/options.ts'
import { CLUSTER_TREE, type ClusterTree } from '../../corefile/cluster-tree.ts'
import type { KubernetesOptions } from '../../corefile/kubernetes-options.ts'
import { configError } from '../../corefile/problem.ts'
import type { ServerBlock } from '../../corefile/server-block.ts'
import type { Log } from '../../dns/telemetry/log.ts'
import type { Metrics } from '../../dns/telemetry/metrics.ts'
import type { SnapshotSource } from '../../resolver/contract/host.ts'
import type { Snapshot } from '../../snapshot/read/snapshot.ts'
import { memoryBytes } from '../node/memory-bytes.ts'
import { type ClusterWanted, keyOf } from './cluster-wanted.ts'

/** The clusters of a server: its own, or those that another thread watches. */
export type Clusters = Pick<ClusterSources, 'prepare' | 'open' | 'keep' | 'ready'> &
  Partial<Pick<ClusterSources, 'threadMetrics'>>

/** Where the Kubernetes objects come from; the directives give the rest. */
export type ClusterSourceOptions = {
  /** Files or folders of objects; replace an API server when not empty. */
  readonly objectPaths: readonly string[]
  /** Path of a kubeconfig file, which overrides the directives; empty for none. */
  readonly kubeconfig: string
  /** The folder that paths in directives are relative to. */
  readonly folder: string
  /** Addresses of this server, for the zones' NS records. */
  readonly localAddresses: readonly string[]
  /** Loads the API client: it is large, and object files do not need it. */
  readonly loadApi: () => Promise<OpenApi>
  readonly log: Log
  readonly metrics: Metrics
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Milliseconds of a monotonic clock. */
  readonly elapsed: () => number
  /** Called when a cluster has a new snapshot. */
  readonly onSnapshot?: () => void
  /** Starts the thread for large clusters. Without it, this thread watches all clusters. */
  readonly openThread?: (onSnapshot: () => void) => Thread
}

/** The thread that watches clusters (`ClusterThread`). */
type Thread = {
  readonly watch: (clusters: readonly ClusterWanted[]) => Promise<void>
  readonly source: (wanted: ClusterWanted) => SnapshotSource
  readonly metrics: () => Promise<string>
  readonly stop: () => Promise<void>
}
type Freshness = ReturnType<SnapshotSource['freshness']>
type OpenApi = (connection: ApiConnection) => ObjectApi
type Opened = {
  readonly wanted: ClusterWanted
  readonly source: SnapshotSource
  /** Resolves when queries can be answered, or the startup timeout has passed. */
  readonly ready: Promise<void>
  /** Follows the cluster in this thread; absent for object files, and after a move. */
  live?: LiveCluster | undefined
  /** Key of the shared watch; '' without one. */
  watch: string
  /** What `source` reads, if another thread may watch the cluster. */
  moves?: Moves
}
type Moves = {
  reader: Pick<SnapshotSource, 'current' | 'freshness' | 'serviceState'>
  readonly onReady: () => void
}

/** Plugins that open clusters. */
const READERS: ReadonlySet<string> = new Set(['kubernetes', 'k8s_gateway'])
/** Time without contact with the API server after which responses are marked stale. */
const STALE_MS = 60_000

/** Opens each distinct cluster once; a reload of the Corefile keeps the open ones. */
export class ClusterSources {
  private readonly options: ClusterSourceOptions
  private readonly opened = new Map<string, Opened>()
  /** Watches that clusters share, by API connection and limits. */
  private readonly watches = new Map<string, SharedWatch>()
  /** Watches the clusters of `opened` that need no objects, if one of them is large. */
  private thread: Thread | undefined
  private objects: readonly ClusterObject[] | undefined
  private openApi: OpenApi | undefined

  constructor(options: ClusterSourceOptions) {
    this.options = options
  }

  /** Loads the API client if one of these blocks needs it. Call it before `open`. */
  async prepare(blocks: readonly ServerBlock[]): Promise<void> {
    const isNeeded = blocks.some(({ directives }) =>
      directives.some(({ name }) => READERS.has(name)),
    )
    if (isNeeded && this.options.objectPaths.length === 0) await this.prepareApi()
  }

  /** Loads the API client. */
  async prepareApi(): Promise<void> {
    this.openApi ??= await this.options.loadApi()
  }

  /**
   * Returns the snapshots for a directive.
   * @throws {ConfigError} when the directive merges clusters or names an unusable API connection
   */
  open(
    directive: KubernetesOptions,
    tree: ClusterTree = CLUSTER_TREE,
    needsObjects?: true,
  ): SnapshotSource {
    if (directive.clusters.length > 1) throw configError(directive, MERGED_AT_GATEWAYS)
    const wanted = { directive, tree, ...(needsObjects && { needsObjects }) }
    const key = keyOf(wanted)
    const known = this.opened.get(key)
    if (known !== undefined) return known.source
    const naming = namingOptions(directive, this.options.localAddresses, tree)
    const isFromFiles = this.options.objectPaths.length > 0
    const opened = isFromFiles ? this.openFiles(wanted, naming) : this.openLive(wanted, naming)
    this.opened.set(key, opened)
    if (opened.moves !== undefined) this.watchInThread()
    return opened.source
  }

  /** Stops the clusters and watches that no directive of `inUse` needs. */
  keep(inUse: readonly ClusterWanted[]): void {
    const keys = new Set(inUse.map(keyOf))
    for (const [key, { live }] of this.opened) {
      if (keys.has(key)) continue
      live?.stop()
      this.opened.delete(key)
    }
    this.dropWatches()
    this.watchInThread()
  }

  private dropWatches(): void {
    const watched = new Set(Array.from(this.opened.values(), ({ watch }) => watch))
    for (const key of this.watches.keys()) if (!watched.has(key)) this.watches.delete(key)
  }

  /** Returns the metrics of the thread of large clusters, if there is one. */
  threadMetrics(): Promise<string> | undefined {
    return this.thread?.metrics()
  }

  /**
   * Waits until each cluster has synced or its startup timeout has passed.
   * @returns whether all have synced
   */
  async ready(): Promise<boolean> {
    const all = [...this.opened.values()]
    await Promise.all(all.map(({ ready }) => ready))
    return all.every(({ source }) => source.freshness() !== 'partial')
  }

  private openFiles(wanted: ClusterWanted, naming: NamingOptions): Opened {
    const { log, now } = this.options
    const source = createObjectSource(this.fileObjects(), {
      naming,
      now,
      onWarning: (message) => log({ level: 'warning', message }),
    })
    const snapshots = new ClusterSnapshots(now)
    snapshots.take(source.build())
    return {
      wanted,
      watch: '',
      ready: Promise.resolve(),
      source: {
        current: () => snapshots.current(),
        load: () => Promise.resolve(snapshots.current()),
        freshness: () => 'fresh',
        transferRecords: () => source.transferRecords(),
        podAt: (client) => source.podAt(client),
        serviceState: source.serviceState,
      },
    }
  }

  private openLive(wanted: ClusterWanted, naming: NamingOptions): Opened {
    const { directive, tree } = wanted
    const { thread } = this
    if (thread !== undefined && this.canMove(wanted)) {
      this.connect(directive)
      return { ...movable(wanted, thread.source(wanted)), watch: '' }
    }
    const { log, metrics, now, elapsed, onSnapshot } = this.options
    const watch = JSON.stringify([connectionOf(directive, this.options), directive.apiLimits])
    const shared = this.watches.get(watch) ?? this.openWatch(directive)
    this.watches.set(watch, shared)
    const live = new LiveCluster({
      shared,
      naming,
      now,
      elapsed,
      onWarning: (message) => log({ level: 'warning', message }),
      onError: (message) => log({ level: 'error', message }),
      staleMs: STALE_MS,
      startupMs: directive.startupMs,
      ...(onSnapshot && { onSnapshot }),
      // Trees of one cluster share its changes: one is enough.
      ...(tree.kind === 'cluster' && { metrics }),
    })
    live.start()
    if (this.canMove(wanted)) return { ...movable(wanted, live), live, watch }
    return {
      wanted,
      ready: live.ready,
      live,
      watch,
      source: {
        current: () => live.current(),
        load: () => Promise.resolve(live.current()),
        freshness: () => live.freshness(),
        transferRecords: () => live.transferRecords(),
        podAt: (client) => live.podAt(client),
        serviceState: (namespace, name) => live.serviceState(namespace, name),
      },
    }
  }

  private canMove({ needsObjects }: ClusterWanted): boolean {
    return this.options.openThread !== undefined && needsObjects === undefined
  }

  /** Has a thread of its own watch the clusters: one of them is large. */
  private startThread(): void {
    const { openThread } = this.options
    const movable = [...this.opened.values()].some(({ moves }) => moves !== undefined)
    if (this.thread !== undefined || openThread === undefined || !movable) return
    this.thread = openThread(() => this.switchToThread())
    this.watchInThread()
    this.switchToThread()
  }

  /** Sends the thread the list of its clusters; stops it when there are none. */
  private watchInThread(): void {
    const { thread } = this
    const moving = [...this.opened.values()].filter(({ moves }) => moves !== undefined)
    if (thread === undefined) return
    if (moving.length === 0) {
      this.thread = undefined
      void thread.stop()
      return
    }
    void thread.watch(moving.map(({ wanted }) => wanted)).then(() => {
      for (const { moves } of moving) moves?.onReady()
    })
  }

  /**
   * Ends watching here: two copies of a growing cluster would need twice the memory. The last
   * snapshot of this thread answers until the other one has read the cluster.
   */
  private switchToThread(): void {
    for (const opened of this.opened.values()) {
      const { live, moves, wanted } = opened
      const source = this.thread?.source(wanted)
      if (moves === undefined || source === undefined) continue
      if (live !== undefined) {
        moves.reader = lastState(live, this.options.elapsed)
        live.stop()
        opened.live = undefined
        opened.watch = ''
      }
      if (isBetter(source, moves.reader)) moves.reader = source
    }
    this.dropWatches()
  }

  private openWatch(directive: KubernetesOptions): SharedWatch {
    const { log, metrics, elapsed } = this.options
    const measured = measuredApi(this.connect(directive), metrics, elapsed)
    return new SharedWatch({
      api: throttledApi(measured, directive.apiLimits, { metrics, sleep, now: elapsed }),
      onWarning: (message) => log({ level: 'warning', message }),
      onError: (message) => log({ level: 'error', message }),
      sleep,
      random: Math.random,
      elapsed,
      onLarge: () => this.startThread(),
      hostBounds: hostBoundsFor(memoryBytes()),
    })
  }

  private connect(directive: KubernetesOptions): ObjectApi {
    if (this.openApi === undefined) throw new TypeError('prepare must come before open')
    try {
      return this.openApi(connectionOf(directive, this.options))
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error
      throw configError(directive, error.message)
    }
  }

  /** Reads the object files once for all directives. */
  private fileObjects(): readonly ClusterObject[] {
    if (this.objects !== undefined) return this.objects
    const { objects, warnings } = readObjectFiles(this.options.objectPaths)
    for (const message of warnings) this.options.log({ level: 'warning', message })
    this.objects = objects
    return objects
  }
}

/** Error for several clusters, in `serve` and `kubedoh check`. */
export const MERGED_AT_GATEWAYS =
  '"cluster" with several clusters works at gateways only: this server watches one'

/** Returns a cluster that `reader` reads until the cluster moves. */
function movable(
  wanted: ClusterWanted,
  reader: Moves['reader'] & { readonly ready?: Promise<void> },
): Pick<Opened, 'wanted' | 'ready' | 'moves' | 'source'> {
  const { promise: ready, resolve: onReady } = Promise.withResolvers<void>()
  const moves: Moves = { reader, onReady }
  // A cluster that moves ends here before it was read.
  void reader.ready?.then(() => moves.reader === reader && onReady())
  const current = (): Snapshot | undefined => moves.reader.current()
  const load: SnapshotSource['load'] = () => Promise.resolve(current())
  const freshness = (): Freshness => moves.reader.freshness()
  const serviceState: SnapshotSource['serviceState'] = (namespace, name) =>
    moves.reader.serviceState?.(namespace, name)
  return { wanted, ready, moves, source: { current, load, freshness, serviceState } }
}

/** Whether a source has more names than what is read now, or fresher ones that are as many. */
function isBetter(source: SnapshotSource, now: Moves['reader']): boolean {
  const hasAll = (one: Moves['reader']): boolean => one.freshness() !== 'partial'
  return hasAll(source) || (!hasAll(now) && source.current() !== undefined)
}

/** Returns the state of a cluster that is about to end, without a reference to its objects. */
function lastState(live: LiveCluster, elapsed: () => number): Moves['reader'] {
  const snapshot = live.current()
  const freshness = live.freshness()
  const sinceMs = elapsed()
  const isStale = (): boolean => freshness === 'fresh' && elapsed() - sinceMs >= STALE_MS
  return { current: () => snapshot, freshness: () => (isStale() ? 'stale' : freshness) }
}
