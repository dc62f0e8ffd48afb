/**
 * IP addresses as 4 or 16 octets, their text, and their names in the reverse trees.
 *
 * Text of IPv4 is four decimal numbers without leading zeros (RFC 6943 §3.1.1: other readers take
 * `010` for eight); text of IPv6 is written as RFC 5952 recommends.
 * @module
 */
import { readUint16, writeUint16 } from './bytes.ts'
import { nameOf } from './name.ts'

/** Origin of the reverse tree of IPv4 (RFC 1035 §3.5). */
export const IN_ADDR_ARPA: Uint8Array = nameOf('in-addr.arpa')
/** Origin of the reverse tree of IPv6 (RFC 3596 §2.5). */
export const IP6_ARPA: Uint8Array = nameOf('ip6.arpa')

const DOT = 0x2e
const DIGIT_ZERO = 0x30
const HEXTET = /^[0-9a-fA-F]{1,4}$/
const HEX_DIGITS = '0123456789abcdef'

/**
 * Parses an address of either family; `undefined` when `text` is none. Zone identifiers are not
 * read.
 */
export function parseAddress(text: string): Uint8Array | undefined {
  return text.includes(':') ? parseIPv6(text) : parseIPv4(text)
}

/** Parses `192.0.2.1` into 4 octets. */
export function parseIPv4(text: string): Uint8Array | undefined {
  const bytes = new Uint8Array(4)
  let part = 0
  let digits = 0
  let value = 0
  for (let i = 0; i <= text.length; i++) {
    // The end of the text ends the last part as a dot ends the others.
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

/**
 * Parses an IPv6 address, also with `::` and with its last 32 bits in IPv4's form, into 16 octets.
 */
export function parseIPv6(text: string): Uint8Array | undefined {
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const head = parseHextets(halves[0] ?? '', halves.length === 1)
  const tail = parseHextets(halves[1] ?? '', true)
  if (head === undefined || tail === undefined) return undefined
  const missing = 8 - head.length - tail.length
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined
  const bytes = new Uint8Array(16)
  head.forEach((value, i) => {
    writeUint16(bytes, 2 * i, value)
  })
  tail.forEach((value, i) => {
    writeUint16(bytes, 2 * (head.length + missing + i), value)
  })
  return bytes
}

/**
 * Formats 4 or 16 octets, the latter as RFC 5952 §4 says.
 * @throws {RangeError} on another length.
 */
export function formatAddress(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.')
  if (bytes.length !== 16)
    throw new RangeError(`An address has 4 or 16 octets, got ${bytes.length}`)
  if (isMapped(bytes)) return `::ffff:${bytes.subarray(12).join('.')}`
  const hextets = Array.from({ length: 8 }, (_, i) => readUint16(bytes, 2 * i).toString(16))
  const [start, count] = longestZeroRun(hextets)
  if (count < 2) return hextets.join(':')
  return `${hextets.slice(0, start).join(':')}::${hextets.slice(start + count).join(':')}`
}

/** The address's absolute name below `in-addr.arpa` or `ip6.arpa`. */
export function reverseName(address: Uint8Array): Uint8Array {
  const labels =
    address.length === 4
      ? Array.from(address, String)
      : Array.from(address).flatMap((value) => [HEX_DIGITS[value >> 4], HEX_DIGITS[value & 15]])
  const origin = address.length === 4 ? 'in-addr.arpa' : 'ip6.arpa'
  return nameOf(`${labels.reverse().join('.')}.${origin}`)
}

/** Parses the groups on one side of `::`; only the last side may end in IPv4's form. */
function parseHextets(text: string, isLast: boolean): number[] | undefined {
  if (text === '') return []
  const groups = text.split(':')
  const last = groups.at(-1) ?? ''
  const values: number[] = []
  if (isLast && last.includes('.')) {
    const embedded = parseIPv4(last)
    if (embedded === undefined) return undefined
    groups.pop()
    values.push(readUint16(embedded, 0), readUint16(embedded, 2))
  }
  if (!groups.every((group) => HEXTET.test(group))) return undefined
  return [...groups.map((group) => Number.parseInt(group, 16)), ...values]
}

function isMapped(bytes: Uint8Array): boolean {
  for (let i = 0; i < 10; i++) if (bytes[i] !== 0) return false
  return bytes[10] === 0xff && bytes[11] === 0xff
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
