/**
 * Reads something again at intervals, in the background of requests.
 *
 * Requests do not share promises: on Workers, a promise of another request may never settle.
 * @module
 */
import { errorText } from '../../dns/bytes/unknown.ts'

/** A read that takes longer counts as failed. */
const TIMEOUT_MS = 10_000

/** What a refresher needs. */
export type RefresherOptions = {
  readonly look: () => Promise<void>
  /** Time after which to read again. */
  readonly refreshMs: number
  /** Milliseconds since some moment, by a monotonic clock. */
  readonly elapsed: () => number
  /** Gets the text of an error in the background. */
  readonly onError: (message: string) => void
}

/** Knows when the last read was, and when the next one is due. */
export class Refresher {
  private readonly options: RefresherOptions
  private checkedMs = Number.NEGATIVE_INFINITY
  private isRunning = false
  private begunMs = Number.NEGATIVE_INFINITY

  constructor(options: RefresherOptions) {
    this.options = options
  }

  /** Notes that a read has succeeded. */
  noteCheck(): void {
    this.checkedMs = this.options.elapsed()
  }

  /** Returns the milliseconds since the last successful read; infinite before the first. */
  sinceCheckMs(): number {
    return this.options.elapsed() - this.checkedMs
  }

  /** Starts a read when it is due; returns the promise to keep alive. */
  refreshIfDue(): Promise<void> | undefined {
    const { elapsed, refreshMs, look, onError } = this.options
    const nowMs = elapsed()
    // After a failure, waits as long as after a success.
    const waitMs = this.isRunning ? TIMEOUT_MS : refreshMs
    if (nowMs - this.begunMs < waitMs || nowMs - this.checkedMs < refreshMs) return undefined
    this.begunMs = nowMs
    this.isRunning = true
    return look()
      .catch((error: unknown) => onError(errorText(error)))
      .finally(() => {
        if (this.begunMs === nowMs) this.isRunning = false
      })
  }
}

/** Keeps a promise alive beyond the response. */
export type KeepAlive = (promise: Promise<void>) => void

/** Starts a read when it is due, and keeps it alive. */
export function keepFresh(
  one: { readonly refreshIfDue: () => Promise<void> | undefined },
  keepAlive: KeepAlive,
): void {
  const refresh = one.refreshIfDue()
  if (refresh !== undefined) keepAlive(refresh)
}
