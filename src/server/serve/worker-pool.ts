/**
 * `kubedoh serve --workers`: threads that serve the same ports; the kernel picks one by the
 * client's address and port (SO_REUSEPORT). The main thread reads the Corefile, watches the
 * clusters, and serves `health`, `ready` and `prometheus` for all workers. It replaces a worker
 * that exits.
 * @module
 */

import { finish } from '../../dns/bytes/steps.ts'
import { mergeMetrics, withoutGauges } from '../../dns/telemetry/merge-metrics.ts'
import type { Resolver } from '../../resolver/chain/resolver.ts'
import { elapsed } from '../node/elapsed.ts'
import { CommandError, describeError, type Output } from '../node/output.ts'
import { keyOf } from './cluster-wanted.ts'
import { FeatureServers } from './feature-servers.ts'
import { formatMetrics, mergeInSlices } from './process-metrics.ts'
import type { RunningServer, ServeOptions } from './serve-options.ts'
import { type Answering, type Compiled, type MainThread, Server } from './server.ts'
import { FRESHNESS_MS, SnapshotSharer } from './shared-snapshots.ts'
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
  const served = { ...options, threads: workers.count }
  const server = new Server(served, output, {
    createWorkers: (main) => new WorkerPool(served, output, { ...main, ...workers }),
  })
  try {
    await server.start()
    return server
  } catch (error) {
    await server.close()
    throw error
  }
}

class WorkerPool implements Answering {
  ports: number[] = []
  private readonly options: ServeOptions
  private readonly output: Output
  private readonly context: MainThread & Workers
  private readonly features: FeatureServers
  private readonly sharer = new SnapshotSharer()
  private readonly workers = new Map<number, WorkerThread>()
  private readonly timers = new Set<NodeJS.Timeout>()
  /** Counters of workers that have exited. */
  private pastMetrics = ''
  private current: Compiled | undefined
  private replaceMs = REPLACE_MS_MIN
  private isStopping = false

  constructor(options: ServeOptions, output: Output, context: MainThread & Workers) {
    this.options = options
    this.output = output
    this.context = context
    this.features = new FeatureServers({
      metrics: context.metrics,
      format: () => this.format(),
      notReady: () => this.notReady(),
      problems: context.problems,
    })
  }

  announceStop(): void {
    this.isStopping = true
  }

  /** Does nothing: workers drain when they close. */
  async drain(): Promise<void> {}

  async close(): Promise<void> {
    this.isStopping = true
    for (const timer of this.timers) clearTimeout(timer)
    const { lingerMs } = this.options
    await Promise.all([...this.workers.values()].map((worker) => worker.stop(lingerMs)))
    await this.features.close()
  }

  /** Starts a worker. @returns its ports @throws {CommandError} when it cannot serve */
  private async startWorker(number: number): Promise<number[]> {
    const { output, current } = this
    const { entry, abort } = this.context
    if (current === undefined) throw new TypeError('a Corefile must come before workers')
    const startMs = elapsed()
    const worker = new WorkerThread(output, {
      ...(entry !== undefined && { entry }),
      onAbort: abort,
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
    return [...served.ports]
  }

  private replace(
    number: number,
    { reason, startMs }: { readonly reason: string; readonly startMs: number },
  ): void {
    const gone = this.workers.get(number)
    if (this.isStopping || gone === undefined) return
    this.pastMetrics = finish(mergeMetrics([this.pastMetrics, withoutGauges(gone.lastMetrics)]))
    this.workers.delete(number)
    const { log } = this.context
    log({ level: 'error', message: `worker ${number} exited; starting another`, reason })
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
  readonly onSnapshot = (): void => {
    for (const [key, snapshot] of this.sharer.changes(this.current?.clusters ?? [])) {
      for (const worker of this.workers.values()) worker.share(key, snapshot)
    }
  }

  /**
   * Starts the workers with the first Corefile. Tries another one with one worker: if that serves
   * it, so should all, and the pool replaces a worker that fails.
   */
  async serve({ features }: Resolver, compiled: Compiled): Promise<void> {
    const previous = this.current
    await this.features.apply(features)
    if (previous === undefined) return this.start(compiled)
    const [first] = [...this.workers.values()]
    this.share(this.workers.values(), compiled)
    const tried = await first?.serve(this.options, compiled.corefile)
    if (tried?.kind === 'failed') {
      await this.features.apply(previous.resolver.features)
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

  private async start(compiled: Compiled): Promise<void> {
    this.current = compiled
    const started = Array.from({ length: this.context.count }, (_, i) => this.startWorker(i + 1))
    for (const ports of await Promise.all(started)) this.ports = ports
    const check = setInterval(this.onSnapshot, FRESHNESS_MS)
    this.timers.add(check.unref())
  }

  private async format(): Promise<string> {
    const texts = [...this.workers.values()].map((worker) => worker.metrics())
    const all = await Promise.all(texts)
    const own = await formatMetrics(this.context.metrics, this.current?.resolver.listeners)
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
