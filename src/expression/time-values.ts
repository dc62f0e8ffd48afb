/**
 * Times and what belongs to them, as Go's package `time` has them: values of expressions that are
 * compared by their keys and written as Go writes them.
 * @module
 */
import { ExpressionError } from './errors.ts'
import { formatOffset, type Zone } from './time-zone.ts'

/** Nanoseconds of a second. */
export const SECOND_NS = 1_000_000_000n
/** 1 January of the year 1, from which Go counts, in seconds since 1970. */
export const ZERO_SECONDS = -62_135_596_800

/** Names of the months, January first. */
export const MONTHS: readonly string[] =
  'January February March April May June July August September October November December'.split(' ')
/** Names of the days, Sunday first. */
export const WEEKDAYS: readonly string[] =
  'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ')

/** A time on the calendar and the clock. Months count from 1, weekdays from 0, a Sunday. */
export type Civil = {
  readonly year: number
  readonly month: number
  readonly day: number
  readonly hour: number
  readonly minute: number
  readonly second: number
}

/** A point in time, and the zone by whose clock it is told. */
export class Time {
  readonly type = 'time.Time'
  /** Nanoseconds since 1970. */
  readonly key: bigint
  readonly zone: Zone

  constructor(ns: bigint, zone: Zone) {
    this.key = ns
    this.zone = zone
  }

  /** Seconds since 1970. */
  get seconds(): number {
    return Number((this.key - BigInt(this.nanosecond)) / SECOND_NS)
  }

  /** Of its second. */
  get nanosecond(): number {
    return Number(((this.key % SECOND_NS) + SECOND_NS) % SECOND_NS)
  }

  /** Seconds east of Greenwich. */
  get offset(): number {
    return this.zone.offsetAt(this.seconds)
  }

  /** What calendar and clock show, in the fields that a `Date` has for Greenwich. */
  get local(): Date {
    return new Date(1000 * (this.seconds + this.offset))
  }

  /** Day of its year, from 1. */
  get yearDay(): number {
    const { local } = this
    const start = utcSeconds({ ...NEW_YEAR, year: local.getUTCFullYear() })
    return Math.floor((local.getTime() / 1000 - start) / 86_400) + 1
  }

  toString(): string {
    const { local, zone, seconds } = this
    const year = String(local.getUTCFullYear()).padStart(4, '0')
    const day = `${year}-${twoDigits(local.getUTCMonth() + 1)}-${twoDigits(local.getUTCDate())}`
    const offset = formatOffset(this.offset, '-0700')
    return `${day} ${this.clock()} ${offset} ${zone.shortNameAt(seconds)}`
  }

  /** The time of day, with as many digits of the second as it has. */
  clock(): string {
    const { local, nanosecond } = this
    const hour = [local.getUTCHours(), local.getUTCMinutes(), local.getUTCSeconds()]
    const rest = nanosecond === 0 ? '' : `.${trimZeros(String(nanosecond).padStart(9, '0'))}`
    return hour.map(twoDigits).join(':') + rest
  }
}

const NEW_YEAR = { month: 1, day: 1, hour: 0, minute: 0, second: 0 }

/** A length of time. */
export class Duration {
  readonly type = 'time.Duration'
  /** Nanoseconds. */
  readonly key: bigint

  constructor(ns: bigint) {
    this.key = BigInt.asIntN(64, ns)
  }

  toString(): string {
    const size = this.key < 0n ? -this.key : this.key
    const sign = this.key < 0n ? '-' : ''
    if (size === 0n) return '0s'
    const small = UNITS.find(([, ns]) => size < 1000n * ns)
    if (small !== undefined) return `${sign}${decimal(size, small[1])}${small[0]}`
    const seconds = `${decimal(size % (60n * SECOND_NS), SECOND_NS)}s`
    const minutes = size / (60n * SECOND_NS)
    if (minutes === 0n) return sign + seconds
    const hours = minutes / 60n
    return `${sign}${hours === 0n ? '' : `${hours}h`}${minutes % 60n}m${seconds}`
  }
}

const UNITS: readonly (readonly [unit: string, ns: bigint])[] = [
  ['ns', 1n],
  ['µs', 1000n],
  ['ms', 1_000_000n],
]

/** A zone, as a value. */
export class Location {
  readonly type = 'time.Location'
  readonly key: string
  readonly zone: Zone

  constructor(zone: Zone) {
    this.key = zone.name
    this.zone = zone
  }

  toString(): string {
    return this.key
  }
}

/** A day of the week, or a month: a number with a name. */
export class Named {
  readonly type: 'time.Weekday' | 'time.Month'
  readonly key: number

  constructor(type: Named['type'], number: number) {
    this.type = type
    this.key = number
  }

  toString(): string {
    const name = this.type === 'time.Month' ? MONTHS[this.key - 1] : WEEKDAYS[this.key]
    return name ?? String(this.key)
  }
}

/** Any of them. */
export type TimeValue = Time | Duration | Location | Named

/** Finds the time when a zone's clock shows something; where it never does, the one after. */
export function timeOf(civil: Civil, nanosecond: number, zone: Zone): Time {
  const shown = utcSeconds(civil)
  if (Number.isNaN(shown)) throw new ExpressionError('there is no such time')
  const offset = zone.offsetAt(shown - zone.offsetAt(shown))
  return new Time(BigInt(shown - offset) * SECOND_NS + BigInt(nanosecond), zone)
}

/** Seconds since 1970 in Greenwich; what is over its bounds, such as 32 January, goes on. */
export function utcSeconds({ year, month, day, hour, minute, second }: Civil): number {
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  date.setUTCHours(hour, minute, second)
  return date.getTime() / 1000
}

/** Writes a number with two digits at least. */
export function twoDigits(value: number): string {
  return String(value).padStart(2, '0')
}

/** Leaves out zeros at the end. */
export function trimZeros(digits: string): string {
  return digits.replace(/0+$/, '')
}

function decimal(size: bigint, unit: bigint): string {
  const rest = trimZeros(String(size % unit).padStart(String(unit).length - 1, '0'))
  return `${size / unit}${unit === 1n || rest === '' ? '' : `.${rest}`}`
}
