/**
 * A buffer that grows: little-endian numbers and octets, appended or put where room was left.
 * @module
 */
import { octet } from '../../bytes/bytes.ts'
import { SnapshotError } from '../format/errors.ts'
import { SHARD_BYTES_MAX } from '../format/layout.ts'

/** Octets that are written one by one. */
const FEW = 64

/** Octets in the making. */
export class ByteBuffer {
  /** All room there is; `size` octets of it count. */
  bytes: Uint8Array = new Uint8Array(64 * 1024)
  size = 0
  private view = new DataView(this.bytes.buffer)
  private readonly bytesMax: number

  /** @param bytesMax octets that it may have */
  constructor(bytesMax: number = SHARD_BYTES_MAX) {
    this.bytesMax = bytesMax
  }

  /** Makes room for `count` octets of zero and returns where they begin. */
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

  /** Appends octets. */
  append(octets: Uint8Array): void {
    // Room first: making it may put another buffer in place of this one.
    const start = this.reserve(octets.length)
    this.put(start, octets)
  }

  /** Writes octets, or those from `start` to `end`, where room was made. */
  put(offset: number, octets: Uint8Array, start: number = 0, end: number = octets.length): void {
    const { bytes } = this
    // A call costs more than a few octets do.
    if (end - start > FEW) bytes.set(octets.subarray(start, end), offset)
    else for (let i = start; i < end; i++) bytes[offset + i - start] = octet(octets, i)
  }

  /** Writes a 16-bit number where room was made. */
  put16(offset: number, value: number): void {
    this.view.setUint16(offset, value, true)
  }

  /** Writes a 32-bit number where room was made. */
  put32(offset: number, value: number): void {
    this.view.setUint32(offset, value, true)
  }

  /** Appends zeros up to a multiple of four octets. */
  align(): void {
    this.reserve(-this.size & 3)
  }

  private grow(): void {
    if (this.size > this.bytesMax) {
      throw new SnapshotError(`Cannot build shard: over ${this.bytesMax} octets`)
    }
    const larger = new Uint8Array(Math.max(this.size, 2 * this.bytes.length))
    larger.set(this.bytes)
    this.bytes = larger
    this.view = new DataView(larger.buffer)
  }
}
