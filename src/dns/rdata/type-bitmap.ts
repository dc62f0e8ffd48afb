/**
 * Type bitmaps of NSEC and CSYNC records (RFC 4034 §4.1.2, RFC 7477 §2.1.1.2).
 *
 * ```
 *  window (1)   bytes (1)   bits (bytes)   window …
 *  type >>> 8   1 to 32      bit 0 is the highest of the first byte
 * ```
 * @module
 */
import { byteAt, concatBytes } from '../bytes/bytes.ts'
import { parseType } from '../names/rr-type.ts'

const WINDOW_BYTES_MAX = 32

/** Writes types, in any order, as a bitmap. */
export function typeBitmap(types: Iterable<number>): Uint8Array {
  const windows = new Map<number, Uint8Array>()
  for (const type of new Set(types)) {
    const bits = windows.get(type >>> 8) ?? new Uint8Array(WINDOW_BYTES_MAX)
    const at = (type & 255) >>> 3
    bits[at] = byteAt(bits, at) | (0x80 >>> (type & 7))
    windows.set(type >>> 8, bits)
  }
  const sorted = [...windows].sort(([a], [b]) => a - b)
  return concatBytes(
    ...sorted.flatMap(([window, bits]) => {
      const size = bits.findLastIndex((value) => value !== 0) + 1
      return [Uint8Array.of(window, size), bits.subarray(0, size)]
    }),
  )
}

/** Lists the types of a valid bitmap in ascending order. */
export function bitmapTypes(bitmap: Uint8Array): number[] {
  const types: number[] = []
  for (let at = 0; at < bitmap.length; ) {
    const window = byteAt(bitmap, at)
    const end = at + 2 + byteAt(bitmap, at + 1)
    for (let bit = 0; bit < 8 * (end - at - 2); bit++) {
      const isSet = (byteAt(bitmap, at + 2 + (bit >>> 3)) & (0x80 >>> (bit & 7))) !== 0
      if (isSet) types.push((window << 8) | bit)
    }
    at = end
  }
  return types
}

/** Returns whether bytes are windows in ascending order, each with 1 to 32 bytes of bits. */
export function isTypeBitmap(bitmap: Uint8Array): boolean {
  let at = 0
  for (let window = -1; at < bitmap.length; ) {
    if (at + 2 > bitmap.length || byteAt(bitmap, at) <= window) return false
    window = byteAt(bitmap, at)
    const size = byteAt(bitmap, at + 1)
    if (size < 1 || size > WINDOW_BYTES_MAX) return false
    at += 2 + size
  }
  return at === bitmap.length
}

/** Parses mnemonics into a bitmap; `undefined` if one is not a type. */
export function parseTypeBitmap(words: readonly string[]): Uint8Array | undefined {
  const types: number[] = []
  for (const word of words) {
    const type = parseType(word)
    if (type === undefined) return undefined
    types.push(type)
  }
  return typeBitmap(types)
}
