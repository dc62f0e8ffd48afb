/**
 * The clocks of this process for durations.
 * @module
 */
import { createElapsed } from '../../dns/telemetry/elapsed.ts'

/** Returns milliseconds from an arbitrary start, for durations, TTLs and timeouts. */
export const elapsed: () => number = createElapsed({
  wall: () => Date.now(),
  monotonic: () => performance.now(),
})

/**
 * Returns milliseconds from an arbitrary start, without sleep and steps of the wall clock: for how
 * long a client has waited.
 */
export function awake(): number {
  return 1000 * process.uptime()
}
