/**
 * A watched cluster whose names the same process answers.
 * @module
 */
import { setImmediate } from 'node:timers/promises'
import { inSlices } from '../../dns/bytes/steps.ts'
import type { Metrics } from '../../dns/telemetry/metrics.ts'
import { SnapshotError } from '../../snapshot/format/layout.ts'
import type { Snapshot } from '../../snapshot/read/snapshot.ts'
import type { RRset } from '../../snapshot/records/zone-entry.ts'
import { type Sleep, sleep, type Timing } from '../api/backoff.ts'
import { collectionsFor } from '../api/object-api.ts'
import { ClusterWatch, type SharedWatch } from '../api/shared-watch.ts'
import type { ClusterObject, Kind, Pod } from '../objects/objects.ts'
import type { NamingOptions, Tree } from '../objects/options.ts'
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
  /** Called with a new snapshot, or when the snapshot became complete. */
  readonly onSnapshot?: () => void
  /** Receives the latency of changes, if it is measured. */
  readonly metrics?: Metrics
  readonly sleep?: Sleep
}

/** How long the state of the watches is cached. */
const LOOK_MS = 250

/** Follows a cluster. */
export class LiveCluster {
  private readonly options: LiveClusterOptions
  private readonly builder: ClusterBuilder
  private readonly snapshots: ClusterSnapshots
  private readonly watch: ClusterWatch
  private readonly loop: ChangeLoop
  private readonly latency: ProgrammingLatency | undefined
  private readonly ended = new AbortController()
  /** Aborted when the start is over. */
  private readonly started = new AbortController()
  /** Resolves when queries can be answered: all objects are read, or the time for it is over. */
  readonly ready: Promise<void>
  private lookedMs = Number.NEGATIVE_INFINITY
  private confirmedMs = Number.NEGATIVE_INFINITY
  /** How long the present build has waited for the event loop; how long the last one was busy. */
  private waitedMs = 0
  private busyMs = 0
  /** Whether the newest snapshot has all objects. */
  private isWhole = false
  /** Whether the time for reading all objects is over. */
  private isLate = false
  /** The kinds that names come from, and whether the API server serves none of them. */
  private readonly kinds: ReadonlySet<Kind>
  private isUnserved = false
  /** Changes that wait for the end of a build. */
  private readonly held = new HeldChanges()

  constructor(options: LiveClusterOptions) {
    const { naming, now, elapsed, metrics } = options
    this.options = options
    this.kinds = kindsOf(naming.tree)
    this.builder = new ClusterBuilder(naming, options.onWarning)
    this.snapshots = new ClusterSnapshots(now)
    this.latency = metrics && new ProgrammingLatency(metrics, now)
    this.ready = new Promise((resolve) => {
      this.started.signal.addEventListener('abort', () => resolve(), { once: true })
    })
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

  /** Runs a task, and notes how long it kept the process busy. */
  private async timed(task: () => Promise<void>): Promise<void> {
    const { elapsed } = this.options
    const startMs = elapsed()
    this.waitedMs = 0
    await task()
    this.busyMs = elapsed() - startMs - this.waitedMs
  }

  /** Serves a snapshot of the present objects. If the build fails, the previous one stays. */
  private async rebuild(): Promise<void> {
    // The build that is under way marks the loop when it ends, if there were changes.
    if (this.held.areHeld) return
    const isWhole = this.watch.hasSynced
    try {
      const built = await this.build()
      if (built === undefined) return
      this.snapshots.take(built)
    } catch (error) {
      if (!(error instanceof SnapshotError)) throw error
      this.options.onError(error.message)
      if (this.isLate) this.started.abort()
      return
    }
    this.isWhole ||= isWhole
    this.options.onSnapshot?.()
    if (this.isWhole) this.started.abort()
    this.latency?.answered((slice) => this.builder.serviceOf(slice))
  }

  /**
   * Builds a snapshot in slices, between which the process answers queries. Changes that come
   * meanwhile wait for the end; when too many wait, the build no longer pauses.
   * @returns `undefined` if the cluster was stopped
   * @throws {SnapshotError} if the objects are more than a snapshot can hold
   */
  private async build(): Promise<BuiltSnapshot | undefined> {
    const { signal } = this.ended
    const { elapsed } = this.options
    const nextTurn = async (): Promise<void> => {
      const startMs = elapsed()
      await setImmediate(undefined, { signal })
      this.waitedMs += elapsed() - startMs
    }
    this.held.hold()
    try {
      const steps = this.builder.buildInSteps()
      return await inSlices(steps, { elapsed, nextTurn }, () => this.held.areMany)
    } catch (error) {
      if (signal.aborted) return undefined
      throw error
    } finally {
      this.latency?.take()
      if (this.held.release() > 0) this.loop.mark()
    }
  }

  /** Serves an incomplete snapshot when the time for reading all objects is over. */
  private async waitForStart(): Promise<void> {
    const { sleep: pause = sleep, startupMs } = this.options
    await pause(startupMs, this.started.signal)
    if (this.started.signal.aborted) return
    this.isLate = true
    // The end of the first build, if it is under way, ends the start.
    if (this.held.areHeld) return
    await this.rebuild()
    this.started.abort()
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
    this.started.abort()
  }

  /** Returns the newest snapshot; `undefined` until there is one. */
  current(): Snapshot | undefined {
    return this.snapshots.current()
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
   * Returns whether all objects have been read and the API server was heard of lately; `unserved`
   * if it serves none of the kinds that names come from. Queries are answered in any case.
   */
  freshness(): 'fresh' | 'stale' | 'partial' | 'unserved' {
    if (!this.isWhole) return 'partial'
    const { elapsed, staleMs } = this.options
    const nowMs = elapsed()
    // Each response calls this, so the state of the watches is cached while all is well.
    if (nowMs - this.lookedMs >= LOOK_MS || nowMs - this.confirmedMs >= staleMs) {
      this.lookedMs = nowMs
      this.confirmedMs = this.watch.confirmedMs() ?? Number.NEGATIVE_INFINITY
      this.isUnserved = !this.watch.servesOneOf(this.kinds)
    }
    if (this.isUnserved) return 'unserved'
    return nowMs - this.confirmedMs < staleMs ? 'fresh' : 'stale'
  }
}

/** Returns the kinds of objects that give a tree its names; others only add to them. */
function kindsOf(tree: Tree): ReadonlySet<Kind> {
  switch (tree.kind) {
    case 'hosts':
      return new Set(tree.resources)
    case 'multicluster':
      return new Set(['ServiceImport'])
    case 'exports':
      return new Set(['ServiceExport'])
    default:
      return new Set(['Service'])
  }
}
