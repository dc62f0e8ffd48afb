/**
 * Functions that make times (github.com/expr-lang/expr, builtin/builtin.go); `now` is for whoever
 * has a clock to add.
 * @module
 */
import { type BuiltIn, type EnvironmentFunction, textOf, unfit } from './built-in.ts'
import { ExpressionError } from './errors.ts'
import { parseTime } from './time-layout.ts'
import { Duration, Location, Time } from './time-values.ts'
import { findZone, localZone, UTC } from './time-zone.ts'
import { DURATION, LOCATION, TIME } from './type.ts'
import type { Value } from './value.ts'

/** Layouts that `date` tries, in this order. */
const LAYOUTS: readonly string[] = [
  '2006-01-02',
  '15:04:05',
  '2006-01-02 15:04:05',
  '2006-01-02T15:04:05Z07:00',
  '02 Jan 06 15:04 MST',
  'Monday, 02-Jan-06 15:04:05 MST',
  'Mon, 02 Jan 2006 15:04:05 MST',
]
const UNIT_NS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1000n,
  µs: 1000n,
  μs: 1000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
}
const PARTS = /(\d+)?(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/gy
const DURATION_MAX = 2n ** 63n - 1n

/** By name. */
export const TIME_FUNCTIONS: Readonly<Record<string, BuiltIn>> = {
  date: { takes: ['string|time.Location', 'string?', 'string?'], gives: TIME, call: readDate },
  duration: { takes: ['string'], gives: DURATION, call: (text) => parseDuration(textOf(text)) },
  timezone: { takes: ['string'], gives: LOCATION, call: (name) => locationOf(textOf(name)) },
}

/** Makes the function `now` of a clock that gives milliseconds since 1970. */
export function nowFunction(nowMs: () => number): EnvironmentFunction<unknown> {
  return {
    kind: 'function',
    takes: ['time.Location?'],
    gives: TIME,
    call: (_, location) => {
      if (location !== undefined && !(location instanceof Location)) {
        throw unfit('time.Location', location)
      }
      const ns = BigInt(Math.round(1000 * nowMs())) * 1000n
      return new Time(ns, location?.zone ?? localZone())
    },
  }
}

function readDate(first: Value, ...others: readonly Value[]): Value {
  const isHere = first instanceof Location
  const [text, layout, zoneName] = (isHere ? others : [first, ...others]).map(textOf)
  if (text === undefined) throw new ExpressionError('"date" takes a text to read')
  const zone = zoneName !== undefined ? locationOf(zoneName).zone : isHere ? first.zone : UTC
  if (layout !== undefined) return parseTime(text, layout, zone)
  for (const one of LAYOUTS) {
    try {
      return parseTime(text, one, zone)
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error
    }
  }
  throw new ExpressionError(`"${text}" is not a date`)
}

function locationOf(name: string): Location {
  const zone = findZone(name)
  if (zone === undefined) throw new ExpressionError(`"${name}" is not a time zone`)
  return new Location(zone)
}

/** Reads `1h30m`, `1.5s`, `-300ms` and the like. */
function parseDuration(text: string): Duration {
  const isNegative = text.startsWith('-')
  const bare = text.replace(/^[+-]/, '')
  if (bare === '0') return new Duration(0n)
  let ns = 0n
  let end = 0
  for (const match of bare.matchAll(PARTS)) {
    const [whole, count = '', fraction = '', unit = ''] = match
    const unitNs = UNIT_NS[unit] ?? 0n
    if (count === '' && fraction === '') break
    const digits = fraction.slice(0, 18)
    ns += BigInt(count || 0) * unitNs
    ns += (BigInt(digits || 0) * unitNs) / 10n ** BigInt(digits.length)
    end = match.index + whole.length
  }
  if (end === 0 || end < bare.length || ns > DURATION_MAX) {
    throw new ExpressionError(`"${text}" is not a duration, such as "1h30m"`)
  }
  return new Duration(isNegative ? -ns : ns)
}
