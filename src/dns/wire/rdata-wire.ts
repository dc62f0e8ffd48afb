/**
 * Rdata in wire format: reads it from a message and decompresses its names, validates it by its
 * type's schema, and writes it with compressed names if the type allows that.
 * @module
 */
import { byteAt, concatBytes, EMPTY, equalBytes, readUint16 } from '../bytes/bytes.ts'
import { NAME_BYTES_MAX } from '../names/limits.ts'
import { type Field, fieldBytes, rdataSchema } from '../rdata/rdata-schema.ts'
import { isTypeBitmap } from '../rdata/type-bitmap.ts'
import type { ReplyWriter } from './reply-writer.ts'

/** Maximum number of pointers in a name; each points further back, so this only bounds work. */
const POINTERS_MAX = 127
/** Holds the name that is read: with an array for each, to parse a response took 6 µs, not 2.5. */
const SCRATCH = new Uint8Array(NAME_BYTES_MAX)

/** Reads a message with compressed names in order. Never throws. */
export class WireReader {
  readonly bytes: Uint8Array
  /** Offset of the next byte. */
  at: number
  /** Set after a parse error; values read since then are undefined. */
  isBroken = false

  constructor(bytes: Uint8Array, at = 0) {
    this.bytes = bytes
    this.at = at
  }

  /** Reads a 16-bit number. */
  uint16(): number {
    if (!this.has(2)) return 0
    this.at += 2
    return readUint16(this.bytes, this.at - 2)
  }

  /** Reads a 32-bit number, unsigned. */
  uint32(): number {
    return this.uint16() * 0x10000 + this.uint16()
  }

  /** Reads a name and follows its pointers, each to an offset before the labels that it ends. */
  name(): Uint8Array {
    let size = 0
    let at = this.at
    let floor = at
    let end = -1
    for (let pointers = 0; ; ) {
      const length = at < this.bytes.length ? byteAt(this.bytes, at) : 0x40
      if (length >= 0xc0 && at + 1 < this.bytes.length) {
        if (end < 0) end = at + 2
        at = readUint16(this.bytes, at) & 0x3fff
        if (at >= floor || ++pointers > POINTERS_MAX) return this.fail()
        floor = at
        continue
      }
      const next = at + length + 1
      if (length > 63 || next > this.bytes.length || size + length + 1 > NAME_BYTES_MAX) {
        return this.fail()
      }
      SCRATCH.set(this.bytes.subarray(at, next), size)
      size += length + 1
      at = next
      if (length === 0) break
    }
    this.at = end < 0 ? at : end
    return SCRATCH.slice(0, size)
  }

  /** Reads `size` bytes into a copy. */
  take(size: number): Uint8Array {
    if (!this.has(size)) return this.fail()
    this.at += size
    return this.bytes.slice(this.at - size, this.at)
  }

  private has(size: number): boolean {
    if (this.at + size <= this.bytes.length) return true
    this.isBroken = true
    return false
  }

  private fail(): Uint8Array {
    this.isBroken = true
    return Uint8Array.of(0)
  }
}

/**
 * Reads `size` bytes of rdata at `reader.at` and decompresses names; `undefined` if it does not
 * match its type's schema. Copies rdata of unknown types unchanged.
 */
export function readRdata(reader: WireReader, type: number, size: number): Uint8Array | undefined {
  const end = reader.at + size
  const schema = rdataSchema(type)
  if (schema === undefined) {
    const opaque = reader.take(size)
    return reader.isBroken ? undefined : opaque
  }
  const parts: Uint8Array[] = []
  for (const field of schema) {
    const isName = field === 'name' || field === 'pointable'
    parts.push(isName ? reader.name() : reader.take(rawFieldBytes(reader, field, end)))
    if (reader.isBroken || reader.at > end) return undefined
  }
  if (reader.at !== end) return undefined
  return hasValidTail(schema.at(-1), parts.at(-1)) ? concatBytes(...parts) : undefined
}

/** Validates uncompressed rdata by its type's schema; unknown types are always valid. */
export function isValidRdata(type: number, rdata: Uint8Array): boolean {
  const read = readRdata(new WireReader(rdata), type, rdata.length)
  return read !== undefined && equalBytes(read, rdata)
}

/** Writes valid uncompressed rdata of `type`; compresses the names that can be. */
export function writeRdata(writer: ReplyWriter, type: number, rdata: Uint8Array): void {
  const schema = rdataSchema(type)
  let at = 0
  for (const field of schema ?? []) {
    if (field === 'name' || field === 'pointable') {
      const end = nameEnd(rdata, at)
      writer.writeName(rdata.subarray(at, end), field === 'pointable')
      at = end
      continue
    }
    const size = fieldBytes(field) ?? (isShort(field) ? byteAt(rdata, at) + 1 : rdata.length - at)
    writer.writeBytes(rdata, at, size)
    at += size
  }
  if (schema === undefined) writer.writeBytes(rdata, 0, rdata.length)
}

/** Returns the offset after the uncompressed name at `at`. */
export function nameEnd(bytes: Uint8Array, at: number): number {
  let end = at
  while (byteAt(bytes, end) !== 0) end += byteAt(bytes, end) + 1
  return end + 1
}

/** Returns the offset after the field at `at` in valid uncompressed rdata. */
export function fieldEnd(field: Field, rdata: Uint8Array, at: number): number {
  if (field === 'name' || field === 'pointable') return nameEnd(rdata, at)
  if (isShort(field)) return at + byteAt(rdata, at) + 1
  return at + (fieldBytes(field) ?? rdata.length - at)
}

function isShort(field: Field): boolean {
  return field === 'string' || field === 'tag'
}

function rawFieldBytes(reader: WireReader, field: Field, end: number): number {
  if (!isShort(field)) return fieldBytes(field) ?? end - reader.at
  return reader.at < end ? byteAt(reader.bytes, reader.at) + 1 : Number.POSITIVE_INFINITY
}

/**
 * Validates a repeated last field: strings, windows of a bitmap, or parameters in ascending order
 * of their keys.
 */
function hasValidTail(last: Field | undefined, tail: Uint8Array = EMPTY): boolean {
  let at = 0
  switch (last) {
    case 'types':
      return isTypeBitmap(tail)
    case 'strings':
      while (at < tail.length) at += byteAt(tail, at) + 1
      return at === tail.length && at > 0
    case 'params':
      for (let key = -1; at < tail.length; ) {
        if (at + 4 > tail.length || readUint16(tail, at) <= key) return false
        key = readUint16(tail, at)
        at += 4 + readUint16(tail, at + 2)
      }
      return at === tail.length
    default:
      return true
  }
}
