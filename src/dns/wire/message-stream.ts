/**
 * Splits a byte stream into messages, each after its length in two bytes (RFC 1035 §4.2.2).
 * @module
 */
import { byteAt } from '../bytes/bytes.ts'

const EMPTY = new Uint8Array(0)

/** Assembles messages from chunks of any size. Holds at most one message and one chunk. */
export class MessageStream {
  private readonly onMessage: (message: Uint8Array) => void
  private readonly size = new Uint8Array(2)
  private sizeBytes = 0
  private message: Uint8Array | undefined
  private filled = 0
  /** The current chunk, and the offset in it. */
  private chunk: Uint8Array = EMPTY
  private at = 0
  private isPaused = false

  /** @param onMessage receives each complete message and can keep it */
  constructor(onMessage: (message: Uint8Array) => void) {
    this.onMessage = onMessage
  }

  /** Whether the last chunk has unread bytes because `pause` was called. */
  get hasUnread(): boolean {
    return this.at < this.chunk.length
  }

  /** Whether a message is incomplete. */
  get isWithinMessage(): boolean {
    return this.sizeBytes > 0
  }

  /**
   * Reads a chunk; the previous one must have been read. Returns false for an empty message, after
   * which the stream is unusable.
   */
  push(chunk: Uint8Array): boolean {
    this.hold(chunk)
    return this.resume()
  }

  /** Stores a chunk, which `resume` reads. */
  hold(chunk: Uint8Array): void {
    this.chunk = chunk
    this.at = 0
  }

  /** Stops after the current message. Call it in `onMessage`. */
  pause(): void {
    this.isPaused = true
  }

  /** Continues after a pause. Returns the same as `push`. */
  resume(): boolean {
    this.isPaused = false
    const { chunk } = this
    while (this.at < chunk.length && !this.isPaused) {
      if (this.message === undefined) {
        if (this.passWhole(chunk)) continue
        this.size[this.sizeBytes++] = byteAt(chunk, this.at++)
        if (this.sizeBytes < 2) continue
        const size = (byteAt(this.size, 0) << 8) | byteAt(this.size, 1)
        if (size === 0) return false
        this.message = new Uint8Array(size)
        this.filled = 0
        continue
      }
      const part = chunk.subarray(this.at, this.at + this.message.length - this.filled)
      this.message.set(part, this.filled)
      this.filled += part.length
      this.at += part.length
      if (this.filled < this.message.length) continue
      const { message } = this
      this.message = undefined
      this.sizeBytes = 0
      this.onMessage(message)
    }
    if (!this.hasUnread) this.chunk = EMPTY
    return true
  }

  /** Passes on the next message if the chunk has all of it, which is the common case. */
  private passWhole(chunk: Uint8Array): boolean {
    const { at } = this
    const start = at + 2
    if (this.sizeBytes > 0 || start > chunk.length) return false
    const size = (byteAt(chunk, at) << 8) | byteAt(chunk, at + 1)
    if (size === 0 || start + size > chunk.length) return false
    const message = new Uint8Array(size)
    for (let i = 0; i < size; i++) message[i] = byteAt(chunk, start + i)
    this.at = start + size
    this.onMessage(message)
    return true
  }
}
