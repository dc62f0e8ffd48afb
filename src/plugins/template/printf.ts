/**
 * Go's `Sprintf`, `Sprint` and `Sprintln` (fmt/print.go, fmt/format.go). Not supported: argument
 * indexes (`%[1]d`), `%p`, and `%b` of floats.
 * @module
 */
import { formatFloat } from '../../expression/value.ts'
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

const VERB = /%([-+# 0]*)(\*|\d+)?(?:\.(\*|\d+)?)?([\s\S])?/gu

/** Formats arguments. As in Go, errors appear in the output. */
export function sprintf(format: string, args: readonly Datum[]): string {
  let next = 0
  const size = (text: string | undefined): number => {
    if (text !== '*') return bounded(Number(text ?? 0))
    const value = args[next++]
    return typeof value === 'bigint' ? bounded(Math.abs(Number(value))) : 0
  }
  const text = format.replace(VERB, (whole, flags: string, width, precision, verb?: string) => {
    if (verb === undefined) return '%!(NOVERB)'
    if (verb === '%') return '%'
    const head = whole.slice(0, -verb.length)
    const how = { verb, flags, width: size(width) }
    const digits = head.includes('.') ? size(precision ?? '0') : undefined
    if (next >= args.length) return `%!${verb}(MISSING)`
    return formatVerb(args[next++], { ...how, precision: digits })
  })
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
  if (verb === 'T') return pad(goType(value), how)
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

const RADIX: Readonly<Record<string, number>> = { b: 2, o: 8, O: 8, d: 10, v: 10, x: 16, X: 16 }
const PREFIX: Readonly<Record<string, string>> = { b: '0b', o: '0', x: '0x', X: '0X' }

function formatInt(value: bigint, how: Verb): string | undefined {
  const { verb, flags, precision } = how
  const code = Number(value)
  const isCode = value >= 0n && value <= 0x10ffffn
  if (verb === 'c') return pad(isCode ? String.fromCodePoint(code) : '\ufffd', how)
  if (verb === 'q') return pad(quoteCharacter(isCode ? code : 0xfffd), how)
  if (verb === 'U') {
    return pad(
      `U+${code
        .toString(16)
        .toUpperCase()
        .padStart(precision ?? 4, '0')}`,
      how,
    )
  }
  const radix = RADIX[verb]
  if (radix === undefined) return undefined
  let digits = (value < 0n ? -value : value).toString(radix)
  if (verb === 'X') digits = digits.toUpperCase()
  const prefix = verb === 'O' ? '0o' : flags.includes('#') ? (PREFIX[verb] ?? '') : ''
  if (precision === 0 && value === 0n) return pad('', { ...how, flags: flags.replace('0', '') })
  if (precision !== undefined) digits = digits.padStart(precision, '0')
  return padNumber(signOf(value < 0n, flags), prefix + digits, how)
}

function formatFloatVerb(value: number, how: Verb): string | undefined {
  const { verb, flags, precision } = how
  if (!'vgGeEfF'.includes(verb)) return undefined
  const sign = signOf(value < 0 || Object.is(value, -0), flags)
  if (!Number.isFinite(value)) {
    const name = Number.isNaN(value) ? 'NaN' : 'Inf'
    const mark = !Number.isNaN(value) && sign === '' ? '+' : sign
    return pad(mark + name, { ...how, flags: flags.replace('0', '') })
  }
  const text = floatText(Math.abs(value), verb.toLowerCase(), precision)
  return padNumber(sign, verb === 'G' || verb === 'E' ? text.toUpperCase() : text, how)
}

function floatText(value: number, verb: string, precision: number | undefined): string {
  if (verb === 'f') return value.toFixed(Math.min(precision ?? 6, 100))
  if (verb === 'e') return twoDigitExponent(value.toExponential(Math.min(precision ?? 6, 100)))
  if (precision === undefined) return formatFloat(value)
  const digits = Math.min(Math.max(precision, 1), 100)
  const [mantissa = '', exponent = '0'] = value.toExponential(digits - 1).split('e')
  const isShort = Number(exponent) >= -4 && Number(exponent) < digits
  const bare = (text: string): string => (text.includes('.') ? text.replace(/\.?0+$/, '') : text)
  return isShort
    ? bare(value.toFixed(Math.max(0, digits - 1 - Number(exponent))))
    : twoDigitExponent(`${bare(mantissa)}e${exponent.replace(/^(?=\d)/, '+')}`)
}

function twoDigitExponent(text: string): string {
  return text.replace(/e([+-])(\d)$/, 'e$10$2')
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
  const hasPrecision = RADIX[verb] !== undefined && precision !== undefined
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
