/**
 * Methods of times and what belongs to them (Go, package time); other values have none. Of those
 * that give several values, the first counts, if they are two.
 * @module
 */
import { type BuiltIn, countOf, textOf, unfit } from './built-in.ts'
import { formatTime } from './time-layout.ts'
import { Duration, Location, Named, SECOND_NS, Time, timeOf, ZERO_SECONDS } from './time-values.ts'
import { localZone, UTC } from './time-zone.ts'
import {
  BOOL,
  DURATION,
  FLOAT,
  INT,
  LOCATION,
  MONTH,
  STRING,
  TIME,
  type Type,
  WEEKDAY,
} from './type.ts'
import type { Value } from './value.ts'

/** A method: as a function that is given its value first, which `takes` does not list. */
export type Method = BuiltIn

const WEEK_MS = 7 * 86_400_000

/** Finds a method of a type. */
export function findMethod(type: Type['kind'], name: string): Method | undefined {
  const methods = METHODS[type]
  return methods !== undefined && Object.hasOwn(methods, name) ? methods[name] : undefined
}

/** Tells whether values of a type have methods. */
export function hasMethods(type: Type['kind']): boolean {
  return METHODS[type] !== undefined
}

const TEXT: Method = { takes: [], gives: STRING, call: String }

const METHODS: { readonly [kind in Type['kind']]?: Readonly<Record<string, Method>> } = {
  'time.Time': {
    Year: number(({ local }) => local.getUTCFullYear()),
    Month: ofTime(MONTH, ({ local }) => new Named('time.Month', local.getUTCMonth() + 1)),
    Day: number(({ local }) => local.getUTCDate()),
    Weekday: ofTime(WEEKDAY, ({ local }) => new Named('time.Weekday', local.getUTCDay())),
    YearDay: number(({ yearDay }) => yearDay),
    ISOWeek: number(isoYear),
    Hour: number(({ local }) => local.getUTCHours()),
    Minute: number(({ local }) => local.getUTCMinutes()),
    Second: number(({ local }) => local.getUTCSeconds()),
    Nanosecond: number(({ nanosecond }) => nanosecond),
    Unix: ofTime(INT, ({ seconds }) => BigInt(seconds)),
    UnixMilli: ofTime(INT, ({ key }) => floored(key, 1_000_000n)),
    UnixMicro: ofTime(INT, ({ key }) => floored(key, 1000n)),
    UnixNano: ofTime(INT, ({ key }) => key),
    Location: ofTime(LOCATION, ({ zone }) => new Location(zone)),
    Zone: ofTime(STRING, ({ zone, seconds }) => zone.shortNameAt(seconds)),
    In: ofTime(TIME, ({ key }, at) => new Time(key, locationOf(at).zone), ['time.Location']),
    UTC: ofTime(TIME, ({ key }) => new Time(key, UTC)),
    Local: ofTime(TIME, ({ key }) => new Time(key, localZone())),
    Format: ofTime(STRING, (time, layout) => formatTime(time, textOf(layout)), ['string']),
    String: TEXT,
    IsZero: ofTime(BOOL, ({ key }) => key === BigInt(ZERO_SECONDS) * SECOND_NS),
    After: ofTime(BOOL, ({ key }, other) => key > instantOf(other).key, ['time.Time']),
    Before: ofTime(BOOL, ({ key }, other) => key < instantOf(other).key, ['time.Time']),
    Equal: ofTime(BOOL, ({ key }, other) => key === instantOf(other).key, ['time.Time']),
    Compare: ofTime(INT, ({ key }, other) => compared(key, instantOf(other).key), ['time.Time']),
    Sub: ofTime(DURATION, ({ key }, from) => new Duration(key - instantOf(from).key), [
      'time.Time',
    ]),
    Add: ofTime(TIME, ({ key, zone }, by) => new Time(key + lengthOf(by).key, zone), [
      'time.Duration',
    ]),
    AddDate: ofTime(TIME, addDate, ['int', 'int', 'int']),
    Truncate: ofTime(TIME, (time, to) => new Time(time.key - over(time, to), time.zone), [
      'time.Duration',
    ]),
    Round: ofTime(TIME, roundTime, ['time.Duration']),
  },
  'time.Duration': {
    Hours: ofDuration(FLOAT, ({ key }) => Number(key) / 3.6e12),
    Minutes: ofDuration(FLOAT, ({ key }) => Number(key) / 6e10),
    Seconds: ofDuration(FLOAT, ({ key }) => Number(key) / 1e9),
    Milliseconds: ofDuration(INT, ({ key }) => key / 1_000_000n),
    Microseconds: ofDuration(INT, ({ key }) => key / 1000n),
    Nanoseconds: ofDuration(INT, ({ key }) => key),
    String: TEXT,
    Abs: ofDuration(DURATION, ({ key }) => new Duration(key < 0n ? -key : key)),
    Round: ofDuration(DURATION, roundDuration, ['time.Duration']),
    Truncate: ofDuration(
      DURATION,
      ({ key }, to) => {
        const by = lengthOf(to).key
        return new Duration(by <= 0n ? key : key - (key % by))
      },
      ['time.Duration'],
    ),
  },
  'time.Location': { String: TEXT },
  'time.Weekday': { String: TEXT },
  'time.Month': { String: TEXT },
}

function ofTime(
  gives: Type,
  call: (time: Time, ...args: readonly Value[]) => Value,
  takes: readonly string[] = [],
): Method {
  return { takes, gives, call: (value, ...args) => call(instantOf(value), ...args) }
}

function number(read: (time: Time) => number): Method {
  return ofTime(INT, (time) => BigInt(read(time)))
}

function ofDuration(
  gives: Type,
  call: (duration: Duration, ...args: readonly Value[]) => Value,
  takes: readonly string[] = [],
): Method {
  return { takes, gives, call: (value, ...args) => call(lengthOf(value), ...args) }
}

function instantOf(value: Value): Time {
  if (value instanceof Time) return value
  throw unfit('time.Time', value)
}

function lengthOf(value: Value): Duration {
  if (value instanceof Duration) return value
  throw unfit('time.Duration', value)
}

function locationOf(value: Value): Location {
  if (value instanceof Location) return value
  throw unfit('time.Location', value)
}

function compared(a: bigint, b: bigint): bigint {
  if (a === b) return 0n
  return a < b ? -1n : 1n
}

function floored(value: bigint, by: bigint): bigint {
  return (value - (((value % by) + by) % by)) / by
}

/** The year that has the Thursday of its week (ISO 8601). */
function isoYear({ local }: Time): number {
  const toThursday = 4 - (local.getUTCDay() === 0 ? 7 : local.getUTCDay())
  return new Date(local.getTime() + (toThursday * WEEK_MS) / 7).getUTCFullYear()
}

function addDate(time: Time, years: Value, months: Value, days: Value): Time {
  const { local, nanosecond, zone } = time
  const civil = {
    year: local.getUTCFullYear() + countOf(years),
    month: local.getUTCMonth() + 1 + countOf(months),
    day: local.getUTCDate() + countOf(days),
    hour: local.getUTCHours(),
    minute: local.getUTCMinutes(),
    second: local.getUTCSeconds(),
  }
  return timeOf(civil, nanosecond, zone)
}

/** By how much a time is over a multiple of a length, counted as Go does from the year 1. */
function over({ key }: Time, length: Value): bigint {
  const by = lengthOf(length).key
  return by <= 0n ? 0n : (key - BigInt(ZERO_SECONDS) * SECOND_NS) % by
}

function roundTime(time: Time, length: Value): Time {
  const by = lengthOf(length).key
  const rest = over(time, length)
  return new Time(rest + rest < by ? time.key - rest : time.key - rest + by, time.zone)
}

/** Halves go away from zero. */
function roundDuration({ key }: Duration, length: Value): Duration {
  const by = lengthOf(length).key
  if (by <= 0n) return new Duration(key)
  const size = key < 0n ? -key : key
  const rest = size % by
  const rounded = rest + rest < by ? size - rest : size - rest + by
  return new Duration(key < 0n ? -rounded : rounded)
}
