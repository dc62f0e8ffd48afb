/**
 * Parses and formats rdata in presentation format (RFC 1035 §5.1, RFC 3597 §5, RFC 9460 §2.1).
 * @module
 */
import { decodeBase64, encodeBase64 } from '../bytes/base64url.ts'
import {
  byteAt,
  concatBytes,
  equalBytes,
  formatHex,
  parseHex,
  readUint16,
  readUint32,
  uint16Bytes,
  uint32Bytes,
} from '../bytes/bytes.ts'
import { formatAddress, parseIPv4, parseIPv6 } from '../names/address.ts'
import { MESSAGE_BYTES_MAX } from '../names/limits.ts'
import { formatName, joinName, parseName, parseRelativeName, ROOT } from '../names/name.ts'
import { formatType, parseType } from '../names/rr-type.ts'
import { parseTtl } from '../names/ttl-text.ts'
import {
  characterStrings,
  formatString,
  parseString,
  stringContents,
} from '../rdata/character-string.ts'
import { parseAlgorithm } from '../rdata/dnssec-algorithm.ts'
import { type Field, rdataSchema } from '../rdata/rdata-schema.ts'
import { formatServiceParams, parseServiceParams } from '../rdata/service-params.ts'
import { bitmapTypes, parseTypeBitmap, typeBitmap } from '../rdata/type-bitmap.ts'
import { fieldEnd, isValidRdata } from './rdata-wire.ts'

/** Tags of CAA records (RFC 8659 §4.1). */
const TAG = /^[a-zA-Z0-9]+$/

/**
 * Formats uncompressed rdata; as `\# length hex` if its type is unknown, it is not valid for its
 * type, or a field has no text form.
 */
export function formatRdata(type: number, rdata: Uint8Array): string {
  const schema = rdataSchema(type)
  if (schema === undefined || !isValidRdata(type, rdata)) return formatOpaque(rdata)
  const words: string[] = []
  let at = 0
  for (const field of schema) {
    const end = fieldEnd(field, rdata, at)
    const text = FIELDS[field].format(rdata.subarray(at, end))
    if (!hasTextForm(field, text, rdata.subarray(at, end))) return formatOpaque(rdata)
    if (text !== '') words.push(text)
    at = end
  }
  return words.join(' ')
}

/**
 * Parses rdata from words of a zone file without quotes but with escapes. Names without a final dot
 * are relative to `origin`. `undefined` for invalid rdata of `type`.
 */
export function parseRdata(
  type: number,
  words: readonly string[],
  origin: Uint8Array,
): Uint8Array | undefined {
  if (words[0] === '\\#') return parseOpaque(type, words)
  const schema = rdataSchema(type)
  if (schema === undefined) return undefined
  const parts: Uint8Array[] = []
  let next = 0
  for (const field of schema) {
    const { parse, isRepeated = false, isOptional = false } = FIELDS[field]
    const taken = isRepeated ? words.slice(next) : words.slice(next, next + 1)
    if (taken.length === 0 && !isOptional) return undefined
    const part = parse(taken, origin)
    if (part === undefined) return undefined
    parts.push(part)
    next += taken.length
  }
  const rdata = concatBytes(...parts)
  return next === words.length && isValidRdata(type, rdata) ? rdata : undefined
}

/** Returns the text form of a field. */
export function fieldText(field: Field): FieldText {
  return FIELDS[field]
}

/** Like `parseRdata`, for constants. @throws {TypeError} for invalid rdata */
export function constantRdata(type: number, text: string): Uint8Array {
  const rdata = parseRdata(type, text.split(' '), ROOT)
  if (rdata === undefined) throw new TypeError(`Not rdata: "${text}"`)
  return rdata
}

/** Returns whether a field has a text form for these bytes. */
function hasTextForm(field: Field, text: string, bytes: Uint8Array): boolean {
  if (field === 'tag') return TAG.test(text)
  if (field === 'types') return equalBytes(typeBitmap(bitmapTypes(bytes)), bytes)
  return text !== '' || FIELDS[field].isOptional === true
}

/** Parses a name of a zone file: absolute with a final dot, `@` for the origin, else relative. */
export function parseNameBelow(text: string, origin: Uint8Array): Uint8Array | undefined {
  if (text === '@') return origin
  if (/(^|[^\\])(\\\\)*\.$/.test(text)) return parseName(text)
  const relative = text === '' ? undefined : parseRelativeName(text)
  return relative === undefined ? undefined : joinName(relative, origin)
}

function parseShortString(text: string): Uint8Array | undefined {
  const bytes = parseString(text)
  return bytes === undefined || bytes.length > 255 ? undefined : characterStrings(bytes)
}

function parseNumber(text: string, max: number): number | undefined {
  return /^\d+$/.test(text) && Number(text) <= max ? Number(text) : undefined
}

/** Splits a word over 255 bytes into several strings, as CoreDNS does. */
function parseStrings(words: readonly string[]): Uint8Array | undefined {
  // Each takes at least a byte, and the length of rdata has 16 bits (RFC 1035 §3.2.1).
  if (words.length > MESSAGE_BYTES_MAX) return undefined
  const strings = words.map(parseString).filter((bytes) => bytes !== undefined)
  if (strings.length < words.length) return undefined
  if (strings.some(({ length }) => length > MESSAGE_BYTES_MAX)) return undefined
  return concatBytes(...strings.map(characterStrings))
}

function formatOpaque(rdata: Uint8Array): string {
  return `\\# ${rdata.length} ${formatHex(rdata)}`.trim()
}

function parseOpaque(type: number, words: readonly string[]): Uint8Array | undefined {
  const bytes = parseHex(words.slice(2).join(''))
  if (bytes === undefined || String(bytes.length) !== words[1]) return undefined
  return isValidRdata(type, bytes) ? bytes : undefined
}

const DIGITS = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/

/** Formats a time. */
export function formatSignatureTime(seconds: number): string {
  return new Date(1000 * seconds).toISOString().replace(/\.\d+Z$|[-T:]/g, '')
}

/** Parses fourteen digits as a date, up to ten as seconds; `undefined` for other text. */
export function parseSignatureTime(text: string): number | undefined {
  if (/^\d{1,10}$/.test(text)) {
    const seconds = Number(text)
    return seconds <= 0xffffffff ? seconds : undefined
  }
  const [, ...parts] = DIGITS.exec(text) ?? []
  const [year, month, day, hour, minute, second] = parts.map(Number)
  if (second === undefined) return undefined
  const ms = Date.UTC(year ?? 0, (month ?? 0) - 1, day, hour, minute, second)
  const seconds = Math.floor(ms / 1000)
  // An invalid date such as 31 February formats as another one.
  const isDate = seconds >= 0 && new Date(ms).toISOString().replace(/\D/g, '').startsWith(text)
  return isDate ? seconds % 2 ** 32 : undefined
}

/** The text form of a field. */
export type FieldText = {
  readonly format: (bytes: Uint8Array) => string
  /** Parses the field's words; `undefined` if they are invalid. */
  readonly parse: (words: readonly string[], origin: Uint8Array) => Uint8Array | undefined
  /** Whether it takes all remaining words. */
  readonly isRepeated?: boolean
  readonly isOptional?: boolean
}

/** Kinds of certificates from 1 on (RFC 4398 §2.1). */
const CERTIFICATES = ['PKIX', 'SPKI', 'PGP', 'IPKIX', 'ISPKI', 'IPGP', 'ACPKIX', 'IACPKIX']

const NUMBERS = {
  1: [byteAt, (value: number) => Uint8Array.of(value)],
  2: [readUint16, (value: number) => uint16Bytes(value)],
  4: [readUint32, (value: number) => uint32Bytes(value)],
} as const

/** Returns the text form of a number of one, two or four bytes. */
function numberText(
  size: 1 | 2 | 4,
  parse: (word: string) => number | undefined = (word) => parseNumber(word, 2 ** (8 * size) - 1),
  format: (value: number) => string = String,
): FieldText {
  const [read, toBytes] = NUMBERS[size]
  return {
    format: (bytes) => format(read(bytes, 0)),
    parse: ([word = '']) => {
      const value = parse(word)
      return value === undefined ? undefined : toBytes(value)
    },
  }
}

/** Returns the text form of bytes as groups of digits; the schema knows their number. */
function groupsText(digits: 2 | 4, separator: '-' | ':'): FieldText {
  const text = new RegExp(`^[0-9a-f]{${digits}}(?:${separator}[0-9a-f]{${digits}})+$`, 'i')
  return {
    format: (bytes) =>
      formatHex(bytes).replace(new RegExp(`(.{${digits}})\\B`, 'g'), `$1${separator}`),
    parse: ([word = '']) =>
      text.test(word) ? parseHex(word.replaceAll(separator, '')) : undefined,
  }
}

const NAME: FieldText = {
  format: formatName,
  parse: ([word = ''], origin) => parseNameBelow(word, origin),
}

const FIELDS: Readonly<Record<Field, FieldText>> = {
  u8: numberText(1),
  u16: numberText(2),
  u32: numberText(4),
  seconds: numberText(4, parseTtl),
  time: numberText(4, parseSignatureTime, formatSignatureTime),
  type: numberText(2, parseType, formatType),
  algorithm: numberText(1, parseAlgorithm),
  certificate: numberText(2, (word) => {
    const kind = CERTIFICATES.indexOf(word)
    return kind < 0 ? parseNumber(word, 0xffff) : kind + 1
  }),
  ipv4: { format: formatAddress, parse: ([word = '']) => parseIPv4(word) },
  ipv6: { format: formatAddress, parse: ([word = '']) => parseIPv6(word) },
  eui48: groupsText(2, '-'),
  eui64: groupsText(2, '-'),
  node: groupsText(4, ':'),
  name: NAME,
  pointable: NAME,
  string: {
    format: (bytes) => formatString(bytes.subarray(1)),
    parse: ([word = '']) => parseShortString(word),
  },
  strings: {
    format: (bytes) => stringContents(bytes).map(formatString).join(' '),
    parse: parseStrings,
    isRepeated: true,
  },
  tag: {
    format: (bytes) => String.fromCharCode(...bytes.subarray(1)),
    parse: ([word = '']) => (TAG.test(word) ? parseShortString(word) : undefined),
  },
  rest: { format: formatString, parse: ([word = '']) => parseString(word) },
  hex: { format: formatHex, parse: (words) => parseHex(words.join('')), isRepeated: true },
  base64: {
    format: encodeBase64,
    parse: (words) => decodeBase64(words.join('')),
    isRepeated: true,
  },
  params: {
    format: formatServiceParams,
    parse: parseServiceParams,
    isRepeated: true,
    isOptional: true,
  },
  types: {
    format: (bytes) => bitmapTypes(bytes).map(formatType).join(' '),
    parse: parseTypeBitmap,
    isRepeated: true,
    isOptional: true,
  },
}
