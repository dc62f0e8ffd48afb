/**
 * IP addresses as 4 or 16 bytes, their text form, and their names in the reverse trees.
 *
 * IPv4 text has no leading zeros (RFC 6943 §3.1.1: some parsers read `010` as eight); IPv6 text is
 * formatted as in RFC 5952.
 * @module
 */
import { readUint16, writeUint16 } from '../bytes/bytes.ts'
import { nameOf } from './name.ts'

/** Origin of the reverse tree of IPv4 (RFC 1035 §3.5). */
export const IN_ADDR_ARPA: Uint8Array = nameOf('in-addr.arpa')
/** Origin of the reverse tree of IPv6 (RFC 3596 §2.5). */
export const IP6_ARPA: Uint8Array = nameOf('ip6.arpa')

const DOT = 0x2e
const DIGIT_ZERO = 0x30
const COLON = 0x3a
const HEX_DIGITS = '0123456789abcdef'

/** Parses an address of either family; `undefined` for other text. Rejects zone identifiers. */
export function parseAddress(text: string): Uint8Array | undefined {
  return text.includes(':') ? parseIPv6(text) : parseIPv4(text)
}

/**
 * Returns whether the text of an address is IPv6, by the character after its first group, which has
 * at most four digits; without a group, the second character is a colon too. Allocates nothing.
 */
export function hasIPv6Form(text: string): boolean {
  for (let i = 1; i < 5; i++) {
    const code = text.charCodeAt(i)
    if (code === COLON) return true
    if (code === DOT) return false
  }
  return false
}

/** Parses `192.0.2.1` into 4 bytes. */
export function parseIPv4(text: string): Uint8Array | undefined {
  const bytes = new Uint8Array(4)
  let part = 0
  let digits = 0
  let value = 0
  for (let i = 0; i <= text.length; i++) {
    // The end of the text ends the last part like a dot.
    const code = i < text.length ? text.charCodeAt(i) : DOT
    if (code === DOT) {
      if (digits === 0 || value > 255 || part === 4) return undefined
      bytes[part++] = value
      digits = 0
      value = 0
      continue
    }
    const digit = code - DIGIT_ZERO
    if (digit < 0 || digit > 9 || digits === 3 || (digits > 0 && value === 0)) return undefined
    value = 10 * value + digit
    digits++
  }
  return part === 4 ? bytes : undefined
}

/** Parses an IPv6 address into 16 bytes, also with `::` and with the last 32 bits as IPv4. */
export function parseIPv6(text: string): Uint8Array | undefined {
  const bytes = new Uint8Array(16)
  let size = 0
  let gap = -1
  let at = 0
  if (text.startsWith('::')) {
    gap = 0
    at = 2
  }
  while (at < text.length) {
    const colon = text.indexOf(':', at)
    const end = colon < 0 ? text.length : colon
    if (colon < 0 && text.indexOf('.', at) >= 0) {
      size = embedIPv4(text.slice(at), bytes, size)
      break
    }
    const value = parseHextet(text, at, end)
    if (value < 0 || size === 16) return undefined
    writeUint16(bytes, size, value)
    size += 2
    if (colon < 0) break
    at = colon + 1
    if (text.charCodeAt(at) === COLON) {
      if (gap >= 0) return undefined
      gap = size
      at++
    } else if (at === text.length) return undefined
  }
  if (gap < 0) return size === 16 ? bytes : undefined
  if (size < 0 || size > 14) return undefined
  bytes.copyWithin(16 - size + gap, gap, size)
  bytes.fill(0, gap, 16 - size + gap)
  return bytes
}

/**
 * Formats 4 or 16 bytes, the latter by RFC 5952 §4.
 * @throws {RangeError} on another length.
 */
export function formatAddress(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.')
  if (bytes.length !== 16) throw new RangeError(`An address has 4 or 16 bytes, got ${bytes.length}`)
  if (isMapped(bytes)) return `::ffff:${bytes.subarray(12).join('.')}`
  const hextets = Array.from({ length: 8 }, (_, i) => readUint16(bytes, 2 * i).toString(16))
  const [start, count] = longestZeroRun(hextets)
  if (count < 2) return hextets.join(':')
  return `${hextets.slice(0, start).join(':')}::${hextets.slice(start + count).join(':')}`
}

/** Returns whether an address is IPv4-mapped (RFC 4291 §2.5.5.2). */
export function isMapped(address: Uint8Array): boolean {
  if (address.length !== 16) return false
  for (let i = 0; i < 10; i++) if (address[i] !== 0) return false
  return address[10] === 0xff && address[11] === 0xff
}

/** Returns the IPv4 address of an IPv4-mapped one, and any other address as it is. */
export function unmapped(address: Uint8Array): Uint8Array {
  return isMapped(address) ? address.subarray(12) : address
}

/** Returns an address's absolute name in `in-addr.arpa` or `ip6.arpa`. */
export function reverseName(address: Uint8Array): Uint8Array {
  const labels =
    address.length === 4
      ? Array.from(address, String)
      : Array.from(address).flatMap((value) => [HEX_DIGITS[value >> 4], HEX_DIGITS[value & 15]])
  const origin = address.length === 4 ? 'in-addr.arpa' : 'ip6.arpa'
  return nameOf(`${labels.reverse().join('.')}.${origin}`)
}

/** Writes an IPv4 address at `size`. Returns its end; -1 for invalid text or without room. */
function embedIPv4(text: string, bytes: Uint8Array, size: number): number {
  const embedded = parseIPv4(text)
  if (embedded === undefined || size > 12) return -1
  bytes.set(embedded, size)
  return size + 4
}

/** Parses one to four hexadecimal digits; -1 for other text. */
function parseHextet(text: string, start: number, end: number): number {
  if (end === start || end - start > 4) return -1
  let value = 0
  for (let i = start; i < end; i++) {
    const code = text.charCodeAt(i)
    const letter = (code | 0x20) - 0x61
    const digit = code - DIGIT_ZERO
    if (digit >= 0 && digit <= 9) value = 16 * value + digit
    else if (letter >= 0 && letter <= 5) value = 16 * value + letter + 10
    else return -1
  }
  return value
}

function longestZeroRun(hextets: readonly string[]): [start: number, count: number] {
  let best: [number, number] = [0, 0]
  for (let start = 0; start < hextets.length; start++) {
    let count = 0
    while (hextets[start + count] === '0') count++
    if (count > best[1]) best = [start, count]
  }
  return best
}
