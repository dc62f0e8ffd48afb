/**
 * Reads, writes and compares bytes.
 *
 * The only place that asserts an indexed read to be a number: callers have checked the bounds.
 * @module
 */

/** ASCII lower case of every byte; only A–Z change (RFC 4343 §3). */
export const LOWER: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte,
)

/** Bytes, and the same memory as 32-bit words in machine byte order. */
export type WordBytes = { readonly bytes: Uint8Array; readonly words: Int32Array }

/** The same with the number of bytes: reading a typed array's `length` takes longer. */
export type SizedBytes = WordBytes & { readonly size: number }

/** Maximum number of arguments in one call, below every runtime's limit. */
const CHARACTERS_AT_ONCE = 4096

/** Empty bytes. */
export const EMPTY: Uint8Array = new Uint8Array(0)

/** Allocates `size` zero bytes; `size` is a multiple of four. */
export function wordBytes(size: number): { bytes: Uint8Array; words: Int32Array } {
  const words = new Int32Array(size >>> 2)
  return { bytes: new Uint8Array(words.buffer), words }
}

/** Copies bytes to memory that can be read as words. */
export function asWordBytes(source: Uint8Array): SizedBytes {
  const { bytes, words } = wordBytes((source.length + 3) & ~3)
  bytes.set(source)
  return { bytes: bytes.subarray(0, source.length), words, size: source.length }
}

/** Reads one byte. The caller has checked that `offset` is inside `bytes`. */
export function byteAt(bytes: Uint8Array, offset: number): number {
  return bytes[offset] as number
}

/**
 * Reads a 32-bit word by its index as a signed number: V8 stores large unsigned numbers on the
 * heap. The caller has checked the index.
 */
export function word(words: Int32Array, index: number): number {
  return words[index] as number
}

/** Returns the mask of the used bits in the incomplete last word of `size` bytes. */
export function tailMask(size: number): number {
  return (1 << (8 * (size & 3))) - 1
}

/** Reads a 16-bit number in network byte order. The caller has checked the bounds. */
export function readUint16(bytes: Uint8Array, offset: number): number {
  return ((bytes[offset] as number) << 8) | (bytes[offset + 1] as number)
}

/** Reads a signed 32-bit number in network byte order. The caller has checked the bounds. */
export function readInt32(bytes: Uint8Array, offset: number): number {
  const high = ((bytes[offset] as number) << 8) | (bytes[offset + 1] as number)
  return (high << 16) | ((bytes[offset + 2] as number) << 8) | (bytes[offset + 3] as number)
}

/** Reads an unsigned 32-bit number in network byte order. The caller has checked the bounds. */
export function readUint32(bytes: Uint8Array, offset: number): number {
  return readInt32(bytes, offset) >>> 0
}

/** Writes the low 16 bits of `value`, big-endian. */
export function writeUint16(bytes: Uint8Array, offset: number, value: number): void {
  bytes[offset] = value >>> 8
  bytes[offset + 1] = value
}

/** Writes the low 32 bits of `value`, big-endian. */
export function writeUint32(bytes: Uint8Array, offset: number, value: number): void {
  writeUint16(bytes, offset, value >>> 16)
  writeUint16(bytes, offset + 2, value)
}

/** Returns the low 16 bits of each value, big-endian. */
export function uint16Bytes(...values: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(2 * values.length)
  for (const [i, value] of values.entries()) writeUint16(bytes, 2 * i, value)
  return bytes
}

/** Returns the low 32 bits of each value, big-endian. */
export function uint32Bytes(...values: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(4 * values.length)
  for (const [i, value] of values.entries()) writeUint32(bytes, 4 * i, value)
  return bytes
}

/** Length from which it is worth to compare words. */
const LONG_BYTES = 1024

/** Returns whether two byte strings are equal. Stops at the first difference: not for secrets. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  const start = a.length < LONG_BYTES ? 0 : equalWords(a, b)
  for (let i = start; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

/** Returns how many bytes are equal at the least: compares words, four times as fast as bytes. */
function equalWords(a: Uint8Array, b: Uint8Array): number {
  if (a.byteOffset % 4 !== 0 || b.byteOffset % 4 !== 0) return 0
  const left = new Uint32Array(a.buffer, a.byteOffset, a.length >>> 2)
  const right = new Uint32Array(b.buffer, b.byteOffset, b.length >>> 2)
  let at = 0
  while (at < left.length && left[at] === right[at]) at++
  return 4 * at
}

/** Compares two byte strings: negative, zero or positive. A prefix sorts before a longer string. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length)
  for (let i = 0; i < shared; i++) {
    const difference = byteAt(a, i) - byteAt(b, i)
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

/** Returns a 32-bit hash of bytes; not for secrets. */
export function hashBytes(bytes: Uint8Array, seed: number): number {
  let hash = seed
  for (let i = 0; i < bytes.length; i++) hash = Math.imul(hash ^ byteAt(bytes, i), 0x01000193)
  return hash
}

/** Concatenates byte strings. */
export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let offset = 0
  for (const part of parts) {
    for (let i = 0; i < part.length; i++) joined[offset + i] = byteAt(part, i)
    offset += part.length
  }
  return joined
}

/** Converts each byte to a character U+0000 to U+00FF, for keys of maps. */
export function toLatin1(bytes: Uint8Array): string {
  if (bytes.length <= CHARACTERS_AT_ONCE) return fromCharCodes(bytes)
  let text = ''
  for (let at = 0; at < bytes.length; at += CHARACTERS_AT_ONCE) {
    text += fromCharCodes(bytes.subarray(at, at + CHARACTERS_AT_ONCE))
  }
  return text
}

/** Converts in one call: strings that are concatenated byte by byte are slow to compare. */
function fromCharCodes(bytes: Uint8Array): string {
  return Reflect.apply(String.fromCharCode, undefined, bytes)
}

/** Formats bytes as lower-case hexadecimal digits. */
export function formatHex(bytes: Uint8Array): string {
  const digits = new Uint8Array(2 * bytes.length)
  for (let i = 0; i < bytes.length; i++) {
    const value = byteAt(bytes, i)
    digits[2 * i] = hexDigit(value >>> 4)
    digits[2 * i + 1] = hexDigit(value & 15)
  }
  return toLatin1(digits)
}

function hexDigit(value: number): number {
  return value < 10 ? 0x30 + value : 0x57 + value
}

/** Parses pairs of hexadecimal digits of either case; `undefined` for other text. */
export function parseHex(text: string): Uint8Array | undefined {
  if (text.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(text)) return undefined
  const bytes = new Uint8Array(text.length / 2)
  for (let i = 0; i < bytes.length; i++) {
    bytes[i] = Number.parseInt(text.slice(2 * i, 2 * i + 2), 16)
  }
  return bytes
}
