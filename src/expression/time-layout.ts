/**
 * Times as text, by Go's layouts: how the second of January 2006, at 15:04:05, would be written
 * (Go, package time, format.go).
 * @module
 */
import { ExpressionError } from './errors.ts'
import { MONTHS, Time, timeOf, trimZeros, twoDigits, utcSeconds, WEEKDAYS } from './time-values.ts'
import { fixedZone, formatOffset, UTC, type Zone } from './time-zone.ts'

/** Parts of layouts, the longer before those that they begin with. */
const CHUNK = new RegExp(
  [
    'January|Jan(?![a-z])|Monday|Mon(?![a-z])|MST|2006|[Z-]07(?::00:00|0000|:00|00)?',
    '__2|_2(?!006)|002|0[1-6]|15|PM|pm|[.,](?:0+|9+)(?!\\d)|[1-5]',
  ].join('|'),
  'g',
)

/** Writes a time by a layout. */
export function formatTime(time: Time, layout: string): string {
  return layout.replace(CHUNK, (chunk) => written(time, chunk))
}

function written(time: Time, chunk: string): string {
  const { local } = time
  const [year, month, day] = [local.getUTCFullYear(), local.getUTCMonth() + 1, local.getUTCDate()]
  const hour = local.getUTCHours()
  const monthName = MONTHS[month - 1] ?? ''
  const weekday = WEEKDAYS[local.getUTCDay()] ?? ''
  const half = hour < 12 ? 'AM' : 'PM'
  const fixed: Readonly<Record<string, string>> = {
    January: monthName,
    Jan: monthName.slice(0, 3),
    Monday: weekday,
    Mon: weekday.slice(0, 3),
    MST: time.zone.shortNameAt(time.seconds),
    2006: String(year).padStart(4, '0'),
    '06': twoDigits(year % 100),
    '01': twoDigits(month),
    1: String(month),
    '02': twoDigits(day),
    _2: String(day).padStart(2, ' '),
    2: String(day),
    '002': String(time.yearDay).padStart(3, '0'),
    __2: String(time.yearDay).padStart(3, ' '),
    15: twoDigits(hour),
    '03': twoDigits(hour % 12 === 0 ? 12 : hour % 12),
    3: String(hour % 12 === 0 ? 12 : hour % 12),
    '04': twoDigits(local.getUTCMinutes()),
    4: String(local.getUTCMinutes()),
    '05': twoDigits(local.getUTCSeconds()),
    5: String(local.getUTCSeconds()),
    PM: half,
    pm: half.toLowerCase(),
  }
  const known = fixed[chunk]
  if (known !== undefined) return known
  if (!/^[.,]/.test(chunk)) return formatOffset(time.offset, chunk)
  const digits = String(time.nanosecond)
    .padStart(9, '0')
    .slice(0, chunk.length - 1)
  if (chunk.includes('0')) return chunk.charAt(0) + digits
  const kept = trimZeros(digits)
  return kept === '' ? '' : chunk.charAt(0) + kept
}

/** What has been read of a time. */
type Read = {
  year: number
  month: number
  day: number
  yearDay: number | undefined
  hour: number
  minute: number
  second: number
  nanosecond: number
  half: 'AM' | 'PM' | undefined
  offset: number | undefined
  zoneName: string
}

/**
 * Reads a time by a layout; without a zone of its own, it is in the given one.
 * @throws {ExpressionError} when it is not written so
 */
export function parseTime(text: string, layout: string, zone: Zone): Time {
  const read: Read = {
    year: 0,
    month: 1,
    day: 1,
    yearDay: undefined,
    hour: 0,
    minute: 0,
    second: 0,
    nanosecond: 0,
    half: undefined,
    offset: undefined,
    zoneName: '',
  }
  let rest = text
  let at = 0
  for (const { 0: chunk, index } of layout.matchAll(CHUNK)) {
    rest = skipped(rest, layout.slice(at, index), text)
    at = index + chunk.length
    const next = layout.slice(at)
    const taken = take(read, chunk, rest, /^[.,][09]/.test(next))
    if (taken === undefined) throw unreadable(text)
    rest = rest.slice(taken)
  }
  if (skipped(rest, layout.slice(at), text) !== '') throw unreadable(text)
  return finished(read, zone, text)
}

/** Goes over what stands in the layout as it is; a blank there is any number of them. */
function skipped(rest: string, literal: string, text: string): string {
  const escaped = literal.replace(/[^\w ]/g, '\\$&').replace(/ +/g, '(?: +|$)')
  const [whole] = new RegExp(`^${escaped}`).exec(rest) ?? []
  if (whole === undefined) throw unreadable(text)
  return rest.slice(whole.length)
}

/** Reads one part into `read`. @returns how many characters it has; `undefined` for none */
function take(read: Read, chunk: string, rest: string, hasFraction: boolean): number | undefined {
  const isZone = /^(?:Z|-)07/.test(chunk)
  const pattern = isZone ? zonePattern(chunk) : PATTERNS.get(chunk)
  const match = (pattern ?? fractionPattern(chunk)).exec(rest)
  if (match === null) return undefined
  const [whole] = match
  const field = FIELDS.get(chunk)
  if (field !== undefined) read[field] = Number(whole.trim())
  else if (isZone) read.offset = whole === 'Z' ? 0 : offsetOf(whole)
  else SETTERS.find(([of]) => of.test(chunk))?.[1](read, whole)
  // Digits behind the second are read also where the layout has none.
  const isSecond = field === 'second' && !hasFraction
  const more = isSecond ? /^[.,]\d+/.exec(rest.slice(whole.length)) : null
  if (more === null) return whole.length
  read.nanosecond = nanoseconds(more[0])
  return whole.length + more[0].length
}

const FIELDS: ReadonlyMap<
  string,
  'year' | 'month' | 'day' | 'yearDay' | 'hour' | 'minute' | 'second'
> = new Map([
  ['2006', 'year'],
  ['01', 'month'],
  ['1', 'month'],
  ['02', 'day'],
  ['_2', 'day'],
  ['2', 'day'],
  ['002', 'yearDay'],
  ['__2', 'yearDay'],
  ['15', 'hour'],
  ['03', 'hour'],
  ['3', 'hour'],
  ['04', 'minute'],
  ['4', 'minute'],
  ['05', 'second'],
  ['5', 'second'],
] as const)

const SETTERS: readonly (readonly [of: RegExp, set: (read: Read, text: string) => void])[] = [
  [/^[.,]/, (read, text) => set(read, { nanosecond: nanoseconds(text) })],
  [/^Jan/, (read, text) => set(read, { month: 1 + monthOf(text) })],
  [/^pm$/i, (read, text) => set(read, { half: text.toUpperCase() === 'PM' ? 'PM' : 'AM' })],
  [/^MST$/, (read, text) => set(read, { zoneName: text })],
  [/^06$/, (read, text) => set(read, { year: Number(text) + (Number(text) >= 69 ? 1900 : 2000) })],
]

function set(read: Read, found: Partial<Read>): void {
  Object.assign(read, found)
}

const ONE_OR_TWO = /^\d\d?/
const TWO = /^\d\d/
const PATTERNS: ReadonlyMap<string, RegExp> = new Map([
  ['2006', /^\d{4}/],
  ['06', TWO],
  ['January', new RegExp(`^(?:${MONTHS.join('|')})`, 'i')],
  ['Jan', new RegExp(`^(?:${MONTHS.map((name) => name.slice(0, 3)).join('|')})`, 'i')],
  ['Monday', new RegExp(`^(?:${WEEKDAYS.join('|')})`, 'i')],
  ['Mon', new RegExp(`^(?:${WEEKDAYS.map((name) => name.slice(0, 3)).join('|')})`, 'i')],
  ['MST', /^(?:[A-Z]{3,5}(?:(?<=GMT)[+-]\d{1,2})?|[+-]\d{2}(?:\d{2})?)/],
  ['002', /^\d{3}/],
  ['__2', /^ {0,2}\d{1,3}/],
  ['_2', /^ ?\d\d?/],
  ['15', ONE_OR_TWO],
  ['PM', /^[AP]M/],
  ['pm', /^[ap]m/],
  ...['01', '02', '03', '04', '05'].map((chunk): [string, RegExp] => [chunk, TWO]),
  ...['1', '2', '3', '4', '5'].map((chunk): [string, RegExp] => [chunk, ONE_OR_TWO]),
])

function fractionPattern(chunk: string): RegExp {
  return chunk.includes('0') ? new RegExp(`^[.,]\\d{${chunk.length - 1}}`) : /^(?:[.,]\d{1,9})?/
}

function zonePattern(chunk: string): RegExp {
  const digits = chunk.replace(/[^0-9:]/g, '').replaceAll(/\d/g, '\\d')
  return new RegExp(`^(?:${chunk.startsWith('Z') ? 'Z|' : ''}[+-]${digits})`)
}

function offsetOf(text: string): number {
  const digits = text.slice(1).replaceAll(':', '')
  const [hours, minutes, seconds] = [0, 2, 4].map((at) => Number(digits.slice(at, at + 2)))
  const size = 3600 * (hours ?? 0) + 60 * (minutes ?? 0) + (seconds ?? 0)
  return text.startsWith('-') ? -size : size
}

function nanoseconds(text: string): number {
  return Number(text.slice(1, 10).padEnd(9, '0'))
}

function monthOf(text: string): number {
  const begin = text.slice(0, 3).toLowerCase()
  return MONTHS.findIndex((name) => name.toLowerCase().startsWith(begin))
}

function finished(read: Read, zone: Zone, text: string): Time {
  const { year, nanosecond, half, minute, second, yearDay, offset, zoneName } = read
  const { month, day } = yearDay === undefined ? read : { month: 1, day: yearDay }
  const isTwelve = half !== undefined && read.hour === 12
  const hour = isTwelve ? (half === 'PM' ? 12 : 0) : read.hour + (half === 'PM' ? 12 : 0)
  const days = new Date(1000 * utcSeconds({ ...read, year, month: month + 1, day: 0 })).getUTCDate()
  const dayMax = yearDay === undefined ? days : 366
  const isReal = 1 <= month && month <= 12 && 1 <= day && day <= dayMax
  if (!isReal || hour > 23 || minute > 59 || second > 59) throw unreadable(text)
  const civil = { year, month, day, hour, minute, second }
  if (offset !== undefined) {
    const there = fixedZone('', offset, '')
    const time = timeOf(civil, nanosecond, there)
    const isHere = zone.offsetAt(time.seconds) === offset
    return isHere ? new Time(time.key, zone) : offset === 0 ? new Time(time.key, UTC) : time
  }
  if (zoneName === '') return timeOf(civil, nanosecond, zone)
  if (zoneName === 'UTC') return timeOf(civil, nanosecond, UTC)
  const here = timeOf(civil, nanosecond, zone)
  if (zone.shortNameAt(here.seconds) === zoneName) return here
  // As in Go: what is no zone from here has a name, and the time of Greenwich.
  const hours = /^GMT([+-]\d+)$/.exec(zoneName)?.[1]
  return timeOf(civil, nanosecond, fixedZone(zoneName, 3600 * Number(hours ?? 0), zoneName))
}

function unreadable(text: string): ExpressionError {
  return new ExpressionError(`"${text}" is not written as the layout has it`)
}
