/**
 * Zones of time, as Go's `time.Location` has them. Which there are, and what they say, is from the
 * runtime's own data (ECMA-402); so are their short names, of which it knows fewer than Go does.
 * @module
 */

/** A zone. Seconds are since 1970, offsets in seconds east of Greenwich. */
export type Zone = {
  /** As `Location.String()` has it. */
  readonly name: string
  readonly offsetAt: (seconds: number) => number
  /** Its short name at a time, such as `CEST`; else the offset, as `+05`. */
  readonly shortNameAt: (seconds: number) => string
}

/** Languages that have short names for zones of their own. */
const LANGUAGES = ['en-US', 'en-GB', 'en-IN', 'en-AU', 'en-ZA'] as const
/** Before, clocks went by the sun: 1900. */
const SECONDS_MIN = -2_208_988_800

/** Greenwich. */
export const UTC: Zone = fixedZone('UTC', 0, 'UTC')

/** Makes a zone that never changes. */
export function fixedZone(name: string, offset: number, shortName: string): Zone {
  return {
    name,
    offsetAt: () => offset,
    shortNameAt: () => (shortName === '' ? formatOffset(offset, '-0700') : shortName),
  }
}

/** Finds a zone by its name, such as `Europe/Berlin`; `undefined` when there is none. */
export function findZone(name: string): Zone | undefined {
  if (name === '' || name === 'UTC') return UTC
  if (name === 'Local') return localZone()
  const formats = /^[A-Za-z]/.test(name) ? formatsOf(name) : undefined
  if (formats === undefined) return undefined
  const { timeZone } = formats.civil.resolvedOptions()
  const isMisspelled = timeZone !== name && timeZone.toLowerCase() === name.toLowerCase()
  return isMisspelled ? undefined : zoneOf(name, formats)
}

/** The zone that the machine goes by. */
export function localZone(): Zone {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
  const zone = timeZone === 'UTC' ? UTC : (findZone(timeZone) ?? UTC)
  return { ...zone, name: 'Local' }
}

/** Writes an offset as `Z07:00`, `-0700` and the like ask for. */
export function formatOffset(offset: number, form: string): string {
  if (form.startsWith('Z') && offset === 0) return 'Z'
  const two = (value: number): string => String(Math.trunc(value)).padStart(2, '0')
  const size = Math.abs(offset)
  const parts = [two(size / 3600), two((size / 60) % 60), two(size % 60)]
  const isShort = form.length === 3
  const count = isShort ? 1 : form.replaceAll(':', '').length > 5 ? 3 : 2
  return (offset < 0 ? '-' : '+') + parts.slice(0, count).join(form.includes(':') ? ':' : '')
}

type Formats = {
  readonly civil: Intl.DateTimeFormat
  readonly names: readonly Intl.DateTimeFormat[]
}

function formatsOf(timeZone: string): Formats | undefined {
  const numbers = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric' } as const
  const rest = { minute: 'numeric', second: 'numeric', hourCycle: 'h23', timeZone } as const
  try {
    return {
      civil: new Intl.DateTimeFormat('en-US', { ...numbers, ...rest }),
      names: LANGUAGES.map(
        (language) => new Intl.DateTimeFormat(language, { timeZone, timeZoneName: 'short' }),
      ),
    }
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

function zoneOf(name: string, { civil, names }: Formats): Zone {
  const offsetAt = (seconds: number): number => {
    const whole = Math.floor(Math.max(seconds, SECONDS_MIN))
    const said = new Map(
      civil.formatToParts(1000 * whole).map(({ type, value }) => [type, Number(value)]),
    )
    const part = (type: Intl.DateTimeFormatPartTypes): number => said.get(type) ?? 0
    const day = Date.UTC(part('year'), part('month') - 1, part('day'))
    const second = 3600 * part('hour') + 60 * part('minute') + part('second')
    return day / 1000 + second - whole
  }
  const shortNameAt = (seconds: number): string => {
    const found = names
      .map((format) => format.formatToParts(1000 * seconds))
      .map((parts) => parts.find(({ type }) => type === 'timeZoneName')?.value ?? '')
      .find((one) => /^[A-Z]+$/.test(one))
    const offset = offsetAt(seconds)
    return found ?? formatOffset(offset, offset % 3600 === 0 ? '-07' : '-0700')
  }
  return { name, offsetAt, shortNameAt }
}
