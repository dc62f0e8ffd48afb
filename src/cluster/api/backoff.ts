/**
 * Back-off between attempts: exponential, with jitter.
 * @module
 */

/** Waits for some time, or until `signal` ends it, without an error. */
export type Sleep = (delayMs: number, signal: AbortSignal) => Promise<void>

/** Clocks, waits and chance, as whatever talks to an API server uses them. */
export type Timing = {
  readonly sleep: Sleep
  /** Returns a number from 0 to 1. */
  readonly random: () => number
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Milliseconds of a monotonic clock. */
  readonly elapsed: () => number
}

const FIRST_MS = 500
const DELAY_MS_MAX = 30_000

/** Counts failed attempts. */
export class Backoff {
  private readonly random: () => number
  private readonly delayMsMax: number
  private failures = 0

  /** @param random returns numbers from 0 to 1 */
  constructor(random: () => number, delayMsMax: number = DELAY_MS_MAX) {
    this.random = random
    this.delayMsMax = delayMsMax
  }

  /**
   * Counts a failure. Returns the milliseconds to wait: half a second at first, by default at most
   * 30 seconds.
   */
  next(): number {
    const fullMs = Math.min(this.delayMsMax, FIRST_MS * 2 ** this.failures)
    this.failures++
    return fullMs / 2 + (fullMs / 2) * this.random()
  }

  /** Resets the wait to the shortest time. */
  reset(): void {
    this.failures = 0
  }
}

/** Waits by the runtime's clock. */
export const sleep: Sleep = (delayMs, signal) =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, delayMs)
    signal.addEventListener('abort', end, { once: true })
    if (signal.aborted) end()
  })
