/**
 * Reads the frames of a streamed response: four bytes with the length, the highest first, then the
 * message (k8s.io/apimachinery, pkg/util/framer).
 * @module
 */
import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { ApiError } from './object-api.ts'

const LENGTH_BYTES = 4
/** etcd takes objects up to 1.5 MiB. */
const FRAME_BYTES_MAX = 16 * 1024 * 1024

/**
 * Calls `onFrame` with each message until the stream ends.
 * @throws {ApiError} for a frame over 16 MiB, or one that the end of the stream cuts off
 */
export async function readFrames(
  stream: Readable,
  onFrame: (frame: Buffer) => void,
): Promise<void> {
  const frames = new Frames(onFrame)
  stream.on('data', (chunk: Buffer) => {
    try {
      frames.take(chunk)
    } catch (error) {
      stream.destroy(error instanceof Error ? error : new TypeError(String(error)))
    }
  })
  await finished(stream)
  if (frames.isWithin) throw new ApiError('the watch ended within a message')
}

/** Splits a stream into frames. */
class Frames {
  private readonly onFrame: (frame: Buffer) => void
  /** What no frame was made of yet, and its bytes. */
  private parts: Buffer[] = []
  private size = 0
  /** Bytes that the next frame takes, as far as known. */
  private needed = LENGTH_BYTES

  constructor(onFrame: (frame: Buffer) => void) {
    this.onFrame = onFrame
  }

  /** Whether a frame has begun. */
  get isWithin(): boolean {
    return this.size > 0
  }

  take(chunk: Buffer): void {
    this.parts.push(chunk)
    this.size += chunk.length
    if (this.size < this.needed) return
    const bytes = this.parts.length === 1 ? chunk : Buffer.concat(this.parts, this.size)
    let at = 0
    for (;;) {
      const left = bytes.length - at
      this.needed = LENGTH_BYTES + (left < LENGTH_BYTES ? 0 : bytes.readUInt32BE(at))
      if (this.needed > FRAME_BYTES_MAX) throw new ApiError('a message of the watch is too long')
      if (left < this.needed) break
      this.onFrame(bytes.subarray(at + LENGTH_BYTES, at + this.needed))
      at += this.needed
    }
    this.parts = at === bytes.length ? [] : [bytes.subarray(at)]
    this.size = bytes.length - at
  }
}
