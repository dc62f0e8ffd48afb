/**
 * The clock of this process for durations.
 * @module
 */
import { createElapsed } from '../../dns/telemetry/elapsed.ts'

/** Returns milliseconds from an arbitrary start, for durations, TTLs and timeouts. */
export const elapsed: () => number = createElapsed({
  wall: () => Date.now(),
  monotonic: () => performance.now(),
})
