/**
 * Does something after changes, not for each of them: at once after the first one, then no more
 * often than an interval allows, and always once more after the last one.
 * @module
 */
import type { Sleep } from './backoff.ts'

/** Share of the time that the work may keep a process busy that answers as well. */
export const DUTY_SHARE_ANSWERING = 0.25
/** How long work may have kept a process busy at the most; beyond that, the machine slept. */
const BUSY_MS_MAX = 10_000

/** What a loop needs. */
export type ChangeLoopOptions = {
  /** Brings what depends on the changes up to date, whatever they were. */
  readonly work: (signal: AbortSignal) => void | Promise<void>
  /** Changes that come together are gathered for this long. */
  readonly gatherMs: number
  /** Time from the begin of one piece of work to that of the next, at least. */
  readonly intervalMs: number
  /** Share of the time that the work may keep the process busy; all of it when left out. */
  readonly dutyShare?: number
  readonly sleep: Sleep
  /** Milliseconds since some moment, by a clock that never goes back. */
  readonly elapsed: () => number
}

/** Level-triggered: what matters is that something changed, not what or how often. */
export class ChangeLoop {
  private readonly options: ChangeLoopOptions
  private isDirty = false
  private wake: (() => void) | undefined

  constructor(options: ChangeLoopOptions) {
    this.options = options
  }

  /** Tells that something changed. */
  mark(): void {
    this.isDirty = true
    this.wake?.()
  }

  /** Runs until `signal` ends it; changes told of by then are still worked on. */
  async run(signal: AbortSignal): Promise<void> {
    const { work, gatherMs, intervalMs, dutyShare = 1, sleep, elapsed } = this.options
    while (await this.changed(signal)) {
      await sleep(gatherMs, signal)
      const startMs = elapsed()
      this.isDirty = false
      const pending = work(signal)
      // What work waits for, a gateway or its own next attempt, keeps nobody from being answered.
      const busyMs = Math.min(elapsed() - startMs, BUSY_MS_MAX)
      await pending
      const tookMs = elapsed() - startMs
      await sleep(Math.max(0, intervalMs - tookMs, busyMs / dutyShare - tookMs), signal)
    }
  }

  private async changed(signal: AbortSignal): Promise<boolean> {
    if (!this.isDirty && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const end = (): void => {
          signal.removeEventListener('abort', end)
          this.wake = undefined
          resolve()
        }
        this.wake = end
        signal.addEventListener('abort', end)
      })
    }
    return this.isDirty
  }
}
