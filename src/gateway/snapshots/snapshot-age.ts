/**
 * How old the names of a snapshot are: the time since its exporter last confirmed them. They are
 * stale after STALE_SECONDS and expired after EXPIRE_SECONDS; docs/failures.md has what clients get
 * then.
 * @module
 */
import type { SnapshotInfo } from '../../snapshot/read/snapshot.ts'
import type { AgeLimits } from '../config/reader-times.ts'
import type { GatewayClock } from '../timing/held-clock.ts'

/** Measures the age of the snapshot that is served. */
export class SnapshotAge {
  private readonly clock: GatewayClock
  private info: SnapshotInfo | undefined
  /** When the exporter confirmed the names, by the monotonic clock. */
  private confirmedMs = 0
  /** The same for clients that see some namespaces only. */
  private limitedMs = 0

  constructor(clock: GatewayClock) {
    this.clock = clock
  }

  /** Notes that a snapshot is served from now on. */
  note(info: SnapshotInfo): void {
    const { now, elapsed } = this.clock
    const sinceMs = (timeMs: number): number => elapsed() - Math.max(0, now() - timeMs)
    const { limited = info } = info
    this.confirmedMs = sinceMs(info.timeMs)
    // Clients that see some namespaces only must not notice changes of the others.
    if (limited.timeMs !== this.info?.limited?.timeMs) this.limitedMs = sinceMs(limited.timeMs)
    this.info = info
  }

  /**
   * Returns the age in milliseconds; infinite without a snapshot. When the wall clock is set back,
   * names stay as old as they were, and age from there.
   * @param isLimited whether the client sees some namespaces only
   */
  ageMs(isLimited: boolean): number {
    if (this.info === undefined) return Number.POSITIVE_INFINITY
    const { now, elapsed } = this.clock
    const { limited } = this.info
    const isOwn = isLimited && limited !== undefined
    const { timeMs } = isOwn ? limited : this.info
    return Math.max(now() - timeMs, elapsed() - (isOwn ? this.limitedMs : this.confirmedMs))
  }

  /** Returns how fresh the names are. */
  freshness({ staleMs, expireMs }: AgeLimits, isLimited: boolean): 'fresh' | 'stale' | 'expired' {
    const ageMs = this.ageMs(isLimited)
    if (ageMs >= expireMs) return 'expired'
    return ageMs >= staleMs ? 'stale' : 'fresh'
  }
}
