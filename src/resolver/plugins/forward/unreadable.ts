/**
 * Why a response cannot be read, for the log.
 * @module
 */
import { byteAt, readUint16 } from '../../../dns/bytes/bytes.ts'
import { HEADER_BYTES } from '../../../dns/names/limits.ts'
import { readRdata, WireReader } from '../../../dns/wire/rdata-wire.ts'

/** Bytes of a record between its owner and its data. */
const FIXED_BYTES = 10

/** Returns why `parseResponse` rejects a message, to follow "a response that". Never throws. */
export function unreadableReason(bytes: Uint8Array): string {
  if (bytes.length < HEADER_BYTES) return 'is shorter than a header'
  const questions = readUint16(bytes, 4)
  if (questions > 1) return `has ${questions} questions`
  const reader = new WireReader(bytes, HEADER_BYTES)
  if (questions === 1) {
    reader.name()
    reader.uint32()
  }
  if (reader.isBroken) return 'ends within the question'
  const count = readUint16(bytes, 6) + readUint16(bytes, 8) + readUint16(bytes, 10)
  for (let i = 0; i < count; i++) {
    if (reader.at === bytes.length) return `ends after ${i} of ${count} records`
    const why = brokenRecord(reader)
    if (why !== undefined) return `${why} record ${i + 1} of ${count}`
  }
  return 'is no response'
}

/** Skips a record; returns what is wrong with it. */
function brokenRecord(reader: WireReader): string | undefined {
  const { bytes, at } = reader
  reader.name()
  if (reader.isBroken) return isCutName(bytes, at) ? 'ends within' : 'has an invalid name in'
  if (reader.at + FIXED_BYTES > bytes.length) return 'ends within'
  const type = reader.uint16()
  reader.at += FIXED_BYTES - 4
  const size = reader.uint16()
  if (reader.at + size > bytes.length) return 'ends within'
  return readRdata(reader, type, size) === undefined ? 'has invalid data in' : undefined
}

/** Whether a message ends before a name, up to its first pointer, does. */
function isCutName(bytes: Uint8Array, start: number): boolean {
  let at = start
  while (at < bytes.length && byteAt(bytes, at) > 0 && byteAt(bytes, at) <= 63) {
    at += 1 + byteAt(bytes, at)
  }
  return at >= bytes.length || (byteAt(bytes, at) >= 0xc0 && at + 1 === bytes.length)
}
