/**
 * A cluster that is watched, and answered from in the same process.
 * @module
 */
import type { NamingOptions } from '../kubernetes/options.ts'
import type { RecordSet } from '../records/zone-entry.ts'
import { SnapshotError } from '../snapshot/errors.ts'
import type { Snapshot } from '../snapshot/snapshot.ts'
import { type Sleep, sleep } from './backoff.ts'
import { ChangeLoop } from './change-loop.ts'
import { ClusterBuilder } from './cluster-builder.ts'
import { ClusterSnapshots } from './cluster-snapshots.ts'
import { ClusterWatch } from './cluster-watch.ts'
import { collectionsFor, type ObjectApi } from './object-api.ts'

/** What a live cluster needs. */
export type LiveClusterOptions = {
  readonly api: ObjectApi
  readonly naming: NamingOptions
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly onWarning: (message: string) => void
  readonly onError: (message: string) => void
  /** Milliseconds without word from the API server after which answers say that they are old. */
  readonly staleMs: number
  readonly sleep?: Sleep
}

/** A Service and its slices change within a few milliseconds of each other. */
const GATHER_MS = 10
const INTERVAL_MS = 50
/** How long what the watches say of themselves is held to be so. */
const LOOK_MS = 250

/** Follows a cluster. */
export class LiveCluster {
  private readonly options: LiveClusterOptions
  private readonly builder: ClusterBuilder
  private readonly snapshots: ClusterSnapshots
  private readonly watch: ClusterWatch
  private readonly loop: ChangeLoop
  private readonly ended = new AbortController()
  private lookedMs = Number.NEGATIVE_INFINITY
  private confirmedMs = Number.NEGATIVE_INFINITY
  private wakeWaiting: () => void = () => undefined
  /** Resolves when there is a snapshot for the first time. */
  readonly synced: Promise<void> = new Promise((resolve) => {
    this.wakeWaiting = resolve
  })

  constructor(options: LiveClusterOptions) {
    this.options = options
    this.builder = new ClusterBuilder(options.naming, options.onWarning)
    this.snapshots = new ClusterSnapshots(options.now)
    const pause = options.sleep ?? sleep
    this.loop = new ChangeLoop({
      work: () => {
        this.rebuild()
      },
      gatherMs: GATHER_MS,
      intervalMs: INTERVAL_MS,
      sleep: pause,
      now: options.now,
    })
    this.watch = new ClusterWatch({
      ...options,
      collections: collectionsFor(options.naming),
      sink: this.builder,
      onChange: () => {
        this.loop.mark()
      },
      sleep: pause,
      random: Math.random,
    })
  }

  /** What cannot be built is told, and what was there is answered from. */
  private rebuild(): void {
    try {
      this.snapshots.take(this.builder.build())
    } catch (error) {
      if (!(error instanceof SnapshotError)) throw error
      this.options.onError(error.message)
      return
    }
    this.wakeWaiting()
  }

  /** Begins to follow. */
  start(): void {
    void this.watch.run(this.ended.signal)
    void this.loop.run(this.ended.signal)
  }

  /** Ends it; the newest snapshot stays. */
  stop(): void {
    this.ended.abort()
  }

  /** The newest snapshot; `undefined` until all objects have been listed. */
  current(): Snapshot | undefined {
    return this.snapshots.current()
  }

  /** Makes what a transfer of the zone has, from the present objects. */
  transferRecords(): Iterable<RecordSet> {
    return this.builder.transferRecords()
  }

  /** Whether the API server was heard of lately. What is known is answered from in any case. */
  freshness(): 'fresh' | 'stale' {
    const { now, staleMs } = this.options
    const nowMs = now()
    // Answers ask each time; as long as all is well, the watches need not be asked as often.
    const isLookedAt = nowMs - this.lookedMs < LOOK_MS && nowMs >= this.lookedMs
    if (!isLookedAt || nowMs - this.confirmedMs >= staleMs) {
      this.lookedMs = nowMs
      this.confirmedMs = this.watch.confirmedMs() ?? Number.NEGATIVE_INFINITY
    }
    return nowMs - this.confirmedMs < staleMs ? 'fresh' : 'stale'
  }
}
