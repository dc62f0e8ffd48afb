/**
 * Decodes header blocks (RFC 7541): bytes → a header list, which may be too large to be kept.
 * @module
 */
import { byteAt } from '../bytes/bytes.ts'
import {
  HEADER_BLOCK_BYTES_MAX,
  HEADER_FIELDS_MAX,
  HEADER_LIST_BYTES_MAX,
  HEADER_TABLE_BYTES_MAX,
} from './bounds.ts'
import { DynamicTable } from './dynamic-table.ts'
import { HeaderField } from './header-field.ts'
import { decodeHuffman, huffmanBytesMax } from './huffman.ts'
import { KnownLiterals } from './known-literals.ts'
import { STATIC_INDEX_MAX, STATIC_TABLE } from './static-table.ts'

/** Makes a string of bytes, one character each. */
export type Latin1 = (bytes: Uint8Array, start: number, end: number) => string

/** Fields as they came. */
export type HeaderList = {
  readonly fields: readonly HeaderField[]
  /** Whether each field may be in a request. */
  readonly isValid: boolean
  /** Whether there were more than are kept; those that were beyond are lost. */
  readonly isTooLarge: boolean
  /** Bytes as they count (RFC 9113 §6.5.2). */
  readonly size: number
}

/** What an integer is when there is none. */
const NO_INTEGER = -1
/** Bytes of an integer after its prefix: none that we take is over 2^28. */
const INTEGER_OCTETS_MAX = 4

/** Where strings are decoded to, one after the other, in all decoders. */
const scratch = new Uint8Array(huffmanBytesMax(HEADER_BLOCK_BYTES_MAX))

/** Decodes the header blocks of one connection, in the order in which they come. */
export class HeaderDecoder {
  private readonly latin1: Latin1
  private readonly table = new DynamicTable(HEADER_TABLE_BYTES_MAX)
  private readonly literals = new KnownLiterals()
  private bytes: Uint8Array = scratch
  private at = 0
  private end = 0

  constructor(latin1: Latin1) {
    this.latin1 = latin1
  }

  /**
   * Decodes a whole block, of at most `HEADER_BLOCK_BYTES_MAX` bytes; `undefined` when it is
   * broken, after which nothing can be decoded any more (COMPRESSION_ERROR, RFC 9113 §4.3).
   */
  decode(bytes: Uint8Array, start: number, end: number): HeaderList | undefined {
    this.bytes = bytes
    this.at = start
    this.end = end
    if (end - start > HEADER_BLOCK_BYTES_MAX || !this.readSizeUpdates()) return undefined
    const fields: HeaderField[] = []
    let isValid = true
    let size = 0
    let count = 0
    while (this.at < end) {
      const field = this.readField()
      if (field === undefined) return undefined
      size += field.size
      count++
      if (size > HEADER_LIST_BYTES_MAX || count > HEADER_FIELDS_MAX) continue
      isValid &&= field.isValid
      fields.push(field)
    }
    return { fields, isValid, isTooLarge: fields.length < count, size }
  }

  /** Sizes of the table are told before all fields (RFC 7541 §4.2). */
  private readSizeUpdates(): boolean {
    while (this.at < this.end && (byteAt(this.bytes, this.at) & 0xe0) === 0x20) {
      const size = this.readInteger(0x1f)
      if (size === NO_INTEGER || !this.table.resize(size)) return false
    }
    return true
  }

  /** Reads one representation of a field (RFC 7541 §6). */
  private readField(): HeaderField | undefined {
    const first = byteAt(this.bytes, this.at)
    if (first >= 0x80) return this.find(this.readInteger(0x7f))
    if (first >= 0x40) {
      const field = this.readLiteral(0x3f)
      if (field !== undefined) this.table.add(field)
      return field
    }
    // A size of the table is out of place here.
    return first >= 0x20 ? undefined : this.readLiteral(0x0f)
  }

  private readLiteral(mask: number): HeaderField | undefined {
    const index = this.readInteger(mask)
    if (index === NO_INTEGER) return undefined
    if (index > 0) return this.readValue(index)
    const name = this.readString()
    const value = name === undefined ? undefined : this.readString()
    return name === undefined || value === undefined ? undefined : new HeaderField(name, value)
  }

  /** Reads the value of a field whose name has an index. */
  private readValue(index: number): HeaderField | undefined {
    const { bytes, at: start, literals } = this
    const known = literals.find(index, bytes, start, this.end)
    if (known !== undefined) {
      this.at = start + known.octets.length
      return known.field
    }
    const named = this.find(index)
    const value = named === undefined ? undefined : this.readString()
    if (named === undefined || value === undefined) return undefined
    const field = new HeaderField(named.name, value, named)
    literals.note(index, { bytes, start, end: this.at }, field)
    return field
  }

  private find(index: number): HeaderField | undefined {
    if (index <= STATIC_INDEX_MAX) return STATIC_TABLE[index]
    return this.table.at(index - STATIC_INDEX_MAX - 1)
  }

  /** Reads a string literal (RFC 7541 §5.2); its length is held to what is there. */
  private readString(): string | undefined {
    if (this.at >= this.end) return undefined
    const isHuffman = byteAt(this.bytes, this.at) >= 0x80
    const size = this.readInteger(0x7f)
    const start = this.at
    if (size === NO_INTEGER || size > this.end - start) return undefined
    this.at += size
    if (!isHuffman) return this.latin1(this.bytes, start, this.at)
    const decoded = decodeHuffman(this.bytes, start, this.at, scratch)
    return decoded < 0 ? undefined : this.latin1(scratch, 0, decoded)
  }

  /** Reads an integer whose prefix are the bits of `mask` (RFC 7541 §5.1). */
  private readInteger(mask: number): number {
    const prefix = byteAt(this.bytes, this.at++) & mask
    if (prefix < mask) return prefix
    let value = mask
    for (let i = 0; i < INTEGER_OCTETS_MAX && this.at < this.end; i++) {
      const next = byteAt(this.bytes, this.at++)
      value += (next & 0x7f) << (7 * i)
      if (next < 0x80) return value
    }
    return NO_INTEGER
  }
}
