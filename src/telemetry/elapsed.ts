/**
 * A clock for durations, TTLs and time-outs. The wall clock is no good for them: it steps when
 * somebody sets it. A monotonic clock never does, but stands still while a machine sleeps.
 * @module
 */

/** The two clocks of a runtime, both in milliseconds. */
export type Clocks = {
  readonly wall: () => number
  readonly monotonic: () => number
}

/** How often the wall clock is looked at, as that takes as long as all the rest. */
const LOOK_MS = 100
/** By how much more the wall clock goes on when the machine slept, or it was set forward. */
const SLEEP_MS_MIN = 50

/**
 * Returns a clock that gives the milliseconds since some moment, with the fractions of the
 * monotonic clock. It goes back only when that does, by 100 ms at most. It counts what the wall
 * clock gains on the monotonic one, within 100 ms: the machine slept, or somebody set the clock
 * forward, which look the same. To take something for older than it is does no harm.
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
  // Each answer is timed: when this is short enough to be inlined, it leaves no number on the heap.
  return () => {
    const nowMs = monotonic()
    if (nowMs >= dueMs || nowMs < lookedMs) look(nowMs)
    return nowMs + offsetMs
  }
}
