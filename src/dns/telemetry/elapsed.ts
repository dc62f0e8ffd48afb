/**
 * A clock for durations, TTLs and timeouts. The wall clock can jump when it is set; a monotonic
 * clock cannot, but it stops while the machine sleeps.
 * @module
 */

/** The two clocks of a runtime, both in milliseconds. */
export type Clocks = {
  readonly wall: () => number
  readonly monotonic: () => number
}

/** Interval of reading the wall clock, which takes as long as everything else here. */
const LOOK_MS = 100
/** Minimum lead of the wall clock that means sleep, or a clock that was set forward. */
const SLEEP_MS_MIN = 50

/**
 * Returns a clock in milliseconds from an arbitrary start, with the resolution of the monotonic
 * clock. It never goes back by more than 100 ms. It adds any lead that the wall clock takes over
 * the monotonic one: the machine slept, or the clock was set forward, which look the same.
 * Overestimating an age is harmless.
 */
export function createElapsed({ wall, monotonic }: Clocks): () => number {
  let lookedWallMs = wall()
  let lookedMs = monotonic()
  let dueMs = lookedMs + LOOK_MS
  let sleptMs = 0
  let offsetMs = 0
  const look = (nowMs: number): void => {
    if (nowMs < lookedMs) {
      offsetMs = sleptMs + lookedMs - nowMs
      dueMs = lookedMs
      return
    }
    const wallMs = wall()
    const gainedMs = wallMs - lookedWallMs - (nowMs - lookedMs)
    if (gainedMs >= SLEEP_MS_MIN) sleptMs += gainedMs
    offsetMs = sleptMs
    lookedWallMs = wallMs
    lookedMs = nowMs
    dueMs = nowMs + LOOK_MS
  }
  // Runs for each response. Short enough to be inlined, so that no number goes to the heap.
  return () => {
    const nowMs = monotonic()
    if (nowMs >= dueMs || nowMs < lookedMs) look(nowMs)
    return nowMs + offsetMs
  }
}
