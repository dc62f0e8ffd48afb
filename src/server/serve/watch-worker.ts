/**
 * A worker of `kubedoh serve` that watches large clusters, parses their objects and builds their
 * snapshots, so that the threads that answer never wait for that.
 * @module
 */

import { Metrics } from '../../dns/telemetry/metrics.ts'
import { elapsed } from '../node/elapsed.ts'
import { startMemoryTrim } from '../node/memory-trim.ts'
import { createLog, describeError, type Output } from '../node/output.ts'
import { ClusterSources } from './cluster-sources.ts'
import { type ClusterWanted, keyOf } from './cluster-wanted.ts'
import { FRESHNESS_MS, SnapshotSharer, type WatchedCluster } from './shared-snapshots.ts'
import { loadApiClient } from './traced-client.ts'
import { type FromWorker, runWorker, type ToWorker, type WatchOptions } from './worker-messages.ts'

type Send = (message: FromWorker, moved?: ArrayBuffer[]) => void

/** Handles the messages of the main thread. */
export class WatchWorker {
  private readonly send: Send
  private readonly output: Output
  private readonly metrics = new Metrics()
  private readonly sharer = new SnapshotSharer({ isForOne: true })
  private sources: ClusterSources | undefined
  private clusters: readonly WatchedCluster[] = []
  private timer: NodeJS.Timeout | undefined

  /** @param send sends a message, whose `moved` buffers then belong to the main thread */
  constructor(send: Send, output: Output) {
    this.send = send
    this.output = output
  }

  /** Handles a message; resolves when that is done. */
  async handle(message: ToWorker): Promise<void> {
    switch (message.kind) {
      case 'watch':
        await this.watch(message.options, message.clusters)
        return
      case 'query': {
        const isMetrics = message.what === 'metrics'
        const lines = isMetrics ? [this.metrics.format()] : (this.sources?.problems() ?? [])
        this.send({ kind: 'reply', id: message.id, lines })
        return
      }
      case 'service': {
        const { cluster, namespace, name } = message.wanted
        const { source } = this.clusters.find((one) => keyOf(one) === cluster) ?? {}
        const state = await source?.serviceState?.(namespace, name)
        this.send({ kind: 'reply', id: message.id, lines: [], state })
        return
      }
      case 'stop':
        clearInterval(this.timer)
        this.sources?.keep([])
        return
      case 'serve':
      case 'snapshot':
      case 'state':
        throw new TypeError('a worker that watches clusters does not serve')
    }
  }

  private async watch(options: WatchOptions, wanted: readonly ClusterWanted[]): Promise<void> {
    try {
      this.sources ??= this.open(options)
      const { sources } = this
      await sources.prepareApi()
      this.clusters = wanted.map((one) => ({
        ...one,
        source: sources.open(one.directive, one.tree),
      }))
      sources.keep(wanted)
      this.shareChanges()
      await sources.ready()
      this.send({ kind: 'serving', ports: [] })
    } catch (error) {
      this.send({ kind: 'failed', message: describeError(error) })
    }
  }

  private open(options: WatchOptions): ClusterSources {
    this.timer = setInterval(() => this.shareChanges(), FRESHNESS_MS).unref()
    const log = createLog(this.output)
    return new ClusterSources({
      ...options,
      objectPaths: [],
      loadApi: () => loadApiClient(options.collector, log),
      log,
      metrics: this.metrics,
      now: Date.now,
      elapsed,
      onSnapshot: () => this.shareChanges(),
    })
  }

  private shareChanges(): void {
    for (const [cluster, snapshot] of this.sharer.changes(this.clusters)) {
      const buffers = snapshot.snapshot?.changed.flatMap(([, { buffer }]) =>
        buffer instanceof ArrayBuffer ? [buffer] : [],
      )
      this.send({ kind: 'watched', cluster, snapshot }, buffers)
    }
  }
}

runWorker((send, output) => {
  startMemoryTrim()
  return new WatchWorker(send, output)
})
