/**
 * Durations in flags: `30s`, `15m`, `12h`, `90d`; intervals also as a number of seconds.
 * @module
 */
import { CommandError } from '../../server/node/output.ts'
import type { Input } from './flags.ts'

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

/** Parses a duration and returns seconds; `undefined` for other text. */
export function durationSeconds(text: string): number | undefined {
  const [, digits = '', unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? []
  const factor = SECONDS[unit]
  return factor === undefined ? undefined : Number(digits) * factor
}

/**
 * Parses an interval: seconds without a unit, or a duration. Takes `60ns` for 60 seconds, as
 * NodeLocal DNSCache does, whose flag multiplies a duration by a second. `undefined` for 0 and
 * other text.
 */
export function parseInterval(text: string): number | undefined {
  const [, digits] = /^(\d{1,9})(?:ns)?$/.exec(text) ?? []
  const seconds = digits === undefined ? durationSeconds(text) : Number(digits)
  return seconds === 0 ? undefined : seconds
}

/** Reads `--syncinterval`, in seconds. @throws {CommandError} */
export function readInterval(input: Input): number {
  const text = input.text('syncinterval')
  const seconds = parseInterval(text)
  if (seconds !== undefined) return seconds
  throw new CommandError(`--syncinterval is "${text}", expected seconds, such as 60`)
}
