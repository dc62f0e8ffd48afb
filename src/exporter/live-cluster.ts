/**
 * A watched cluster whose names the same process answers.
 * @module
 */
import type { ClusterObject, EndpointSlice, Pod, Service } from '../kubernetes/objects/objects.ts'
import type { NamingOptions } from '../kubernetes/objects/options.ts'
import type { RRset } from '../records/zone-entry.ts'
import { SnapshotError } from '../snapshot/format/layout.ts'
import type { Snapshot } from '../snapshot/read/snapshot.ts'
import {
  type HistogramSeries,
  type MetricInfo,
  type Metrics,
  observe,
} from '../telemetry/metrics.ts'
import { type Sleep, sleep, type Timing } from './backoff.ts'
import { ChangeLoop, DUTY_SHARE_ANSWERING } from './change-loop.ts'
import { ClusterBuilder } from './cluster-builder.ts'
import { collectionsFor } from './object-api.ts'
import { ClusterWatch, type SharedWatch } from './shared-watch.ts'
import { ClusterSnapshots } from './snapshot-builder.ts'

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
  private readonly started = new AbortController()
  private lookedMs = Number.NEGATIVE_INFINITY
  private confirmedMs = Number.NEGATIVE_INFINITY
  /** Whether the newest snapshot has all objects. */
  private isWhole = false
  /** Whether the time for reading all objects is over. */
  private isLate = false
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
      work: () => this.rebuild(),
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
        set: (object) => this.take(object),
        delete: (kind, namespace, name) => this.builder.delete(kind, namespace, name),
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
  private rebuild(): void {
    const isWhole = this.watch.hasSynced
    try {
      this.snapshots.take(this.builder.build())
    } catch (error) {
      if (!(error instanceof SnapshotError)) throw error
      this.options.onError(error.message)
      return
    }
    this.isWhole ||= isWhole
    this.options.onSnapshot?.()
    this.latency?.take()
    this.latency?.answered((slice) => this.builder.serviceOf(slice))
    if (!this.isWhole) return
    this.started.abort()
    this.wakeWaiting()
  }

  /** Serves an incomplete snapshot when the time for reading all objects is over. */
  private async waitForStart(): Promise<void> {
    const pause = this.options.sleep ?? sleep
    const signal = AbortSignal.any([this.started.signal, this.ended.signal])
    await pause(this.options.startupMs, signal)
    if (signal.aborted) return
    this.isLate = true
    this.rebuild()
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
    this.wakeWaiting()
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

/** Most pending changes; more are not measured. */
const WAITING_MAX = 1000
/** Bounds of CoreDNS's histogram of programming durations, in seconds. */
export const PROGRAMMING_BOUNDS: readonly number[] = Array.from(
  { length: 20 },
  (_, i) => 0.001 * 2 ** i,
)
const DURATION: MetricInfo = {
  name: 'coredns_kubernetes_dns_programming_duration_seconds',
  help: 'Histogram of the time (in seconds) it took to program a dns instance.',
  labels: ['service_kind'],
}

/** Measures one cluster. */
export class ProgrammingLatency {
  private readonly metrics: Metrics
  private readonly now: () => number
  private waiting: EndpointSlice[] = []
  private built: readonly EndpointSlice[] = []

  /** @param now returns milliseconds since 1970 */
  constructor(metrics: Metrics, now: () => number) {
    this.metrics = metrics
    this.now = now
  }

  /** Records a changed slice; ignores one without the time of its trigger. */
  changed(slice: EndpointSlice): void {
    if (slice.triggeredMs > 0 && this.waiting.length + this.built.length < WAITING_MAX)
      this.waiting.push(slice)
  }

  /** Notes that the snapshot has all changes so far. */
  take(): void {
    this.built = [...this.built, ...this.waiting]
    this.waiting = []
  }

  /** Records that responses have the changes of the snapshot. Ignores slices without a Service. */
  answered(serviceOf: (slice: EndpointSlice) => Service | undefined): void {
    const nowMs = this.now()
    for (const slice of this.built) {
      const service = serviceOf(slice)
      if (service === undefined) continue
      const series = this.series(service.isHeadless ? 'headless_with_selector' : 'cluster_ip')
      observe(series, PROGRAMMING_BOUNDS, Math.max(0, nowMs - slice.triggeredMs) / 1000)
    }
    this.built = []
  }

  private series(kind: string): HistogramSeries {
    return this.metrics.histogram(DURATION, PROGRAMMING_BOUNDS, [kind])
  }
}
