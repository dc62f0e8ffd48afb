/**
 * Looks at something again and again, in the background of requests.
 *
 * No promise is shared between requests: on Workers, one that another request began may never
 * settle.
 * @module
 */
import { errorText } from '../bytes/unknown.ts'

/** A look that takes longer is held to be dead. */
const TIMEOUT_MS = 10_000

/** What a refresher needs. */
export type RefresherOptions = {
  readonly look: () => Promise<void>
  /** Time after which to look again. */
  readonly refreshMs: number
  /** Milliseconds since some moment, by a clock that never goes back. */
  readonly elapsed: () => number
  /** Gets what went wrong in the background. */
  readonly onError: (message: string) => void
}

/** When something was looked at last, and whether to look now. */
export class Refresher {
  private readonly options: RefresherOptions
  private checkedMs = Number.NEGATIVE_INFINITY
  private isRunning = false
  private begunMs = Number.NEGATIVE_INFINITY

  constructor(options: RefresherOptions) {
    this.options = options
  }

  /** Notes that what there is to see was seen just now. */
  noteCheck(): void {
    this.checkedMs = this.options.elapsed()
  }

  /** Milliseconds since it was seen last; infinite before. */
  sinceCheckMs(): number {
    return this.options.elapsed() - this.checkedMs
  }

  /** Begins to look, when it is time; gives the promise to keep alive. */
  refreshIfDue(): Promise<void> | undefined {
    const { elapsed, refreshMs, look, onError } = this.options
    const nowMs = elapsed()
    // One that has failed is not tried again at once either.
    const waitMs = this.isRunning ? TIMEOUT_MS : refreshMs
    if (nowMs - this.begunMs < waitMs || nowMs - this.checkedMs < refreshMs) return undefined
    this.begunMs = nowMs
    this.isRunning = true
    return look()
      .catch((error: unknown) => {
        onError(errorText(error))
      })
      .finally(() => {
        if (this.begunMs === nowMs) this.isRunning = false
      })
  }
}
