/**
 * KUBEDOH_LINGER: how long a server goes on answering when it is about to stop.
 * @module
 */
import { CommandError } from '../../server/node/output.ts'
import { durationSeconds } from './duration.ts'
import type { Input } from './flags.ts'

const SECONDS_MAX = 3600

/** Reads KUBEDOH_LINGER, 0s to 1h; returns milliseconds, 0 without it. @throws {CommandError} */
export function readLingerMs(input: Input): number {
  const text = input.env('KUBEDOH_LINGER') || '0s'
  const seconds = durationSeconds(text)
  if (seconds !== undefined && seconds <= SECONDS_MAX) return 1000 * seconds
  throw new CommandError(`KUBEDOH_LINGER is "${text}", expected 0s to 1h, such as 60s`)
}
