/**
 * The time that passes in this process.
 * @module
 */
import { createElapsed } from '../telemetry/elapsed.ts'

/** Milliseconds since some moment, for durations, TTLs and time-outs. */
export const elapsed: () => number = createElapsed({
  wall: Date.now,
  monotonic: () => performance.now(),
})
