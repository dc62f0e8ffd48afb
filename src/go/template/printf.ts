/**
 * Go's `Sprintf`, `Sprint` and `Sprintln` (fmt/print.go), for the verbs `%v %s %q %c %d %b %o %x %X
 * %t %f`, with flags, width and precision.
 * @module
 */
import { formatFloat } from '../expression/value.ts'
import {
  type Datum,
  entriesOf,
  formatDatum,
  goType,
  isDatumList,
  Struct,
  TemplateError,
} from './datum.ts'
import { quote, quoteCharacter } from './go-quote.ts'

/** Bound of a width or precision and of the output, in characters. */
const SIZE_MAX = 65_535

type Verb = {
  readonly verb: string
  readonly flags: string
  readonly width: number
  /** `undefined` if the verb has none. */
  readonly precision: number | undefined
}

const VERB = /%([-+# 0]*)(\d+)?(\.\d*)?([\s\S])?/gu
const UNSUPPORTED = /%[-+# 0]*\d*(?:\.\d*)?[^-+# \d.vsqcdboxXtf%]/u

/** Checks the verbs of a format. @throws {TemplateError} at an unsupported one */
export function checkFormat(format: string): void {
  const [verb] = UNSUPPORTED.exec(format.replaceAll('%%', '')) ?? []
  if (verb !== undefined) throw new TemplateError(`printf does not support "${verb}"`)
}

/** Formats arguments. As in Go, arguments that do not fit their verbs show in the output. */
export function sprintf(format: string, args: readonly Datum[]): string {
  checkFormat(format)
  let next = 0
  const text = format.replace(
    VERB,
    (_, flags: string, width = '0', point?: string, verb?: string) => {
      if (verb === undefined) return '%!(NOVERB)'
      if (verb === '%') return '%'
      if (next >= args.length) return `%!${verb}(MISSING)`
      const precision = point === undefined ? undefined : bounded(Number(point.slice(1)))
      return formatVerb(args[next++], { verb, flags, width: bounded(Number(width)), precision })
    },
  )
  if (next >= args.length) return text
  const extra = args.slice(next).map((arg) => typed(arg, formatDatum(arg)))
  return `${text}%!(EXTRA ${extra.join(', ')})`
}

/** Formats arguments by `%v`, with a space between two arguments that are not strings. */
export function sprint(args: readonly Datum[]): string {
  return args
    .map((arg, i) => {
      const before = args[i - 1]
      const needsSpace = i > 0 && typeof arg !== 'string' && typeof before !== 'string'
      return `${needsSpace ? ' ' : ''}${formatDatum(arg)}`
    })
    .join('')
}

/** Formats arguments by `%v`, separated by spaces and followed by a newline. */
export function sprintln(args: readonly Datum[]): string {
  return `${args.map(formatDatum).join(' ')}\n`
}

function bounded(size: number): number {
  if (size > SIZE_MAX) throw new TemplateError(`a width or precision is over ${SIZE_MAX}`)
  return size
}

function formatVerb(value: Datum, how: Verb): string {
  const { verb } = how
  if (verb === 'v' && (value === undefined || value instanceof Struct)) {
    return pad(formatDatum(value), how)
  }
  if (isDatumList(value)) return `[${value.map((item) => formatItem(item, how)).join(' ')}]`
  const entries = entriesOf(value)
  if (entries !== undefined) {
    const pairs = entries.map(([key, item]) => `${formatItem(key, how)}:${formatItem(item, how)}`)
    return `map[${pairs.join(' ')}]`
  }
  const text = formatScalar(value, how)
  if (text !== undefined) return text
  const shown = verb === 'v' ? formatDatum(value) : formatVerb(value, { ...how, verb: 'v' })
  return `%!${verb}(${typed(value, shown)})`
}

/** Formats an element of a list or map; nil is `<nil>` for every verb. */
function formatItem(item: Datum, how: Verb): string {
  return item === undefined ? '<nil>' : formatVerb(item, how)
}

/** Formats a value with its type, as Go does for a verb that does not fit. */
function typed(value: Datum, text: string): string {
  return value === undefined ? '<nil>' : `${goType(value)}=${text}`
}

function formatScalar(value: Datum, how: Verb): string | undefined {
  switch (typeof value) {
    case 'boolean':
      return 'tv'.includes(how.verb) ? pad(String(value), how) : undefined
    case 'bigint':
      return formatInt(value, how)
    case 'number':
      return formatFloatVerb(value, how)
    case 'string':
      return formatText(value, how)
    default:
      return value instanceof Struct && how.verb === 's' ? pad(value.print(), how) : undefined
  }
}

/** The largest argument of `toFixed`. */
const DECIMALS_MAX = 100
const RADIX: Readonly<Record<string, number>> = { b: 2, o: 8, d: 10, v: 10, x: 16, X: 16 }
const PREFIX: Readonly<Record<string, string>> = { b: '0b', o: '0', x: '0x', X: '0X' }

function formatInt(value: bigint, how: Verb): string | undefined {
  const { verb, flags, precision } = how
  const code = value >= 0n && value <= 0x10ffffn ? Number(value) : 0xfffd
  if (verb === 'c') return pad(String.fromCodePoint(code), how)
  if (verb === 'q') return pad(quoteCharacter(code), how)
  const radix = RADIX[verb]
  if (radix === undefined) return undefined
  if (precision === 0 && value === 0n) return pad('', { ...how, flags: flags.replace('0', '') })
  const digits = (value < 0n ? -value : value).toString(radix).padStart(precision ?? 0, '0')
  const prefix = flags.includes('#') ? (PREFIX[verb] ?? '') : ''
  const text = prefix + (verb === 'X' ? digits.toUpperCase() : digits)
  return padNumber(signOf(value < 0n, flags), text, how)
}

function formatFloatVerb(value: number, how: Verb): string | undefined {
  const { verb, flags, precision } = how
  if (verb !== 'v' && verb !== 'f') return undefined
  if (!Number.isFinite(value)) {
    return pad(formatFloat(value), { ...how, flags: flags.replace('0', '') })
  }
  if (verb === 'v' && precision !== undefined) {
    throw new TemplateError('printf does not support a precision of "%v" for a float')
  }
  const sign = signOf(value < 0 || Object.is(value, -0), flags)
  const size = Math.abs(value)
  return padNumber(
    sign,
    verb === 'v' ? formatFloat(size) : size.toFixed(Math.min(precision ?? 6, DECIMALS_MAX)),
    how,
  )
}

function formatText(value: string, how: Verb): string | undefined {
  const { verb, flags, precision } = how
  const cut = precision === undefined ? value : [...value].slice(0, precision).join('')
  switch (verb) {
    case 's':
    case 'v':
      return pad(cut, how)
    case 'q':
      return pad(flags.includes('#') && !cut.includes('`') ? `\`${cut}\`` : quote(cut), how)
    case 'x':
    case 'X': {
      const bytes = new TextEncoder().encode(value).subarray(0, precision)
      const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'))
      const text = hex.join(flags.includes(' ') ? ' ' : '')
      return pad(verb === 'X' ? text.toUpperCase() : text, how)
    }
    default:
      return undefined
  }
}

function signOf(isNegative: boolean, flags: string): string {
  if (isNegative) return '-'
  if (flags.includes('+')) return '+'
  return flags.includes(' ') ? ' ' : ''
}

/** Pads a number with zeros between the sign and the digits, or with spaces. */
function padNumber(sign: string, digits: string, how: Verb): string {
  const { flags, width, precision, verb } = how
  const hasPrecision = verb !== 'f' && precision !== undefined
  const isZeroed = flags.includes('0') && !flags.includes('-') && !hasPrecision
  if (!isZeroed) return pad(sign + digits, { ...how, flags: flags.replace('0', '') })
  return sign + digits.padStart(width - sign.length, '0')
}

function pad(text: string, { flags, width }: Verb): string {
  const missing = width - [...text].length
  if (missing <= 0) return text
  if (flags.includes('-')) return text + ' '.repeat(missing)
  return (flags.includes('0') ? '0' : ' ').repeat(missing) + text
}
