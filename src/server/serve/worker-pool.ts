/**
 * `kubedoh serve --workers`: threads that serve the same ports; the kernel picks one by the
 * client's address and port (SO_REUSEPORT). The main thread reads the Corefile, watches the
 * clusters, and serves `health`, `ready` and `prometheus` for all workers. It replaces a worker
 * that exits.
 * @module
 */

import { dirname } from 'node:path'
import { CLUSTER_TREE } from '../../corefile/cluster-tree.ts'
import { formatProblem } from '../../corefile/problem.ts'
import { finish, inSlices } from '../../dns/bytes/steps.ts'
import type { Log } from '../../dns/telemetry/log.ts'
import { mergeMetrics, withoutGauges } from '../../dns/telemetry/merge-metrics.ts'
import { Metrics } from '../../dns/telemetry/metrics.ts'
import { resolverSteps } from '../../resolver/chain/create-resolver.ts'
import type { Resolver } from '../../resolver/chain/resolver.ts'
import type { Host } from '../../resolver/contract/host.ts'
import type { PluginHost } from '../../resolver/contract/plugin-entry.ts'
import { STANDARD_PORTS } from '../../resolver/contract/server-address.ts'
import { elapsed } from '../node/elapsed.ts'
import { type LoadedCorefile, loadCorefile } from '../node/load-corefile.ts'
import { outsideAddresses } from '../node/local-addresses.ts'
import { CommandError, createLog, describeError, type Output } from '../node/output.ts'
import { timerMs } from '../node/timer-ms.ts'
import { ClusterSources } from './cluster-sources.ts'
import { keyOf } from './cluster-wanted.ts'
import { CorefileReloads } from './corefile-reloads.ts'
import { lameduckMsOf } from './dns-server.ts'
import { FeatureServers } from './feature-servers.ts'
import { createNodeHost } from './node-host.ts'
import { formatMetrics, mergeInSlices } from './process-metrics.ts'
import type { RunningServer, ServeOptions } from './serve-options.ts'
import { FRESHNESS_MS, SnapshotSharer, type WatchedCluster } from './shared-snapshots.ts'
import { WorkerThread } from './worker-thread.ts'

/** The number of workers, and the module that each runs. */
export type Workers = { readonly count: number; readonly entry?: string }

/** Delay before a worker is replaced: doubles each time, until one runs for `GOOD_MS`. */
const REPLACE_MS_MIN = 500
const REPLACE_MS_MAX = 30_000
/** A worker that ran this long resets the delay. */
const GOOD_MS = 60_000

/**
 * Starts workers. All of them serve when the promise resolves.
 * @throws {ConfigError} when the Corefile is invalid
 * @throws {CommandError} when a worker cannot serve for another reason
 */
export async function serveByWorkers(
  options: ServeOptions,
  output: Output,
  workers: Workers,
): Promise<RunningServer> {
  const pool = new WorkerPool(options, output, workers)
  try {
    await pool.start()
    return pool
  } catch (error) {
    await pool.close()
    throw error
  }
}

/** A compiled Corefile, and the clusters that it needs. */
type Compiled = {
  readonly corefile: LoadedCorefile
  readonly clusters: readonly WatchedCluster[]
  readonly resolver: Resolver
}

class WorkerPool implements RunningServer {
  ports: readonly number[] = []
  private readonly options: ServeOptions
  private readonly output: Output
  private readonly count: number
  private readonly entry: string | undefined
  private readonly folder: string
  private readonly log: Log
  private readonly metrics = new Metrics()
  private readonly reloads: CorefileReloads
  private readonly sources: ClusterSources
  private readonly features: FeatureServers
  private readonly sharer = new SnapshotSharer()
  private readonly workers = new Map<number, WorkerThread>()
  private readonly timers = new Set<NodeJS.Timeout>()
  /** Counters of workers that have exited. */
  private pastMetrics = ''
  private current: Compiled | undefined
  private replaceMs = REPLACE_MS_MIN
  private isStopping = false

  constructor(options: ServeOptions, output: Output, { count, entry }: Workers) {
    const { conf, files, objects, kubeconfig, localAddresses } = options
    this.options = { ...options, threads: count }
    this.output = output
    this.count = count
    this.entry = entry
    this.folder = files === '' ? dirname(conf) : files
    this.log = createLog(output)
    this.reloads = new CorefileReloads({
      path: conf,
      current: () =>
        this.current && {
          corefile: this.current.corefile,
          features: this.current.resolver.features,
        },
      apply: (loaded) => this.reloadWith(loaded),
      metrics: this.metrics,
      log: this.log,
    })
    this.sources = new ClusterSources({
      objectPaths: objects,
      kubeconfig,
      folder: this.folder,
      localAddresses: outsideAddresses(localAddresses),
      loadApi: async () => (await import('../../cluster/follow/watch.ts')).openApi,
      log: this.log,
      metrics: this.metrics,
      now: Date.now,
      elapsed,
      onSnapshot: () => this.shareChanges(),
    })
    this.features = new FeatureServers({
      metrics: this.metrics,
      format: () => this.format(),
      notReady: () => this.notReady(),
    })
  }

  async start(): Promise<void> {
    const compiled = await this.compile(loadCorefile(this.options.conf))
    await this.features.apply(compiled.resolver.features)
    this.current = compiled
    const started = Array.from({ length: this.count }, (_, i) => this.startWorker(i + 1))
    for (const ports of await Promise.all(started)) this.ports = ports
    const check = setInterval(() => this.shareChanges(), FRESHNESS_MS)
    this.timers.add(check.unref())
    this.reloads.schedule()
  }

  reload(): Promise<void> {
    return this.reloads.reloadNow()
  }

  async stop(): Promise<void> {
    this.isStopping = true
    const lameduckMs = lameduckMsOf(this.current?.resolver.features ?? [])
    await new Promise((resolve) => setTimeout(resolve, timerMs(lameduckMs)))
    await this.close()
  }

  /** Closes everything without waiting for `lameduck`. */
  async close(): Promise<void> {
    this.isStopping = true
    this.reloads.stop()
    for (const timer of this.timers) clearTimeout(timer)
    const { lingerMs } = this.options
    await Promise.all([...this.workers.values()].map((worker) => worker.stop(lingerMs)))
    await this.features.close()
    this.sources.keep([])
  }

  /** Starts a worker. @returns its ports @throws {CommandError} when it cannot serve */
  private async startWorker(number: number): Promise<readonly number[]> {
    const { output, entry, current } = this
    if (current === undefined) throw new TypeError('a Corefile must come before workers')
    const startMs = elapsed()
    const worker = new WorkerThread(output, {
      ...(entry !== undefined && { entry }),
      onAbort: (message) => {
        this.log({ level: 'error', message })
        process.exit(1)
      },
      stateOf: ({ cluster, namespace, name }) =>
        this.current?.clusters
          .find((one) => keyOf(one) === cluster)
          ?.source.serviceState?.(namespace, name),
    })
    this.workers.set(number, worker)
    this.share([worker], current)
    const served = await worker.serve(this.options, current.corefile)
    if (served.kind === 'failed') throw new CommandError(served.message)
    void worker.exited.then((reason) => this.replace(number, { reason, startMs }))
    return served.ports
  }

  private replace(
    number: number,
    { reason, startMs }: { readonly reason: string; readonly startMs: number },
  ): void {
    const gone = this.workers.get(number)
    if (this.isStopping || gone === undefined) return
    this.pastMetrics = finish(mergeMetrics([this.pastMetrics, withoutGauges(gone.lastMetrics)]))
    this.workers.delete(number)
    this.log({ level: 'error', message: `worker ${number} exited; starting another`, reason })
    if (elapsed() - startMs > GOOD_MS) this.replaceMs = REPLACE_MS_MIN
    const timer = setTimeout(() => {
      this.timers.delete(timer)
      const nowMs = elapsed()
      this.startWorker(number).catch((error: unknown) => {
        void this.workers.get(number)?.stop()
        this.replace(number, { reason: describeError(error), startMs: nowMs })
      })
    }, this.replaceMs)
    this.timers.add(timer)
    this.replaceMs = Math.min(2 * this.replaceMs, REPLACE_MS_MAX)
  }

  /** Sends the state of the clusters of a Corefile to workers. */
  private share(workers: Iterable<WorkerThread>, { clusters }: Pick<Compiled, 'clusters'>): void {
    const listed = [...workers]
    for (const cluster of clusters) {
      const { source } = cluster
      const state = { snapshot: source.current(), freshness: source.freshness() }
      for (const worker of listed) worker.share(keyOf(cluster), this.sharer.share(state))
    }
  }

  /** Sends the clusters that have changed to all workers. */
  private shareChanges(): void {
    for (const [key, snapshot] of this.sharer.changes(this.current?.clusters ?? [])) {
      for (const worker of this.workers.values()) worker.share(key, snapshot)
    }
  }

  /** Compiles a Corefile and reads its clusters. The main thread never starts its plugins. */
  private async compile(corefile: LoadedCorefile): Promise<Compiled> {
    const { blocks, warnings } = corefile
    await this.sources.prepare(blocks)
    const clusters: WatchedCluster[] = []
    const host = this.readingHost((directive, tree = CLUSTER_TREE) => {
      const source = this.sources.open(directive, tree)
      clusters.push({ directive, tree, source })
      return source
    })
    const ports = { ...STANDARD_PORTS, dns: this.options.dnsPort }
    const resolver = await inSlices(resolverSteps(blocks, host, ports), host)
    const messages = [...warnings, ...resolver.notices].map(formatProblem)
    const names = new Set(blocks.flatMap((block) => block.directives.map(({ name }) => name)))
    if (names.has('transfer') && clusters.length > 0) {
      messages.push('"transfer" does not serve cluster zones with several workers; run one')
    }
    if (names.has('metadata') && clusters.length > 0) {
      messages.push('"metadata" has no values for Pods with several workers; run one')
    }
    for (const message of messages) this.log({ level: 'warning', message })
    if (!(await this.sources.ready())) {
      const message =
        'a cluster is not fully read yet; until then, unknown names in it get SERVFAIL'
      this.log({ level: 'warning', message })
    }
    return { corefile, clusters, resolver }
  }

  /** Returns a host that reads files and clusters and opens no other connections. */
  private readingHost(openCluster: Host['openCluster']): PluginHost {
    return createNodeHost({
      folder: this.folder,
      metrics: this.metrics,
      log: this.log,
      openCluster,
      openKeys: () => ({ current: () => undefined, leaseSeconds: () => undefined }),
      openTap: () => ({ send: () => undefined, close: () => undefined }),
      abort: () => undefined,
    })
  }

  /** Compiles and applies a Corefile. Keeps the previous one when it throws. */
  private async reloadWith(loaded: LoadedCorefile): Promise<void> {
    try {
      await this.apply(await this.compile(loaded))
    } finally {
      this.sources.keep(this.current?.clusters ?? [])
    }
  }

  /**
   * Tries a Corefile with one worker. If that serves it, so should all: the pool replaces a worker
   * that fails.
   */
  private async apply(compiled: Compiled): Promise<void> {
    const { features } = this.current?.resolver ?? { features: [] }
    await this.features.apply(compiled.resolver.features)
    const [first] = [...this.workers.values()]
    this.share(this.workers.values(), compiled)
    const tried = await first?.serve(this.options, compiled.corefile)
    if (tried?.kind === 'failed') {
      await this.features.apply(features)
      throw new CommandError(tried.message)
    }
    this.current = compiled
    const others = [...this.workers.values()].filter((worker) => worker !== first)
    const served = others.map(async (worker) => {
      const { kind } = await worker.serve(this.options, compiled.corefile)
      if (kind === 'failed') await worker.stop()
    })
    await Promise.all(served)
  }

  private async format(): Promise<string> {
    const texts = [...this.workers.values()].map((worker) => worker.metrics())
    const all = await Promise.all(texts)
    const own = await formatMetrics(this.metrics, this.current?.resolver.listeners)
    return mergeInSlices([own, this.pastMetrics, ...all])
  }

  /** Returns the plugins that are not ready in one of the workers; ignores workers not started. */
  async notReady(): Promise<readonly string[]> {
    if (this.isStopping) return ['Shutting down']
    if (this.workers.size === 0) return ['workers']
    const names = await Promise.all([...this.workers.values()].map((worker) => worker.notReady()))
    return [...new Set(names.flat())]
  }
}
