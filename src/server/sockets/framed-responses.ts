/**
 * Collects responses for a stream, each after its length in two bytes (RFC 1035 §4.2.2), so that
 * they leave with one write: a write of its own takes half of the CPU time of a small response.
 * @module
 */
import { writeUint16 } from '../../dns/bytes/bytes.ts'

/** Bytes that are collected at most; room for the longest message. */
const BYTES_MAX = 64 * 1024 + 2

/** The responses to the messages of one slice. */
export class FramedResponses {
  private readonly bytes = new Uint8Array(BYTES_MAX)
  /** Bytes that wait. */
  size = 0

  /** Adds the first `size` bytes of a response. Returns false when they do not fit. */
  add(response: Uint8Array, size: number): boolean {
    const { bytes } = this
    const start = this.size + 2
    if (start + size > BYTES_MAX) return false
    writeUint16(bytes, this.size, size)
    for (let i = 0; i < size; i++) bytes[start + i] = response[i] ?? 0
    this.size = start + size
    return true
  }

  /** Returns a copy of what waits, which the socket may keep, and starts over. */
  take(): Uint8Array {
    const { size } = this
    this.size = 0
    return Buffer.from(this.bytes.subarray(0, size))
  }
}
