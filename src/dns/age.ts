/**
 * Ages responses by the HTTP Age header (RFC 8484 §5.1).
 * @module
 */
import { byteAt, readUint16, readUint32, writeUint32 } from '../bytes/bytes.ts'
import { HEADER_BYTES } from './limits.ts'
import { TYPE } from './rr-type.ts'

/**
 * Subtracts `seconds` from the TTL of every record but OPT, in place, down to zero. In a malformed
 * message, leaves the part after the error unchanged.
 */
export function ageMessage(bytes: Uint8Array, seconds: number): void {
  if (bytes.length < HEADER_BYTES || seconds <= 0) return
  let at = HEADER_BYTES
  for (let left = readUint16(bytes, 4); left > 0; left--) {
    at = skipName(bytes, at) + 4
    if (at < HEADER_BYTES) return
  }
  let records = readUint16(bytes, 6) + readUint16(bytes, 8) + readUint16(bytes, 10)
  for (; records > 0; records--) {
    at = skipName(bytes, at)
    if (at < 0 || at + 10 > bytes.length) return
    if (readUint16(bytes, at) !== TYPE.OPT) {
      writeUint32(bytes, at + 4, Math.max(0, readUint32(bytes, at + 4) - seconds))
    }
    at += 10 + readUint16(bytes, at + 8)
  }
}

/** Returns the offset after a name; far below zero if the name exceeds the message. */
function skipName(bytes: Uint8Array, start: number): number {
  let at = start
  while (at < bytes.length) {
    const length = byteAt(bytes, at)
    if (length === 0) return at + 1
    if (length >= 0xc0) return at + 2
    at += length + 1
  }
  return -HEADER_BYTES
}
