/**
 * A buffer that grows: little-endian numbers and bytes, appended or put into reserved space.
 * @module
 */
import { byteAt } from '../../dns/bytes/bytes.ts'
import { SHARD_BYTES_MAX, SnapshotError } from '../format/layout.ts'

/** Most bytes that are copied one by one. */
const FEW = 64
const BYTES_LEAST = 64 * 1024
/** Most bytes of memory that is kept for the next buffer. */
const SPARE_BYTES_MAX = 1024 * 1024

/** Memory of the last buffer that was taken, all zeros. */
let spare: Uint8Array | undefined

/** A growing buffer. */
export class ByteBuffer {
  /** The allocated bytes; the first `size` of them are in use. */
  bytes: Uint8Array
  size = 0
  private view: DataView
  private readonly bytesMax: number

  /** @param bytesMax most bytes */
  constructor(bytesMax: number = SHARD_BYTES_MAX) {
    this.bytesMax = bytesMax
    this.bytes = spare ?? new Uint8Array(BYTES_LEAST)
    spare = undefined
    this.view = new DataView(this.bytes.buffer)
  }

  /**
   * Returns a copy of the bytes. The next buffer gets this one's memory, as a whole build has
   * thousands of them; do not use this one any more.
   */
  take(): Uint8Array {
    const taken = this.bytes.slice(0, this.size)
    if (this.bytes.length <= SPARE_BYTES_MAX) spare = this.bytes.fill(0, 0, this.size)
    return taken
  }

  /** Reserves `count` zero bytes. Returns their offset. */
  reserve(count: number): number {
    const start = this.size
    this.size += count
    if (this.size > this.bytes.length) this.grow()
    return start
  }

  /** Appends a 16-bit number. */
  append16(value: number): void {
    this.put16(this.reserve(2), value)
  }

  /** Appends a 32-bit number. */
  append32(value: number): void {
    this.put32(this.reserve(4), value)
  }

  /** Appends bytes. */
  append(source: Uint8Array): void {
    // Reserve first: it may replace the buffer.
    const start = this.reserve(source.length)
    this.put(start, source)
  }

  /** Writes bytes, or those from `start` to `end`, into reserved space. */
  put(offset: number, source: Uint8Array, start: number = 0, end: number = source.length): void {
    const { bytes } = this
    // For a few bytes a loop is faster than a call.
    if (end - start > FEW) bytes.set(source.subarray(start, end), offset)
    else for (let i = start; i < end; i++) bytes[offset + i - start] = byteAt(source, i)
  }

  /** Writes a 16-bit number into reserved space. */
  put16(offset: number, value: number): void {
    this.view.setUint16(offset, value, true)
  }

  /** Writes a 32-bit number into reserved space. */
  put32(offset: number, value: number): void {
    this.view.setUint32(offset, value, true)
  }

  /** Appends zeros up to a multiple of four bytes. */
  align(): void {
    this.reserve(-this.size & 3)
  }

  private grow(): void {
    if (this.size > this.bytesMax) {
      throw new SnapshotError(`Cannot build shard: over ${this.bytesMax} bytes`)
    }
    const larger = new Uint8Array(Math.max(this.size, 2 * this.bytes.length))
    larger.set(this.bytes)
    this.bytes = larger
    this.view = new DataView(larger.buffer)
  }
}
