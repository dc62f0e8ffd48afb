/**
 * Memory that a surge of clients took goes back to the system soon after it.
 * @module
 */
import { setFlagsFromString } from 'node:v8'

/**
 * Has V8 look for memory to return three seconds after it is needed less, in place of 30. Measured
 * with 100 MiB of garbage and a few requests a second: returned after 20 seconds, and otherwise not
 * within half a minute. Does nothing on other engines.
 */
export function returnMemoryEarly(): void {
  if (process.versions.bun !== undefined) return
  setFlagsFromString('--gc-memory-reducer-start-delay-ms=3000')
}
