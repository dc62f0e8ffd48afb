/**
 * Cuts a stream of bytes into messages, each behind its length in two bytes (RFC 1035 §4.2.2).
 * @module
 */
import { byteAt } from '../bytes/bytes.ts'

const EMPTY = new Uint8Array(0)

/** Messages out of chunks that begin and end anywhere. Keeps one message and one chunk at most. */
export class MessageStream {
  private readonly onMessage: (message: Uint8Array) => void
  private readonly size = new Uint8Array(2)
  private sizeBytes = 0
  private message: Uint8Array | undefined
  private filled = 0
  /** The chunk being read, and how far. */
  private chunk: Uint8Array = EMPTY
  private at = 0
  private isPaused = false

  /** @param onMessage gets each whole message, which is its own to keep */
  constructor(onMessage: (message: Uint8Array) => void) {
    this.onMessage = onMessage
  }

  /** Whether the last chunk has bytes that are not read because `pause` was called. */
  get hasUnread(): boolean {
    return this.at < this.chunk.length
  }

  /** Whether a message has begun and is not whole. */
  get isWithinMessage(): boolean {
    return this.sizeBytes > 0
  }

  /**
   * Takes a chunk; the one before has to be read. Returns false when the peer announced an empty
   * message: nothing that follows can be read.
   */
  push(chunk: Uint8Array): boolean {
    this.hold(chunk)
    return this.resume()
  }

  /** Takes a chunk as `push` does, to be read when `resume` is called. */
  hold(chunk: Uint8Array): void {
    this.chunk = chunk
    this.at = 0
  }

  /** Stops behind the message that `onMessage` is called with. */
  pause(): void {
    this.isPaused = true
  }

  /** Reads on after a pause. Returns what `push` does. */
  resume(): boolean {
    this.isPaused = false
    const { chunk } = this
    while (this.at < chunk.length && !this.isPaused) {
      if (this.message === undefined) {
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
}
