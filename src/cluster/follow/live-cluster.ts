/**
 * A watched cluster whose names the same process answers.
 * @module
 */
import { setImmediate } from 'node:timers/promises'
import { inSlices, type Steps } from '../../dns/bytes/steps.ts'
import type { Metrics } from '../../dns/telemetry/metrics.ts'
import { SnapshotError } from '../../snapshot/format/layout.ts'
import type { Snapshot } from '../../snapshot/read/snapshot.ts'
import type { RRset } from '../../snapshot/records/zone-entry.ts'
import { type Sleep, sleep, type Timing } from '../api/backoff.ts'
import { collectionsFor } from '../api/object-api.ts'
import { ClusterWatch, type SharedWatch } from '../api/shared-watch.ts'
import type { ClusterObject, Pod } from '../objects/objects.ts'
import type { NamingOptions } from '../objects/options.ts'
import { ChangeLoop, DUTY_SHARE_ANSWERING } from './change-loop.ts'
import { ClusterBuilder } from './cluster-builder.ts'
import { HeldChanges } from './held-changes.ts'
import { ProgrammingLatency } from './programming-latency.ts'
import { type BuiltSnapshot, ClusterSnapshots } from './snapshot-builder.ts'

/** Options of a live cluster. */
type LiveClusterOptions = Pick<Timing, 'now' | 'elapsed'> & {
  readonly shared: SharedWatch
  readonly naming: NamingOptions
  readonly onWarning: (message: string) => void
  readonly onError: (message: string) => void
  /** Milliseconds of silence of the API server after which responses count as stale. */
  readonly staleMs: number
  /** Milliseconds after which queries are answered even if not all objects have been read. */
  readonly startupMs: number
  /** Whether queries may load early shards while the first build is under way. */
  readonly hasEarlyShards?: boolean
  /** Called with a new snapshot, or when the snapshot became complete. */
  readonly onSnapshot?: () => void
  /** Receives the latency of changes, if it is measured. */
  readonly metrics?: Metrics
  readonly sleep?: Sleep
}

/** How long the state of the watches is cached. */
const LOOK_MS = 250
/** Time between the first early answers and the build, in which a server opens its sockets. */
const LISTEN_MS = 30
/** Longest wait of a query for the end of the first build: then it gets SERVFAIL. */
const LOAD_MS_MAX = 2000

/** Follows a cluster. */
export class LiveCluster {
  private readonly options: LiveClusterOptions
  private readonly builder: ClusterBuilder
  private readonly snapshots: ClusterSnapshots
  private readonly watch: ClusterWatch
  private readonly loop: ChangeLoop
  private readonly latency: ProgrammingLatency | undefined
  private readonly ended = new AbortController()
  private readonly started = new AbortController()
  private lookedMs = Number.NEGATIVE_INFINITY
  private confirmedMs = Number.NEGATIVE_INFINITY
  /** How long the present build has waited for the event loop; how long the last one was busy. */
  private waitedMs = 0
  private busyMs = 0
  /** Whether the newest snapshot has all objects. */
  private isWhole = false
  /** Whether the time for reading all objects is over. */
  private isLate = false
  /** Changes that wait for the end of a build. */
  private readonly held = new HeldChanges()
  /** Aborted when the first build has ended, whether or not it succeeded. */
  private readonly firstBuild = new AbortController()
  private wakeWaiting: () => void = () => undefined
  /** Resolves when queries can be answered: all objects are read, or the time for it is over. */
  readonly ready: Promise<void> = new Promise((resolve) => {
    this.wakeWaiting = resolve
  })

  constructor(options: LiveClusterOptions) {
    const { naming, now, elapsed, metrics } = options
    this.options = options
    this.builder = new ClusterBuilder(naming, options.onWarning)
    this.snapshots = new ClusterSnapshots(now)
    this.latency = metrics && new ProgrammingLatency(metrics, now)
    this.loop = new ChangeLoop({
      work: () => this.timed(() => this.rebuild()),
      busyMs: () => this.busyMs,
      // A change costs 0.3 ms to build: it is answered at once. Storms wait for their own cost.
      gatherMs: 0,
      intervalMs: 0,
      dutyShare: DUTY_SHARE_ANSWERING,
      sleep: options.sleep ?? sleep,
      elapsed,
    })
    this.watch = new ClusterWatch({
      shared: options.shared,
      collections: collectionsFor(naming),
      sink: {
        set: (object) => this.held.apply(() => this.take(object)),
        delete: (...key) => this.held.apply(() => this.builder.delete(...key)),
      },
      onChange: (isWhole) => {
        if (isWhole || this.isLate) this.loop.mark()
      },
      now: elapsed,
    })
  }

  private take(object: ClusterObject): void {
    const slice = this.isWhole && object.kind === 'EndpointSlice' ? object : undefined
    const isNews = slice && slice.triggeredMs > this.builder.triggeredMsOf(slice)
    this.builder.set(object)
    if (isNews) this.latency?.changed(slice)
  }

  /** Logs a failed build and keeps serving the previous snapshot. */
  private async rebuild(): Promise<void> {
    // A build is under way; it has the loop called again after changes.
    if (this.held.areHeld) return
    const isFirst = this.watch.hasSynced && !this.isWhole
    try {
      const built = await (isFirst ? this.buildFirst() : this.buildNext())
      if (built === undefined) return
      this.snapshots.take(built)
    } catch (error) {
      if (!(error instanceof SnapshotError)) throw error
      this.options.onError(error.message)
      if (this.isLate) this.wakeWaiting()
      return
    } finally {
      if (isFirst) this.firstBuild.abort()
    }
    this.publish(isFirst)
    this.latency?.answered((slice) => this.builder.serviceOf(slice))
  }

  /** Notes that queries have a new snapshot. */
  private publish(isWhole: boolean): void {
    this.isWhole ||= isWhole
    this.options.onSnapshot?.()
    if (!this.isWhole) return
    this.started.abort()
    this.wakeWaiting()
  }

  /**
   * Builds the first snapshot of all objects. Leaves time for queries, and answers them from early
   * shards in a large cluster.
   * @returns `undefined` if the cluster was stopped
   * @throws {SnapshotError} if the objects are more than a snapshot can hold
   */
  private async buildFirst(): Promise<BuiltSnapshot | undefined> {
    this.held.hold()
    try {
      if (this.watch.isLarge && this.answerEarly()) {
        await this.pause(LISTEN_MS)
        if (this.ended.signal.aborted) return undefined
      }
      return await this.build()
    } catch (error) {
      // Without the rest, what early shards deny may exist.
      this.isWhole = false
      this.snapshots.dropEarly()
      throw error
    } finally {
      this.release()
    }
  }

  /** Builds a snapshot after changes; those that come meanwhile wait for the end. */
  private async buildNext(): Promise<BuiltSnapshot | undefined> {
    this.held.hold()
    try {
      return await this.build()
    } finally {
      this.release()
    }
  }

  /** Builds a snapshot in slices: objects must not change meanwhile. */
  private build(): Promise<BuiltSnapshot | undefined> {
    return this.inSlices(this.builder.buildInSteps(), () => this.held.areMany)
  }

  /** Runs a task, and notes how long it kept the process busy. */
  private async timed(task: () => Promise<void>): Promise<void> {
    const { elapsed } = this.options
    const startMs = elapsed()
    this.waitedMs = 0
    await task()
    this.busyMs = elapsed() - startMs - this.waitedMs
  }

  /**
   * Takes all steps of a task, and leaves time for queries in between unless it is urgent.
   * @returns its result; `undefined` if the cluster was stopped
   */
  private async inSlices<Result>(
    steps: Steps<Result>,
    isUrgent?: () => boolean,
  ): Promise<Result | undefined> {
    const { signal } = this.ended
    const { elapsed } = this.options
    const nextTurn = async (): Promise<void> => {
      const startMs = elapsed()
      await setImmediate(undefined, { signal })
      this.waitedMs += elapsed() - startMs
    }
    try {
      return await inSlices(steps, { elapsed, nextTurn }, isUrgent)
    } catch (error) {
      if (signal.aborted) return undefined
      throw error
    }
  }

  /** Applies the changes that came during a build, which it does not have. */
  private release(): void {
    // Early shards of a cluster that was stopped may still be in use.
    if (this.ended.signal.aborted) {
      this.held.drop()
      return
    }
    this.latency?.take()
    if (this.held.release() > 0) this.loop.mark()
  }

  /** Returns whether queries are answered from now on. */
  private answerEarly(): boolean {
    const early = this.options.hasEarlyShards ? this.builder.earlyShards() : undefined
    if (early === undefined) return false
    this.snapshots.takeEarly(early, this.options.naming.ttlSeconds)
    this.publish(true)
    return true
  }

  private pause(ms: number, ...signals: readonly AbortSignal[]): Promise<void> {
    const pause = this.options.sleep ?? sleep
    return pause(ms, AbortSignal.any([this.ended.signal, ...signals]))
  }

  /** Serves an incomplete snapshot when the time for reading all objects is over. */
  private async waitForStart(): Promise<void> {
    await this.pause(this.options.startupMs, this.started.signal)
    if (this.started.signal.aborted || this.ended.signal.aborted) return
    this.isLate = true
    // The end of the first build, if that is under way, wakes those who wait.
    if (this.held.areHeld) return
    await this.rebuild()
    this.wakeWaiting()
  }

  /** Starts to follow the cluster. */
  start(): void {
    void this.waitForStart()
    void this.watch.run(this.ended.signal)
    void this.loop.run(this.ended.signal)
  }

  /** Stops; the newest snapshot stays. */
  stop(): void {
    this.ended.abort()
    this.firstBuild.abort()
    this.wakeWaiting()
  }

  /** Returns the newest snapshot; `undefined` until there is one. */
  current(): Snapshot | undefined {
    return this.snapshots.current()
  }

  /**
   * Resolves with the newest snapshot, which has this shard unless it is too large. Waits up to two
   * seconds for the end of the first build if that alone has the shard.
   * @returns `undefined` if it is unavailable
   */
  async load(shard: number): Promise<Snapshot | undefined> {
    try {
      const snapshot = this.snapshots.load(shard)
      const isHere = snapshot === undefined || snapshot.hasAddresses || shard in snapshot.shards
      if (isHere) return snapshot
    } catch (error) {
      if (error instanceof SnapshotError) return undefined
      throw error
    }
    await this.pause(LOAD_MS_MAX, this.firstBuild.signal)
    return this.firstBuild.signal.aborted ? this.current() : undefined
  }

  /** Returns the records of a zone transfer, from the present objects. */
  transferRecords(): Iterable<RRset> {
    return this.builder.transferRecords()
  }

  /** Finds the Pod that runs at a client's address. */
  podAt(client: string): Pod | undefined {
    return this.builder.podAt(client)
  }

  /** Returns a Service and all its endpoints. */
  serviceState(namespace: string, name: string): ReturnType<ClusterBuilder['serviceState']> {
    return this.builder.serviceState(namespace, name)
  }

  /**
   * Returns whether all objects have been read and the API server was heard of lately. Queries are
   * answered in any case.
   */
  freshness(): 'fresh' | 'stale' | 'partial' {
    if (!this.isWhole) return 'partial'
    const { elapsed, staleMs } = this.options
    const nowMs = elapsed()
    // Each response calls this, so the state of the watches is cached while all is well.
    if (nowMs - this.lookedMs >= LOOK_MS || nowMs - this.confirmedMs >= staleMs) {
      this.lookedMs = nowMs
      this.confirmedMs = this.watch.confirmedMs() ?? Number.NEGATIVE_INFINITY
    }
    return nowMs - this.confirmedMs < staleMs ? 'fresh' : 'stale'
  }
}
