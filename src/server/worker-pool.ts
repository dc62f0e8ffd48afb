/**
 * `kubedoh serve --workers`: threads that serve the same ports, among which the system chooses by
 * the client's address and port (SO_REUSEPORT). The main thread reads the Corefile, follows the
 * clusters for all, and has `health`, `ready` and `prometheus`, which speak for all. A worker that
 * ends is replaced.
 * @module
 */
import { dirname } from 'node:path'
import { createResolver } from '../chain/create-resolver.ts'
import type { Host, SnapshotSource } from '../chain/host.ts'
import type { PluginHost } from '../chain/plugin-entry.ts'
import type { Resolver } from '../chain/resolver.ts'
import { STANDARD_PORTS } from '../chain/server-address.ts'
import { CLUSTER_TREE } from '../corefile/cluster-tree.ts'
import { formatProblem } from '../corefile/problem.ts'
import { elapsed } from '../node/elapsed.ts'
import { type LoadedCorefile, loadCorefile } from '../node/load-corefile.ts'
import { outsideAddresses } from '../node/local-addresses.ts'
import { CommandError, createLog, describeError, type Output } from '../node/output.ts'
import type { Log } from '../telemetry/log.ts'
import { mergeMetrics, withoutGauges } from '../telemetry/merge-metrics.ts'
import { Metrics } from '../telemetry/metrics.ts'
import { ClusterSources, type ClusterWanted, keyOf } from './cluster-sources.ts'
import { CorefileReloads } from './corefile-reloads.ts'
import { lameduckMsOf } from './dns-server.ts'
import { FeatureServers, formatMetrics } from './feature-servers.ts'
import { createNodeHost } from './node-host.ts'
import type { RunningServer, ServeOptions } from './server.ts'
import { type SharedSnapshot, SnapshotSharer } from './shared-snapshots.ts'
import { WorkerThread } from './worker-thread.ts'

/** How many workers there are to be, and the module that each runs. */
export type Workers = { readonly count: number; readonly entry?: string }

/** How often it is looked how old the clusters' names are. */
const LOOK_MS = 500
/** Pause before a worker is replaced: doubled each time, until one lives longer than the last. */
const REPLACE_MS_MIN = 500
const REPLACE_MS_MAX = 30_000
/** A worker that lived as long was a good one. */
const GOOD_MS = 60_000

/**
 * Starts workers; they all answer when the promise resolves.
 * @throws {ConfigError} with what is wrong with the Corefile
 * @throws {CommandError} with what else keeps them from serving
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

/** A Corefile, and the clusters that it needs. */
type Compiled = {
  readonly corefile: LoadedCorefile
  readonly clusters: readonly (ClusterWanted & { readonly source: SnapshotSource })[]
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
  /** What workers that are no more have counted. */
  private past = ''
  /** What was told of each cluster last. */
  private readonly told = new Map<string, SharedSnapshot>()
  private current: Compiled | undefined
  private replaceMs = REPLACE_MS_MIN
  private isStopping = false

  constructor(options: ServeOptions, output: Output, { count, entry }: Workers) {
    const { conf, files, objects, kubeconfig, localAddresses } = options
    this.options = options
    this.output = output
    this.count = count
    this.entry = entry
    this.folder = files === '' ? dirname(conf) : files
    this.log = createLog(output)
    this.reloads = new CorefileReloads({
      path: conf,
      current: () =>
        this.current && {
          text: this.current.corefile.text,
          features: this.current.resolver.features,
        },
      take: (loaded) => this.takeUp(loaded),
      metrics: this.metrics,
      log: this.log,
    })
    this.sources = new ClusterSources({
      objectPaths: objects,
      kubeconfig,
      folder: this.folder,
      localAddresses: outsideAddresses(localAddresses),
      loadApi: async () => (await import('../exporter/watch.ts')).openApi,
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
    const started = Array.from({ length: this.count }, (_, i) => this.begin(i + 1))
    for (const ports of await Promise.all(started)) this.ports = ports
    const look = setInterval(() => this.shareChanges(), LOOK_MS)
    this.timers.add(look.unref())
    this.reloads.schedule()
  }

  reload(): Promise<void> {
    return this.reloads.reloadNow()
  }

  async stop(): Promise<void> {
    this.isStopping = true
    const lameduckMs = lameduckMsOf(this.current?.resolver.features ?? [])
    await new Promise((resolve) => setTimeout(resolve, lameduckMs))
    await this.close()
  }

  /** Ends all at once. */
  async close(): Promise<void> {
    this.isStopping = true
    this.reloads.stop()
    for (const timer of this.timers) clearTimeout(timer)
    await Promise.all([...this.workers.values()].map((worker) => worker.stop()))
    await this.features.close()
    this.sources.keep([])
  }

  /** Starts a worker. @returns its ports @throws {CommandError} when it does not serve */
  private async begin(number: number): Promise<readonly number[]> {
    const { output, entry, current } = this
    if (current === undefined) throw new TypeError('a Corefile must come before workers')
    const startMs = elapsed()
    const worker = new WorkerThread(output, {
      ...(entry !== undefined && { entry }),
      onAbort: (message) => {
        this.log({ level: 'error', message })
        process.exit(1)
      },
    })
    this.workers.set(number, worker)
    this.share([worker], current)
    const served = await worker.serve(this.options, current.corefile)
    if (served.kind === 'refuses') throw new CommandError(served.message)
    void worker.ended.then((reason) => this.replace(number, { reason, startMs }))
    return served.ports
  }

  private replace(
    number: number,
    { reason, startMs }: { readonly reason: string; readonly startMs: number },
  ): void {
    const gone = this.workers.get(number)
    if (this.isStopping || gone === undefined) return
    this.past = mergeMetrics([this.past, withoutGauges(gone.lastMetrics)])
    this.workers.delete(number)
    this.log({ level: 'error', message: `worker ${number} ended and is replaced`, reason })
    if (elapsed() - startMs > GOOD_MS) this.replaceMs = REPLACE_MS_MIN
    const timer = setTimeout(() => {
      this.timers.delete(timer)
      const nowMs = elapsed()
      this.begin(number).catch((error: unknown) => {
        void this.workers.get(number)?.stop()
        this.replace(number, { reason: describeError(error), startMs: nowMs })
      })
    }, this.replaceMs)
    this.timers.add(timer)
    this.replaceMs = Math.min(2 * this.replaceMs, REPLACE_MS_MAX)
  }

  /** Gives workers what is known of the clusters of a Corefile. */
  private share(workers: Iterable<WorkerThread>, { clusters }: Pick<Compiled, 'clusters'>): void {
    const listed = [...workers]
    for (const cluster of clusters) {
      const [key, snapshot] = [keyOf(cluster), this.sharer.share(cluster.source)]
      this.told.set(key, snapshot)
      for (const worker of listed) worker.share(key, snapshot)
    }
  }

  /** Gives all workers what has changed since. */
  private shareChanges(): void {
    for (const cluster of this.current?.clusters ?? []) {
      const told = this.told.get(keyOf(cluster))
      const { source } = cluster
      const isSame = told?.snapshot?.info.generation === source.current()?.info.generation
      if (isSame && told?.freshness === source.freshness()) continue
      this.share(this.workers.values(), { clusters: [cluster] })
    }
  }

  /** Compiles a Corefile, whose plugins are never started, and reads the clusters that it needs. */
  private async compile(corefile: LoadedCorefile): Promise<Compiled> {
    const { blocks, warnings } = corefile
    await this.sources.prepare(blocks)
    const clusters: Compiled['clusters'][number][] = []
    const host = this.readingHost((directive, tree = CLUSTER_TREE) => {
      const source = this.sources.open(directive, tree)
      clusters.push({ directive, tree, source })
      return source
    })
    const ports = { ...STANDARD_PORTS, dns: this.options.dnsPort }
    const resolver = createResolver(blocks, host, ports)
    const notices = [...warnings, ...resolver.notices].map(formatProblem)
    const names = new Set(blocks.flatMap((block) => block.directives.map(({ name }) => name)))
    if (names.has('transfer') && clusters.length > 0) {
      notices.push('zones of clusters are not transferred where there are several workers')
    }
    if (names.has('metadata') && clusters.length > 0) {
      notices.push('nothing is known of the Pods that ask where there are several workers')
    }
    for (const message of notices) this.log({ level: 'warning', message })
    if (!(await this.sources.ready())) {
      const message = 'a cluster is not read yet; until it is, names that it lacks are SERVFAIL'
      this.log({ level: 'warning', message })
    }
    return { corefile, clusters, resolver }
  }

  /** A runtime that reads files and clusters, and connects to nothing else. */
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

  /** As one server does; what was serving serves on when no worker can take it. */
  private async takeUp(loaded: LoadedCorefile): Promise<void> {
    try {
      await this.take(await this.compile(loaded))
    } finally {
      this.sources.keep(this.current?.clusters ?? [])
    }
  }

  /** One worker tries it; where it can, all can: one that cannot is replaced by one that can. */
  private async take(compiled: Compiled): Promise<void> {
    const { features } = this.current?.resolver ?? { features: [] }
    await this.features.apply(compiled.resolver.features)
    const [first] = [...this.workers.values()]
    this.share(this.workers.values(), compiled)
    const tried = await first?.serve(this.options, compiled.corefile)
    if (tried?.kind === 'refuses') {
      await this.features.apply(features)
      throw new CommandError(tried.message)
    }
    this.current = compiled
    const others = [...this.workers.values()].filter((worker) => worker !== first)
    const served = others.map(async (worker) => {
      const { kind } = await worker.serve(this.options, compiled.corefile)
      if (kind === 'refuses') await worker.stop()
    })
    await Promise.all(served)
  }

  private async format(): Promise<string> {
    const texts = [...this.workers.values()].map((worker) => worker.metrics())
    const all = await Promise.all(texts)
    return mergeMetrics([formatMetrics(this.metrics), this.past, ...all])
  }

  /** What any of the workers waits for; none of them is waited for as long as others answer. */
  async notReady(): Promise<readonly string[]> {
    if (this.isStopping) return ['Shutting down']
    if (this.workers.size === 0) return ['workers']
    const told = await Promise.all([...this.workers.values()].map((worker) => worker.notReady()))
    return [...new Set(told.flat())]
  }
}
