/**
 * Cuts a stream of octets into messages, each behind its length in two octets (RFC 1035 §4.2.2).
 * @module
 */
import { octet } from '../dns/bytes.ts'

/** Messages out of chunks that begin and end anywhere. Keeps one message at most. */
export class MessageStream {
  private readonly onMessage: (message: Uint8Array) => void
  private readonly size = new Uint8Array(2)
  private sizeBytes = 0
  private message: Uint8Array | undefined
  private filled = 0

  /** @param onMessage gets each whole message, which is its own to keep */
  constructor(onMessage: (message: Uint8Array) => void) {
    this.onMessage = onMessage
  }

  /**
   * Takes a chunk. Returns false when the peer announced an empty message, which ends all sense.
   */
  push(chunk: Uint8Array): boolean {
    let at = 0
    while (at < chunk.length) {
      if (this.message === undefined) {
        this.size[this.sizeBytes++] = octet(chunk, at++)
        if (this.sizeBytes < 2) continue
        const size = (octet(this.size, 0) << 8) | octet(this.size, 1)
        if (size === 0) return false
        this.message = new Uint8Array(size)
        this.filled = 0
        continue
      }
      const part = chunk.subarray(at, at + this.message.length - this.filled)
      this.message.set(part, this.filled)
      this.filled += part.length
      at += part.length
      if (this.filled < this.message.length) continue
      const { message } = this
      this.message = undefined
      this.sizeBytes = 0
      this.onMessage(message)
    }
    return true
  }
}
