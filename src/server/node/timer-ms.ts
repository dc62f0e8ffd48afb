/**
 * Delays that a Corefile sets, as delays of timers.
 * @module
 */

/** Node's longest timer, 24.8 days. A longer one would end after 1 ms, with a warning. */
const TIMER_MS_MAX = 0x7fffffff

/** Returns a delay that a timer can have: at most 24.8 days. */
export function timerMs(delayMs: number): number {
  return Math.min(delayMs, TIMER_MS_MAX)
}
