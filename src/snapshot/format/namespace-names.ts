/**
 * Reads the names of namespaces in a shard: each follows its size in 2 bytes, little-endian.
 * @module
 */
import { byteAt } from '../../bytes/bytes.ts'

const UTF8 = new TextDecoder()
const NOT_ASCII = /[^\0-\x7f]/

/** Reads `count` names. The caller has checked that they end within `bytes`. */
export function readNamespaceNames(bytes: Uint8Array, count: number): string[] {
  const text = UTF8.decode(bytes)
  // ASCII only, as nearly always: each byte is a character, sizes included.
  const isAscii = !NOT_ASCII.test(text)
  const names: string[] = []
  for (let at = 0; names.length < count; ) {
    const start = at + 2
    at = start + (byteAt(bytes, at) | (byteAt(bytes, at + 1) << 8))
    names.push(isAscii ? text.slice(start, at) : UTF8.decode(bytes.subarray(start, at)))
  }
  return names
}
