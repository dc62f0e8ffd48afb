/**
 * What a thread that answers queries has of the thread that watches large clusters
 * (`watch-worker.ts`).
 * @module
 */

import type { Log } from '../../dns/telemetry/log.ts'
import type { SnapshotSource } from '../../resolver/contract/host.ts'
import type { Output } from '../node/output.ts'
import { type ClusterWanted, keyOf } from './cluster-wanted.ts'
import { SharedClusters } from './shared-snapshots.ts'
import type { WatchOptions } from './worker-messages.ts'
import { WorkerThread, workerEntry } from './worker-thread.ts'

/** Delay before a thread that has exited is replaced. */
const REPLACE_MS = 1000

/** What the thread uses of its process. */
export type ClusterThreadOptions = {
  readonly watch: WatchOptions
  readonly output: Output
  readonly log: Log
  /** The module that the thread runs; tests replace it. */
  readonly entry?: string
  /** Called when a cluster has a new state. */
  readonly onSnapshot: () => void
}

/** A thread that watches clusters. Another one replaces it when it exits. */
export class ClusterThread {
  private readonly options: ClusterThreadOptions
  private readonly clusters = new SharedClusters({
    stateOf: (wanted) => this.thread.serviceState(wanted),
  })
  private wanted: readonly ClusterWanted[] = []
  private keys: ReadonlySet<string> = new Set()
  private thread: WorkerThread
  private timer: NodeJS.Timeout | undefined
  private isStopped = false

  constructor(options: ClusterThreadOptions) {
    this.options = options
    this.thread = this.start()
  }

  /**
   * Returns the snapshots that the thread has, or will have, of a cluster. They are stale while the
   * thread is silent.
   */
  source(wanted: ClusterWanted): SnapshotSource {
    const source = this.clusters.open(wanted.directive, wanted.tree)
    return {
      ...source,
      freshness: () => {
        const freshness = source.freshness()
        return freshness === 'fresh' && this.thread.isSilent ? 'stale' : freshness
      },
    }
  }

  /**
   * Watches these clusters from now on, and no others. Resolves when each has been read or its
   * startup timeout has passed.
   */
  async watch(wanted: readonly ClusterWanted[]): Promise<void> {
    this.wanted = wanted
    this.keys = new Set(wanted.map(keyOf))
    this.clusters.keep(wanted)
    const watched = await this.thread.watch(this.options.watch, wanted)
    if (watched.kind === 'serving' || this.isStopped) return
    const message = 'the thread that watches clusters cannot watch them'
    this.options.log({ level: 'error', message, reason: watched.message })
  }

  /** Returns the metrics of the thread as text. */
  metrics(): Promise<string> {
    return this.thread.metrics()
  }

  /** Returns what the thread lacked at its last beat, as `ClusterSources.problems` does. */
  problems(): readonly string[] {
    return this.thread.lastNotReady
  }

  /** Stops the thread. */
  async stop(): Promise<void> {
    this.isStopped = true
    clearTimeout(this.timer)
    await this.thread.stop()
  }

  private start(): WorkerThread {
    const { output, log, onSnapshot, entry = workerEntry('watch-worker') } = this.options
    const thread = new WorkerThread(output, {
      entry,
      onSnapshot: (cluster, snapshot) => {
        if (!this.keys.has(cluster)) return
        this.clusters.update(cluster, snapshot)
        onSnapshot()
      },
    })
    void thread.exited.then((reason) => {
      if (this.isStopped) return
      log({ level: 'error', message: 'the thread that watches clusters exited', reason })
      this.timer = setTimeout(() => {
        this.thread = this.start()
        void this.watch(this.wanted)
      }, REPLACE_MS)
    })
    return thread
  }
}
