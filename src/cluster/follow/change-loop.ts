/**
 * Runs a task after changes, not for each of them: at or soon after the first, then at most once in
 * an interval or for a share of the time, and always after the last.
 * @module
 */
import type { Timing } from '../api/backoff.ts'

/** Share of the time that the task may keep a process busy that also answers queries. */
export const DUTY_SHARE_ANSWERING = 0.25
/**
 * Longest rest for a share: a run that takes longer than a third of it waited for a busy processor,
 * or the machine slept. With 23 processes on two cores, changes waited for up to 14 s without this.
 */
const REST_MS_MAX = 1000
/**
 * Busy time that a quiet time saves, in milliseconds: the next run may follow at once on runs that
 * cost no more. After a quiet time, in which V8 discards code, a run takes 30 ms, and the change
 * after it waited for three times that.
 */
const SAVED_MS_MAX = 50

/** Options of a loop. */
export type ChangeLoopOptions = Pick<Timing, 'sleep' | 'elapsed'> & {
  /** The task, which handles all changes so far. */
  readonly work: (signal: AbortSignal) => void | Promise<void>
  /**
   * Returns the milliseconds in which the last run of a task that works in slices kept the process
   * busy. Default: what it did at once.
   */
  readonly busyMs?: () => number
  /**
   * Time to wait for more changes after the first of a quiet time; 0 starts the task at once. Those
   * that came during a run or the pause after it have waited already.
   */
  readonly gatherMs: number
  /** Shortest time from the start of one run to the start of the next. */
  readonly intervalMs: number
  /**
   * Share of the time to keep the process busy (default: all), but for 50 ms that a quiet time
   * saves; a rest takes at most 1 s.
   */
  readonly dutyShare?: number
}

/** A level-triggered loop: only whether something changed matters, not what or how often. */
export class ChangeLoop {
  private readonly options: ChangeLoopOptions
  private isDirty = false
  private wake: (() => void) | undefined

  constructor(options: ChangeLoopOptions) {
    this.options = options
  }

  /** Notes that something changed. */
  mark(): void {
    this.isDirty = true
    this.wake?.()
  }

  /** Runs until `signal` ends it, and handles the changes until then. */
  async run(signal: AbortSignal): Promise<void> {
    const { work, gatherMs, intervalMs, dutyShare = 1, sleep, elapsed } = this.options
    let atOnceMs = 0
    const { busyMs = () => atOnceMs } = this.options
    let savedMs = SAVED_MS_MAX
    let endMs = elapsed()
    for (let isFirst = true; ; isFirst = false) {
      const wasQuiet = !this.isDirty
      if (!(await this.changed(signal))) return
      if (wasQuiet && gatherMs > 0) await sleep(gatherMs, signal)
      const startMs = elapsed()
      savedMs = Math.min(savedMs + (startMs - endMs) * dutyShare, SAVED_MS_MAX)
      this.isDirty = false
      const pending = work(signal)
      // Waiting for a gateway or the next attempt does not count as busy.
      atOnceMs = elapsed() - startMs
      await pending
      endMs = elapsed()
      const tookMs = endMs - startMs
      // The first run handles everything, not a change: later ones need not wait for its cost.
      if (!isFirst) savedMs += tookMs * dutyShare - busyMs()
      savedMs = Math.max(savedMs, -REST_MS_MAX * dutyShare)
      await sleep(Math.max(0, intervalMs - tookMs, -savedMs / dutyShare), signal)
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
