/**
 * Opens the clusters of `kubernetes` and `k8s_gateway` directives for a server in this process:
 * reads them from object files, or watches an API server.
 * @module
 */
import type { SnapshotSource } from '../chain/host.ts'
import { CLUSTER_TREE, type ClusterTree } from '../corefile/cluster-tree.ts'
import type { KubernetesOptions } from '../corefile/kubernetes-options.ts'
import { configError } from '../corefile/problem.ts'
import type { ServerBlock } from '../corefile/server-block.ts'
import { sleep } from '../exporter/backoff.ts'
import { createObjectSource } from '../exporter/export-source.ts'
import { LiveCluster } from '../exporter/live-cluster.ts'
import { measuredApi, throttledApi } from '../exporter/measured-api.ts'
import { namingOptions } from '../exporter/naming.ts'
import {
  type ApiConnection,
  ConnectionError,
  connectionOf,
  type ObjectApi,
} from '../exporter/object-api.ts'
import { readObjectFiles } from '../exporter/object-files.ts'
import { SharedWatch } from '../exporter/shared-watch.ts'
import { ClusterSnapshots } from '../exporter/snapshot-builder.ts'
import type { ClusterObject } from '../kubernetes/objects/objects.ts'
import type { NamingOptions } from '../kubernetes/objects/options.ts'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'

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
}

/** The cluster that a directive reads, and the tree of names that the directive needs. */
export type ClusterWanted = { readonly directive: KubernetesOptions; readonly tree: ClusterTree }

type OpenApi = (connection: ApiConnection) => ObjectApi
type Opened = {
  readonly source: SnapshotSource
  readonly live: LiveCluster | undefined
  /** Key of the shared watch; '' without one. */
  readonly watch: string
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
  private objects: readonly ClusterObject[] | undefined
  private openApi: OpenApi | undefined

  constructor(options: ClusterSourceOptions) {
    this.options = options
  }

  /** Loads the API client if one of these blocks needs it. Call it before `open`. */
  async prepare(blocks: readonly ServerBlock[]): Promise<void> {
    const { objectPaths, loadApi } = this.options
    const isNeeded = blocks.some(({ directives }) =>
      directives.some(({ name }) => READERS.has(name)),
    )
    if (isNeeded && objectPaths.length === 0) this.openApi ??= await loadApi()
  }

  /**
   * Returns the snapshots for a directive.
   * @throws {ConfigError} when the directive merges clusters or names an unusable API connection
   */
  open(directive: KubernetesOptions, tree: ClusterTree = CLUSTER_TREE): SnapshotSource {
    if (directive.clusters.length > 1) throw configError(directive, MERGED_AT_GATEWAYS)
    const key = keyOf({ directive, tree })
    const known = this.opened.get(key)
    if (known !== undefined) return known.source
    const naming = namingOptions(directive, this.options.localAddresses, tree)
    const isFromFiles = this.options.objectPaths.length > 0
    const opened = isFromFiles ? this.openFiles(naming) : this.openLive(directive, tree, naming)
    this.opened.set(key, opened)
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
    const watched = new Set(Array.from(this.opened.values(), ({ watch }) => watch))
    for (const key of this.watches.keys()) if (!watched.has(key)) this.watches.delete(key)
  }

  /**
   * Waits until each cluster has synced or its startup timeout has passed.
   * @returns whether all have synced
   */
  async ready(): Promise<boolean> {
    const all = [...this.opened.values()].flatMap(({ live }) => live ?? [])
    await Promise.all(all.map(({ ready }) => ready))
    return all.every(({ hasSynced }) => hasSynced)
  }

  private openFiles(naming: NamingOptions): Opened {
    const { log, now } = this.options
    const source = createObjectSource(this.fileObjects(), {
      naming,
      now,
      onWarning: (message) => log({ level: 'warning', message }),
    })
    const snapshots = new ClusterSnapshots(now)
    snapshots.take(source.build())
    return {
      live: undefined,
      watch: '',
      source: {
        current: () => snapshots.current(),
        load: () => Promise.resolve(snapshots.current()),
        freshness: () => 'fresh',
        transferRecords: () => source.transferRecords(),
        podAt: (client) => source.podAt(client),
      },
    }
  }

  private openLive(directive: KubernetesOptions, tree: ClusterTree, naming: NamingOptions): Opened {
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
      // Trees of one cluster share its changes: measure them for the cluster's own names only.
      ...(tree.kind === 'cluster' && { metrics }),
    })
    live.start()
    return {
      live,
      watch,
      source: {
        current: () => live.current(),
        load: () => Promise.resolve(live.current()),
        freshness: () => live.freshness(),
        transferRecords: () => live.transferRecords(),
        podAt: (client) => live.podAt(client),
      },
    }
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

/** Returns a key: directives that differ only in their place in the Corefile share a cluster. */
export function keyOf({ directive, tree }: ClusterWanted): string {
  const { line: _line, column: _column, file: _file, notices: _notices, ...options } = directive
  return JSON.stringify({ ...options, tree })
}
