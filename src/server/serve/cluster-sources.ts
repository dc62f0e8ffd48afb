/**
 * Opens the clusters of `kubernetes` and `k8s_gateway` directives for a server in this process:
 * reads them from object files, or watches an API server. Once one of them is large, a thread of
 * its own watches them all.
 * @module
 */

import { readObjectFiles } from '../../cluster/api/object-files.ts'
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
import type { SnapshotSource } from '../../resolver/contract/host.ts'
import { ApiWatches, type ApiWatchOptions } from './api-watches.ts'
import { type ClusterWanted, keyOf } from './cluster-wanted.ts'
import { SwitchedSource } from './switched-source.ts'

/** The clusters of a server: its own, or those that another thread watches. */
export type Clusters = Pick<ClusterSources, 'prepare' | 'open' | 'keep' | 'ready'> &
  Partial<Pick<ClusterSources, 'threadMetrics' | 'problems'>>

/** Where the Kubernetes objects come from; the directives give the rest. */
export type ClusterSourceOptions = ApiWatchOptions & {
  /** Files or folders of objects; replace an API server when not empty. */
  readonly objectPaths: readonly string[]
  /** Addresses of this server, for the zones' NS records. */
  readonly localAddresses: readonly string[]
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Called when a cluster has a new snapshot. */
  readonly onSnapshot?: () => void
  /** Starts the thread for large clusters. Without it, this thread watches all clusters. */
  readonly openThread?: (onSnapshot: () => void) => WatchingThread
}

/** The thread that watches clusters (`ClusterThread`). */
type WatchingThread = {
  readonly watch: (clusters: readonly ClusterWanted[]) => Promise<void>
  readonly source: (wanted: ClusterWanted) => SnapshotSource
  readonly metrics: () => Promise<string>
  readonly problems: () => readonly string[]
  readonly stop: () => Promise<void>
}

/** A cluster that is open. */
type OpenCluster = {
  readonly wanted: ClusterWanted
  readonly source: SnapshotSource
  /** Resolves when queries can be answered, or the startup timeout has passed. */
  readonly ready: Promise<void>
  /** The source, if another thread may watch the cluster. */
  readonly switched?: SwitchedSource
  /** The watch in this thread; absent for object files, and while another thread watches. */
  local?: LocalWatch | undefined
}

/** A cluster that this thread watches, and the key of the shared watch. */
type LocalWatch = { readonly live: LiveCluster; readonly key: string }

/** Plugins that open clusters. */
const READERS: ReadonlySet<string> = new Set(['kubernetes', 'k8s_gateway'])
/** Time without contact with the API server after which responses are marked stale. */
const STALE_MS = 60_000
/** Error for several clusters, in `serve` and `kubedoh check`. */
export const MERGED_AT_GATEWAYS =
  '"cluster" with several clusters works at gateways only: this server watches one'

/** Opens each distinct cluster once; a reload of the Corefile keeps the open ones. */
export class ClusterSources {
  private readonly options: ClusterSourceOptions
  private readonly clusters = new Map<string, OpenCluster>()
  private readonly watches: ApiWatches
  /** Watches all clusters that have a switched source, if one of them is large. */
  private thread: WatchingThread | undefined
  private objects: readonly ClusterObject[] | undefined

  constructor(options: ClusterSourceOptions) {
    this.options = options
    this.watches = new ApiWatches(options, () => this.startThread())
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
    await this.watches.prepare()
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
    const known = this.clusters.get(key)
    if (known !== undefined) return known.source
    const naming = namingOptions(directive, this.options.localAddresses, tree)
    const isFromFiles = this.options.objectPaths.length > 0
    const cluster = isFromFiles ? this.openFiles(wanted, naming) : this.openLive(wanted, naming)
    this.clusters.set(key, cluster)
    if (cluster.switched !== undefined) this.watchInThread()
    return cluster.source
  }

  /** Stops the clusters and watches that no directive of `inUse` needs. */
  keep(inUse: readonly ClusterWanted[]): void {
    const keys = new Set(inUse.map(keyOf))
    for (const [key, { local }] of this.clusters) {
      if (keys.has(key)) continue
      local?.live.stop()
      this.clusters.delete(key)
    }
    this.dropWatches()
    this.watchInThread()
  }

  /** Returns the metrics of the thread of large clusters, if there is one. */
  threadMetrics(): Promise<string> | undefined {
    return this.thread?.metrics()
  }

  /**
   * Returns what of the clusters is not read, or may be old, and why: for each API server a line
   * for each such collection. Never waits: probes have a second.
   */
  problems(): readonly string[] {
    return [...this.watches.problems(), ...(this.thread?.problems() ?? [])]
  }

  /**
   * Waits until each cluster has synced or its startup timeout has passed.
   * @returns whether all have synced
   */
  async ready(): Promise<boolean> {
    const all = [...this.clusters.values()]
    await Promise.all(all.map(({ ready }) => ready))
    return all.every(({ source }) => source.freshness() !== 'partial')
  }

  private openFiles(wanted: ClusterWanted, naming: NamingOptions): OpenCluster {
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

  /** Reads the object files once for all directives. */
  private fileObjects(): readonly ClusterObject[] {
    if (this.objects !== undefined) return this.objects
    const { objects, warnings } = readObjectFiles(this.options.objectPaths)
    for (const message of warnings) this.options.log({ level: 'warning', message })
    this.objects = objects
    return objects
  }

  private openLive(wanted: ClusterWanted, naming: NamingOptions): OpenCluster {
    const { thread, options } = this
    const isSwitched = options.openThread !== undefined && wanted.needsObjects === undefined
    if (isSwitched && thread !== undefined) {
      // Refuses an unusable connection here: the thread would only log it.
      this.watches.connect(wanted.directive)
      return switchedCluster(wanted, new SwitchedSource(thread.source(wanted)))
    }
    const local = this.watchHere(wanted, naming)
    const { live } = local
    if (isSwitched) return { ...switchedCluster(wanted, new SwitchedSource(live)), local }
    return {
      wanted,
      ready: live.ready,
      local,
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

  private watchHere({ directive, tree }: ClusterWanted, naming: NamingOptions): LocalWatch {
    const { log, metrics, now, elapsed, onSnapshot } = this.options
    const { key, shared } = this.watches.open(directive)
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
      // All trees of a cluster change together, so only one is measured.
      ...(tree.kind === 'cluster' && { metrics }),
    })
    live.start()
    return { live, key }
  }

  private dropWatches(): void {
    const keys = Array.from(this.clusters.values(), ({ local }) => local?.key ?? '')
    this.watches.keep(new Set(keys))
  }

  /** Starts a thread of its own for the clusters: one of them is large. */
  private startThread(): void {
    const { openThread } = this.options
    if (this.thread !== undefined || openThread === undefined) return
    if (this.switchedClusters().length === 0) return
    this.thread = openThread(() => this.switchToThread())
    this.watchInThread()
    this.switchToThread()
  }

  /** Sends the thread the list of its clusters; stops it when there are none. */
  private watchInThread(): void {
    const { thread } = this
    if (thread === undefined) return
    const clusters = this.switchedClusters()
    if (clusters.length === 0) {
      this.thread = undefined
      void thread.stop()
      return
    }
    void thread.watch(clusters.map(({ wanted }) => wanted)).then(() => {
      for (const { switched } of clusters) switched?.setReady()
    })
  }

  /**
   * Stops the watches of this thread: two copies of a growing cluster would need twice the memory.
   * Their last names stay until the other thread has read the cluster.
   */
  private switchToThread(): void {
    const { elapsed } = this.options
    for (const cluster of this.switchedClusters()) {
      const { local, switched, wanted } = cluster
      if (local !== undefined) {
        switched?.keepNames({ elapsed, staleMs: STALE_MS })
        local.live.stop()
        cluster.local = undefined
      }
      if (this.thread !== undefined) switched?.offer(this.thread.source(wanted))
    }
    this.dropWatches()
  }

  private switchedClusters(): OpenCluster[] {
    return [...this.clusters.values()].filter(({ switched }) => switched !== undefined)
  }
}

function switchedCluster(wanted: ClusterWanted, switched: SwitchedSource): OpenCluster {
  return { wanted, switched, source: switched.source, ready: switched.ready }
}
