/**
 * Domain names in uncompressed wire format: length, label, …, and the root's zero byte (RFC 1035
 * §3.1). Labels can contain all 256 byte values; comparisons ignore the case of ASCII letters only
 * (RFC 4343).
 * @module
 */
import { byteAt, concatBytes, EMPTY, LOWER, toLatin1 } from '../bytes/bytes.ts'
import { LABEL_BYTES_MAX, NAME_BYTES_MAX } from './limits.ts'

/** The root's name. */
export const ROOT: Uint8Array = Uint8Array.of(0)

const BACKSLASH = 0x5c
const DOT = 0x2e
/** Where names are parsed, one after the other: hostnames come by the hundred thousand. */
const PARSED = new Uint8Array(NAME_BYTES_MAX + 1)
/** Characters with a meaning in zone files, which are escaped. */
const SPECIAL: ReadonlySet<number> = new Set(Array.from('."\\;()@', (c) => c.charCodeAt(0)))

/**
 * Parses a name in presentation format, with or without the final dot, into an absolute name.
 * Accepts `\.` and `\DDD` (RFC 4343 §2.1). `undefined` for an empty label, a label over 63 bytes, a
 * name over 255 bytes, an invalid escape, or a character over U+007E.
 */
export function parseName(text: string): Uint8Array | undefined {
  if (text === '.') return ROOT
  const labels = parseRelativeName(text.endsWith('.') ? dropDot(text) : text)
  if (labels === undefined || labels.length === 0 || labels.length >= NAME_BYTES_MAX) {
    return undefined
  }
  return concatBytes(labels, ROOT)
}

/** Like `parseName`, for constants. @throws {TypeError} for an invalid name */
export function nameOf(text: string): Uint8Array {
  const name = parseName(text)
  if (name === undefined) throw new TypeError(`Not a domain name: "${text}"`)
  return name
}

/** Parses labels without a final dot into wire format without the root; '' gives no labels. */
export function parseRelativeName(text: string): Uint8Array | undefined {
  if (text === '') return EMPTY
  const wire = PARSED
  let start = 0
  let end = 1
  for (let i = 0; i < text.length; ) {
    const code = text.charCodeAt(i)
    if (code === DOT) {
      if (!closeLabel(wire, start, end)) return undefined
      start = end++
      i++
      continue
    }
    const [value, width] = code === BACKSLASH ? readEscape(text, i) : [code, 1]
    if (value < 0 || value > 255 || (width === 1 && value > 0x7e) || end > NAME_BYTES_MAX) {
      return undefined
    }
    wire[end++] = value
    i += width
  }
  return closeLabel(wire, start, end) ? wire.slice(0, end) : undefined
}

/** Formats the name at `start` with the final dot, escaped for zone files. */
export function formatName(wire: Uint8Array, start = 0): string {
  if (byteAt(wire, start) === 0) return '.'
  let text = ''
  for (let at = start; byteAt(wire, at) !== 0; at += byteAt(wire, at) + 1) {
    text += `${formatLabel(wire, at)}.`
  }
  return text
}

/** Formats the label whose length byte is at an offset. */
export function formatLabel(wire: Uint8Array, at: number): string {
  let text = ''
  for (let i = at + 1; i <= at + byteAt(wire, at); i++) {
    const value = byteAt(wire, i)
    if (value < 0x21 || value > 0x7e) text += `\\${String(value).padStart(3, '0')}`
    else if (SPECIAL.has(value)) text += `\\${String.fromCharCode(value)}`
    else text += String.fromCharCode(value)
  }
  return text
}

/** Returns a copy in lower case. Length bytes are below 64 and stay unchanged. */
export function lowerName(wire: Uint8Array): Uint8Array {
  return wire.map((value) => byteAt(LOWER, value))
}

/** Returns a lower-case string of the name, for maps and sets. */
export function nameKey(wire: Uint8Array): string {
  return toLatin1(lowerName(wire))
}

/** Returns whether two names are equal, ignoring case. */
export function equalNames(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && hasTail(a, 0, b)
}

/** Returns whether `name` is `zone` or below it. */
export function isSubdomain(name: Uint8Array, zone: Uint8Array): boolean {
  return tailOffset(name, zone) >= 0
}

/**
 * Returns the offset of `zone` in `name`, which is the length of the relative part; -1 if `name` is
 * not in the zone.
 */
export function tailOffset(name: Uint8Array, zone: Uint8Array): number {
  const wanted = name.length - zone.length
  for (let at = 0; at <= wanted; at += byteAt(name, at) + 1) {
    if (at === wanted) return hasTail(name, at, zone) ? at : -1
  }
  return -1
}

/** Returns the offsets of the length bytes of all labels, leftmost first, without the root. */
export function labelOffsets(wire: Uint8Array): number[] {
  const offsets: number[] = []
  for (let at = 0; at < wire.length && byteAt(wire, at) !== 0; at += byteAt(wire, at) + 1) {
    offsets.push(at)
  }
  return offsets
}

/** Joins relative labels and an absolute name; `undefined` for a name over 255 bytes. */
export function joinName(relative: Uint8Array, origin: Uint8Array): Uint8Array | undefined {
  if (relative.length + origin.length > NAME_BYTES_MAX) return undefined
  return concatBytes(relative, origin)
}

function hasTail(name: Uint8Array, offset: number, tail: Uint8Array): boolean {
  for (let i = 0; i < tail.length; i++) {
    if (byteAt(LOWER, byteAt(name, offset + i)) !== byteAt(LOWER, byteAt(tail, i))) return false
  }
  return true
}

/** Writes the length of the label between two offsets; false if it or the name is too long. */
export function closeLabel(wire: Uint8Array, start: number, end: number): boolean {
  const length = end - start - 1
  wire[start] = length
  return length >= 1 && length <= LABEL_BYTES_MAX && end <= NAME_BYTES_MAX
}

/** Reads `\DDD` or `\X` at `i`. Returns the byte, -1 if invalid, and the number of characters. */
function readEscape(text: string, i: number): [value: number, width: number] {
  const digits = /^\d{3}/.exec(text.slice(i + 1, i + 4))?.[0]
  if (digits !== undefined) return [Number(digits), 4]
  const next = text.charCodeAt(i + 1)
  const isPlain = next >= 0x21 && next <= 0x7e && !(next >= 0x30 && next <= 0x39)
  return [isPlain ? next : -1, 2]
}

/** Removes the final dot, unless it is escaped. */
function dropDot(text: string): string {
  const last = text.length - 2
  let at = last
  // A regular expression would try each of a million backslashes for the start of the last ones.
  while (text.charCodeAt(at) === BACKSLASH) at--
  return (last - at) % 2 === 0 ? text.slice(0, -1) : text
}
