/**
 * Waiting between attempts: longer each time, and never the same for all.
 * @module
 */

/** Waits for some time, or until `signal` ends it, without an error. */
export type Sleep = (delayMs: number, signal: AbortSignal) => Promise<void>

const FIRST_MS = 500
const DELAY_MS_MAX = 30_000

/** Counts failed attempts. */
export class Backoff {
  private readonly random: () => number
  private readonly delayMsMax: number
  private failures = 0

  /** @param random gives numbers from 0 to 1 */
  constructor(random: () => number, delayMsMax: number = DELAY_MS_MAX) {
    this.random = random
    this.delayMsMax = delayMsMax
  }

  /**
   * Milliseconds to wait after one more failure: half a second at first, 30 seconds at most if
   * nothing else was said.
   */
  next(): number {
    const fullMs = Math.min(this.delayMsMax, FIRST_MS * 2 ** this.failures)
    this.failures++
    return fullMs / 2 + (fullMs / 2) * this.random()
  }

  /** Begins at the shortest time again. */
  reset(): void {
    this.failures = 0
  }
}

/** Waits by the clock of the runtime. */
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
