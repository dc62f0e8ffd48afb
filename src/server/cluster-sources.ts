/**
 * The clusters that `kubernetes` directives name, for a server in this process: from files, or
 * watched.
 * @module
 */

import type { SnapshotSource } from '../chain/host.ts'
import { CLUSTER_TREE, type ClusterTree } from '../corefile/cluster-tree.ts'
import type { KubernetesOptions } from '../corefile/kubernetes-options.ts'
import { configError } from '../corefile/problem.ts'
import type { ServerBlock } from '../corefile/server-block.ts'
import { connectionOf } from '../exporter/api-connection.ts'
import { sleep } from '../exporter/backoff.ts'
import { ClusterSnapshots } from '../exporter/cluster-snapshots.ts'
import { createObjectSource } from '../exporter/export-source.ts'
import { LiveCluster } from '../exporter/live-cluster.ts'
import { measuredApi } from '../exporter/measured-api.ts'
import { namingOptions } from '../exporter/naming.ts'
import { type ApiConnection, ConnectionError, type ObjectApi } from '../exporter/object-api.ts'
import { readObjectFiles } from '../exporter/object-files.ts'
import { SharedWatch } from '../exporter/shared-watch.ts'
import { throttledApi } from '../exporter/throttled-api.ts'
import type { ClusterObject } from '../kubernetes/objects/objects.ts'
import type { NamingOptions } from '../kubernetes/objects/options.ts'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'

/** Where objects come from, beside what the directives say. */
export type ClusterSourceOptions = {
  /** Files or folders of objects, in place of an API server. */
  readonly objectPaths: readonly string[]
  /** How to reach an API server, whatever the directives say. */
  readonly kubeconfig: string
  /** What paths in directives are relative to. */
  readonly folder: string
  /** Addresses of this server, for the zones' NS records. */
  readonly localAddresses: readonly string[]
  /** Loads the API's client, which is large and not always needed. */
  readonly loadApi: () => Promise<OpenApi>
  readonly log: Log
  readonly metrics: Metrics
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Milliseconds since some moment, by a clock that never goes back. */
  readonly elapsed: () => number
  /** A cluster has another snapshot. */
  readonly onSnapshot?: () => void
}

/** A cluster as a directive reads it, and which of its names are wanted. */
export type ClusterWanted = { readonly directive: KubernetesOptions; readonly tree: ClusterTree }

type OpenApi = (connection: ApiConnection) => ObjectApi
type Opened = {
  readonly source: SnapshotSource
  readonly live: LiveCluster | undefined
  /** Key of the watch that it shares; '' for none. */
  readonly watch: string
}

/** Plugins that read clusters of their own. */
const READERS: ReadonlySet<string> = new Set(['kubernetes', 'k8s_gateway'])
/** Time without a word from the API server after which answers say that they are old. */
const STALE_MS = 60_000

/** Opens clusters: each distinct directive once, also when the Corefile is read again. */
export class ClusterSources {
  private readonly options: ClusterSourceOptions
  private readonly opened = new Map<string, Opened>()
  /** One watch for all that is read from an API server in the same way. */
  private readonly watches = new Map<string, SharedWatch>()
  private objects: readonly ClusterObject[] | undefined
  private openApi: OpenApi | undefined

  constructor(options: ClusterSourceOptions) {
    this.options = options
  }

  /** Loads what is needed to open the clusters of these blocks. */
  async prepare(blocks: readonly ServerBlock[]): Promise<void> {
    const { objectPaths, loadApi } = this.options
    const isNeeded = blocks.some(({ directives }) =>
      directives.some(({ name }) => READERS.has(name)),
    )
    if (isNeeded && objectPaths.length === 0) this.openApi ??= await loadApi()
  }

  /**
   * Finds the snapshots for a directive, after `prepare`.
   * @throws {ConfigError} when there can be none
   */
  open(directive: KubernetesOptions, tree: ClusterTree = CLUSTER_TREE): SnapshotSource {
    if (directive.cluster !== undefined) {
      const message = '"cluster" names a cluster that is pushed to a gateway; here one is watched'
      throw configError(directive, message)
    }
    const key = keyOf({ directive, tree })
    const known = this.opened.get(key)
    if (known !== undefined) return known.source
    const naming = namingOptions(directive, this.options.localAddresses, tree)
    const isFromFiles = this.options.objectPaths.length > 0
    const opened = isFromFiles ? this.openFiles(naming) : this.openLive(directive, tree, naming)
    this.opened.set(key, opened)
    return opened.source
  }

  /** Ends what no directive of `inUse` needs. */
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
   * Waits until all clusters have been read, or there was time enough for it.
   * @returns whether all have been read
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
      // Each change is measured once, where the cluster's own names come from.
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

  /** Files are read once, for all directives. */
  private fileObjects(): readonly ClusterObject[] {
    if (this.objects !== undefined) return this.objects
    const { objects, warnings } = readObjectFiles(this.options.objectPaths)
    for (const message of warnings) this.options.log({ level: 'warning', message })
    this.objects = objects
    return objects
  }
}

/** Tells clusters apart by what a directive says of names and the API, wherever it says it. */
export function keyOf({ directive, tree }: ClusterWanted): string {
  const { line: _line, column: _column, file: _file, notices: _notices, ...said } = directive
  return JSON.stringify({ ...said, tree })
}
