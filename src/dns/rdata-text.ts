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
  writeUint16,
  writeUint32,
} from '../bytes/bytes.ts'
import { formatAddress, parseIPv4, parseIPv6 } from './address.ts'
import { parseAlgorithm } from './dnssec-algorithm.ts'
import { MESSAGE_BYTES_MAX } from './limits.ts'
import { formatName, joinName, parseName, parseRelativeName, ROOT } from './name.ts'
import { type Field, fieldBytes, rdataSchema } from './rdata-schema.ts'
import { fieldEnd, isValidRdata } from './rdata-wire.ts'
import { formatType, parseType } from './rr-type.ts'
import { formatServiceParams, parseServiceParams } from './service-params.ts'
import { parseTtl } from './ttl-text.ts'
import { bitmapTypes, parseTypeBitmap, typeBitmap } from './type-bitmap.ts'

/** Fields that take all remaining words. */
const REPEATED: ReadonlySet<Field> = new Set(['strings', 'params', 'types', 'hex', 'base64'])
/** Fields that are optional in text. */
const OPTIONAL: ReadonlySet<Field> = new Set(['params', 'types'])
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
    const text = formatField(field, rdata.subarray(at, end))
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
    const taken = isRepeated(field) ? words.slice(next) : words.slice(next, next + 1)
    if (taken.length === 0 && !OPTIONAL.has(field)) return undefined
    const part = parseField(field, taken, origin)
    if (part === undefined) return undefined
    parts.push(part)
    next += taken.length
  }
  const rdata = concatBytes(...parts)
  return next === words.length && isValidRdata(type, rdata) ? rdata : undefined
}

/** Like `parseRdata`, for constants. @throws {TypeError} for invalid rdata */
export function constantRdata(type: number, text: string): Uint8Array {
  const rdata = parseRdata(type, text.split(' '), ROOT)
  if (rdata === undefined) throw new TypeError(`Not rdata: "${text}"`)
  return rdata
}

/** Formats bytes in double quotes, escaped. */
export function formatString(bytes: Uint8Array): string {
  let text = ''
  for (const value of bytes) {
    if (value < 0x20 || value > 0x7e) text += `\\${String(value).padStart(3, '0')}`
    else if (value === 0x22 || value === 0x5c) text += `\\${String.fromCharCode(value)}`
    else text += String.fromCharCode(value)
  }
  return `"${text}"`
}

/** Unescapes `\DDD` and `\X`; `undefined` for an invalid escape or a character over U+00FF. */
export function parseString(text: string): Uint8Array | undefined {
  const values: number[] = []
  for (let i = 0; i < text.length; i++) {
    let value = text.charCodeAt(i)
    if (value === 0x5c) {
      const [escaped, digits] = /^(?:(\d{3})|\D)/.exec(text.slice(i + 1, i + 4)) ?? []
      if (escaped === undefined) return undefined
      value = digits === undefined ? text.charCodeAt(i + 1) : Number(digits)
      i += escaped.length
    }
    if (value > 255) return undefined
    values.push(value)
  }
  return Uint8Array.from(values)
}

function isRepeated(field: Field): boolean {
  return REPEATED.has(field)
}

/** Returns whether a field has a text form for these bytes. */
function hasTextForm(field: Field, text: string, bytes: Uint8Array): boolean {
  if (field === 'tag') return TAG.test(text)
  if (field === 'types') return equalBytes(typeBitmap(bitmapTypes(bytes)), bytes)
  return text !== '' || OPTIONAL.has(field)
}

function formatField(field: Field, bytes: Uint8Array): string {
  switch (field) {
    case 'u8':
    case 'algorithm':
      return String(byteAt(bytes, 0))
    case 'u16':
      return String(readUint16(bytes, 0))
    case 'type':
      return formatType(readUint16(bytes, 0))
    case 'u32':
    case 'seconds':
      return String(readUint32(bytes, 0))
    case 'time':
      return formatSignatureTime(readUint32(bytes, 0))
    case 'ipv4':
    case 'ipv6':
      return formatAddress(bytes)
    case 'name':
    case 'pointable':
      return formatName(bytes)
    case 'string':
      return formatString(bytes.subarray(1))
    case 'strings':
      return formatStrings(bytes)
    case 'tag':
      return String.fromCharCode(...bytes.subarray(1))
    case 'rest':
      return formatString(bytes)
    case 'hex':
      return formatHex(bytes)
    case 'base64':
      return encodeBase64(bytes)
    case 'params':
      return formatServiceParams(bytes)
    case 'types':
      return bitmapTypes(bytes).map(formatType).join(' ')
  }
}

function formatStrings(bytes: Uint8Array): string {
  const strings: string[] = []
  for (let at = 0; at < bytes.length; at += byteAt(bytes, at) + 1) {
    strings.push(formatString(bytes.subarray(at + 1, at + 1 + byteAt(bytes, at))))
  }
  return strings.join(' ')
}

function parseField(
  field: Field,
  words: readonly string[],
  origin: Uint8Array,
): Uint8Array | undefined {
  const word = words[0] ?? ''
  switch (field) {
    case 'u8':
    case 'u16':
    case 'u32':
      return parseNumber(word, fieldBytes(field) ?? 0)
    case 'seconds':
      return numberBytes(parseTtl(word), 4)
    case 'time':
      return numberBytes(parseSignatureTime(word), 4)
    case 'type':
      return numberBytes(parseType(word), 2)
    case 'algorithm':
      return numberBytes(parseAlgorithm(word), 1)
    case 'ipv4':
      return parseIPv4(word)
    case 'ipv6':
      return parseIPv6(word)
    case 'name':
    case 'pointable':
      return parseNameBelow(word, origin)
    case 'string':
      return parseShortString(word)
    case 'strings':
      return parseStrings(words)
    case 'tag':
      return TAG.test(word) ? parseShortString(word) : undefined
    case 'rest':
      return parseString(word)
    case 'hex':
      return parseHex(words.join(''))
    case 'base64':
      return decodeBase64(words.join(''))
    case 'params':
      return parseServiceParams(words)
    case 'types':
      return parseTypeBitmap(words)
  }
}

/** Parses a name of a zone file: absolute with a final dot, `@` for the origin, else relative. */
export function parseNameBelow(text: string, origin: Uint8Array): Uint8Array | undefined {
  if (text === '@') return origin
  if (/(^|[^\\])(\\\\)*\.$/.test(text)) return parseName(text)
  const relative = text === '' ? undefined : parseRelativeName(text)
  return relative === undefined ? undefined : joinName(relative, origin)
}

function parseNumber(text: string, size: number): Uint8Array | undefined {
  const value = Number(text)
  return /^\d+$/.test(text) && value < 2 ** (8 * size) ? numberBytes(value, size) : undefined
}

function numberBytes(value: number | undefined, size: number): Uint8Array | undefined {
  if (value === undefined) return undefined
  const bytes = new Uint8Array(size)
  if (size === 1) bytes[0] = value
  else if (size === 2) writeUint16(bytes, 0, value)
  else writeUint32(bytes, 0, value)
  return bytes
}

function parseShortString(text: string): Uint8Array | undefined {
  const bytes = parseString(text)
  return bytes === undefined || bytes.length > 255
    ? undefined
    : concatBytes(Uint8Array.of(bytes.length), bytes)
}

/** Splits a word over 255 bytes into several strings, as CoreDNS does. */
function parseStrings(words: readonly string[]): Uint8Array | undefined {
  // Each takes at least a byte, and the length of rdata has 16 bits (RFC 1035 §3.2.1).
  if (words.length > MESSAGE_BYTES_MAX) return undefined
  const strings: Uint8Array[] = []
  for (const word of words) {
    const bytes = parseString(word)
    if (bytes === undefined) return undefined
    for (let at = 0; at === 0 || at < bytes.length; at += 255) {
      const part = bytes.subarray(at, at + 255)
      strings.push(Uint8Array.of(part.length), part)
    }
  }
  return concatBytes(...strings)
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
