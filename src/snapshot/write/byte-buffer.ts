/**
 * A buffer that grows: little-endian numbers and bytes, appended or put where room was left.
 * @module
 */
import { byteAt } from '../../bytes/bytes.ts'
import { SnapshotError } from '../format/errors.ts'
import { SHARD_BYTES_MAX } from '../format/layout.ts'

/** Bytes that are written one by one. */
const FEW = 64

/** Bytes in the making. */
export class ByteBuffer {
  /** All room there is; `size` bytes of it count. */
  bytes: Uint8Array = new Uint8Array(64 * 1024)
  size = 0
  private view = new DataView(this.bytes.buffer)
  private readonly bytesMax: number

  /** @param bytesMax bytes that it may have */
  constructor(bytesMax: number = SHARD_BYTES_MAX) {
    this.bytesMax = bytesMax
  }

  /** Makes room for `count` bytes of zero and returns where they begin. */
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
  append(octets: Uint8Array): void {
    // Room first: making it may put another buffer in place of this one.
    const start = this.reserve(octets.length)
    this.put(start, octets)
  }

  /** Writes bytes, or those from `start` to `end`, where room was made. */
  put(offset: number, octets: Uint8Array, start: number = 0, end: number = octets.length): void {
    const { bytes } = this
    // A call costs more than a few bytes do.
    if (end - start > FEW) bytes.set(octets.subarray(start, end), offset)
    else for (let i = start; i < end; i++) bytes[offset + i - start] = byteAt(octets, i)
  }

  /** Writes a 16-bit number where room was made. */
  put16(offset: number, value: number): void {
    this.view.setUint16(offset, value, true)
  }

  /** Writes a 32-bit number where room was made. */
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
