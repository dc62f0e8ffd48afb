/**
 * SvcParams of SVCB and HTTPS records in presentation format (RFC 9460 §2.1, §7, appendix A).
 * @module
 */
import { decodeBase64, encodeBase64 } from '../bytes/base64url.ts'
import { byteAt, concatBytes, EMPTY, readUint16, toLatin1, uint16Bytes } from '../bytes/bytes.ts'
import { formatAddress, parseIPv4, parseIPv6 } from '../names/address.ts'
import { MESSAGE_BYTES_MAX } from '../names/limits.ts'
import { parseString } from './character-string.ts'

/** Most parameters: each takes four bytes and more, and the length of rdata has 16 bits. */
const PARAMS_MAX = MESSAGE_BYTES_MAX >> 2
/** Most items of a list, which take a byte and more each. */
const ITEMS_MAX = MESSAGE_BYTES_MAX
/** Most items of `mandatory`, which take two bytes each. */
const KEYS_MAX = MESSAGE_BYTES_MAX >> 1

/** Formats the parameters at the end of rdata, in their order. */
export function formatServiceParams(bytes: Uint8Array): string {
  const words: string[] = []
  for (let at = 0; at < bytes.length; ) {
    const size = readUint16(bytes, at + 2)
    words.push(formatParam(readUint16(bytes, at), bytes.subarray(at + 4, at + 4 + size)))
    at += 4 + size
  }
  return words.join(' ')
}

/**
 * Parses `key` and `key=value` words and sorts them by key; `undefined` for an invalid or repeated
 * parameter, or if a mandatory key is missing.
 */
export function parseServiceParams(words: readonly string[]): Uint8Array | undefined {
  if (words.length > PARAMS_MAX) return undefined
  const params = new Map<number, Uint8Array>()
  for (const word of words) {
    const split = word.indexOf('=')
    const name = split < 0 ? word : word.slice(0, split)
    const key = parseKey(name)
    const bytes = parseString(split < 0 ? '' : word.slice(split + 1).replace(/^"(.*)"$/, '$1'))
    const value = bytes && (PARAMS.get(name) ?? BYTES).parse(bytes)
    if (key === undefined || value === undefined || params.has(key)) return undefined
    params.set(key, value)
  }
  const mandatory = params.get(KEYS.indexOf('mandatory')) ?? EMPTY
  if (!uint16s(mandatory).every((key) => params.has(key))) return undefined
  const sorted = [...params].sort(([a], [b]) => a - b)
  return concatBytes(...sorted.flatMap(([key, value]) => [uint16Bytes(key, value.length), value]))
}

function formatKey(key: number): string {
  return KEYS[key] ?? `key${key}`
}

function parseKey(text: string): number | undefined {
  const known = KEYS.indexOf(text)
  if (known >= 0) return known
  const digits = /^key(0|[1-9]\d{0,4})$/.exec(text)?.[1]
  return digits !== undefined && Number(digits) < 65536 ? Number(digits) : undefined
}

/** Formats an invalid value as bytes of the key's number. */
function formatParam(key: number, value: Uint8Array): string {
  const name = formatKey(key)
  const text = (PARAMS.get(name) ?? BYTES).format(value)
  if (text === undefined) return `key${key}${value.length === 0 ? '' : `="${escapeValue(value)}"`}`
  if (text === '') return name
  return name === 'mandatory' ? `${name}=${text}` : `${name}="${text}"`
}

/** Returns whether keys ascend and do not include `mandatory` itself (RFC 9460 §8). */
function isKeyList(value: Uint8Array): boolean {
  const keys = uint16s(value)
  const isRising = keys.every((key, i) => key > (keys[i - 1] ?? 0))
  return isRising && value.length > 0 && value.length % 2 === 0
}

function parseKeyList(text: string): Uint8Array | undefined {
  const keys = text.split(',').map(parseKey)
  if (keys.length > KEYS_MAX) return undefined
  const value = uint16Bytes(...keys.filter((key) => key !== undefined).sort((a, b) => a - b))
  return value.length === 2 * keys.length && isKeyList(value) ? value : undefined
}

function uint16s(value: Uint8Array): number[] {
  const count = Math.floor(value.length / 2)
  return Array.from({ length: count }, (_, i) => readUint16(value, 2 * i))
}

/**
 * Splits a value into parts of one size; `undefined` if it is empty or the last part incomplete.
 */
function chunks(value: Uint8Array, size: number): Uint8Array[] | undefined {
  const count = value.length / size
  if (count === 0 || !Number.isInteger(count)) return undefined
  return Array.from({ length: count }, (_, i) => value.subarray(i * size, (i + 1) * size))
}

function formatShortStrings(value: Uint8Array): string | undefined {
  const strings: string[] = []
  let at = 0
  while (at < value.length && byteAt(value, at) > 0) {
    const end = at + 1 + byteAt(value, at)
    // Escapes commas and backslashes for the list, then again for the line.
    const item = toLatin1(value.subarray(at + 1, end)).replaceAll(/[,\\]/g, '\\$&')
    strings.push(escapeValue(latin1Bytes(item)))
    at = end
  }
  return at === value.length && at > 0 ? strings.join(',') : undefined
}

/** Splits at commas; `\,` and `\\` are a comma and a backslash (RFC 9460 appendix A.1). */
function splitList(text: string): (string | undefined)[] {
  if (!/^(?:[^,\\]|\\[,\\])+(?:,(?:[^,\\]|\\[,\\])+)*$/.test(text)) return [undefined]
  const items = text.match(/(?:[^,\\]|\\[,\\])+/g) ?? []
  return items.map((item) => item.replaceAll(/\\(.)/g, '$1'))
}

function shortString(text: string | undefined): Uint8Array | undefined {
  if (text === undefined || text.length > 255) return undefined
  return concatBytes(Uint8Array.of(text.length), latin1Bytes(text))
}

function latin1Bytes(text: string): Uint8Array {
  return Uint8Array.from(text, (char) => char.charCodeAt(0))
}

function escapeValue(value: Uint8Array): string {
  return Array.from(value, (code) =>
    code < 0x21 || code > 0x7e || code === 0x22 || code === 0x5c || code === 0x2c
      ? `\\${String(code).padStart(3, '0')}`
      : String.fromCharCode(code),
  ).join('')
}

function parsePort(text: string): Uint8Array | undefined {
  return /^\d{1,5}$/.test(text) && Number(text) < 65536 ? uint16Bytes(Number(text)) : undefined
}

function joinAll(parts: readonly (Uint8Array | undefined)[]): Uint8Array | undefined {
  if (parts.length > ITEMS_MAX) return undefined
  const whole: Uint8Array[] = []
  for (const part of parts) {
    if (part === undefined) return undefined
    whole.push(part)
  }
  return concatBytes(...whole)
}

/** The text form of a value. Both functions return `undefined` for an invalid value. */
type ValueText = {
  readonly format: (value: Uint8Array) => string | undefined
  readonly parse: (bytes: Uint8Array) => Uint8Array | undefined
}

function hints(size: number, parse: (text: string) => Uint8Array | undefined): ValueText {
  return {
    format: (value) => chunks(value, size)?.map(formatAddress).join(','),
    parse: (bytes) => joinAll(toLatin1(bytes).split(',').map(parse)),
  }
}

/** The form after `keyNNN`, also of a known key (RFC 9460 §2.1). */
const BYTES: ValueText = { format: escapeValue, parse: (bytes) => bytes }

/** The known parameters, in the order of their keys. */
const PARAMS: ReadonlyMap<string, ValueText> = new Map(
  Object.entries<ValueText>({
    mandatory: {
      format: (value) => (isKeyList(value) ? uint16s(value).map(formatKey).join(',') : undefined),
      parse: (bytes) => parseKeyList(toLatin1(bytes)),
    },
    alpn: {
      format: formatShortStrings,
      parse: (bytes) => joinAll(splitList(toLatin1(bytes)).map(shortString)),
    },
    'no-default-alpn': {
      format: (value) => (value.length === 0 ? '' : undefined),
      parse: (bytes) => (bytes.length === 0 ? bytes : undefined),
    },
    port: {
      format: (value) => (value.length === 2 ? String(readUint16(value, 0)) : undefined),
      parse: (bytes) => parsePort(toLatin1(bytes)),
    },
    ipv4hint: hints(4, parseIPv4),
    ech: { format: encodeBase64, parse: (bytes) => decodeBase64(toLatin1(bytes)) },
    ipv6hint: hints(16, parseIPv6),
    dohpath: BYTES,
  }),
)
const KEYS = [...PARAMS.keys()]
