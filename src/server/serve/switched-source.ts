/**
 * The names of a cluster that this thread watches at first and, once a cluster is large, the
 * watching thread.
 * @module
 */
import type { SnapshotSource } from '../../resolver/contract/host.ts'
import type { Snapshot } from '../../snapshot/read/snapshot.ts'

/** What is read of a watch, in either thread. */
type Watch = Pick<SnapshotSource, 'current' | 'freshness' | 'serviceState'>

/** Reads from one watch, and later from another. */
export class SwitchedSource {
  private watch: Watch
  private readonly start = Promise.withResolvers<void>()
  /** What plugins read. */
  readonly source: SnapshotSource
  /** Resolves when queries can be answered, or the startup timeout has passed. */
  readonly ready: Promise<void> = this.start.promise

  /** @param watch one in this thread has `ready`; for others, call `setReady` */
  constructor(watch: Watch & { readonly ready?: Promise<void> }) {
    this.watch = watch
    // A watch that has stopped is ready too, but then the other thread has to be.
    void watch.ready?.then(() => this.watch === watch && this.setReady())
    const current = (): Snapshot | undefined => this.watch.current()
    this.source = {
      current,
      load: () => Promise.resolve(current()),
      freshness: () => this.watch.freshness(),
      serviceState: (namespace, name) => this.watch.serviceState?.(namespace, name),
    }
  }

  /** Notes that queries can be answered. */
  setReady(): void {
    this.start.resolve()
  }

  /**
   * Keeps the present names before their watch stops.
   * @param clock counts the time in which they become stale, in milliseconds
   */
  keepNames(clock: { readonly elapsed: () => number; readonly staleMs: number }): void {
    const { elapsed, staleMs } = clock
    const snapshot = this.watch.current()
    const freshness = this.watch.freshness()
    const sinceMs = elapsed()
    const isStale = (): boolean => freshness === 'fresh' && elapsed() - sinceMs >= staleMs
    this.watch = { current: () => snapshot, freshness: () => (isStale() ? 'stale' : freshness) }
  }

  /** Switches to another watch if it has all names, or some while this one is incomplete, too. */
  offer(watch: Watch): void {
    const hasMore = isIncomplete(this.watch) && watch.current() !== undefined
    if (hasMore || !isIncomplete(watch)) this.watch = watch
  }
}

function isIncomplete(watch: Watch): boolean {
  return watch.freshness() === 'partial'
}
