/**
 * Reads the frames of a streamed response: four bytes with the length, the highest first, then the
 * message (k8s.io/apimachinery, pkg/util/framer).
 * @module
 */
import type { Readable } from 'node:stream'
import { ApiError } from './object-api.ts'
import { readWaiting, type Wait } from './waiting-stream.ts'

const LENGTH_BYTES = 4
/** etcd takes objects up to 1.5 MiB. */
const FRAME_BYTES_MAX = 16 * 1024 * 1024

/**
 * Calls `onFrame` with each message until the stream ends. Where it returns a promise, the stream
 * waits for it.
 * @throws {ApiError} for a frame over 16 MiB, or one that the end of the stream cuts off
 */
export async function readFrames(
  stream: Readable,
  onFrame: (frame: Buffer) => unknown,
): Promise<void> {
  const frames = new Frames(onFrame)
  await readWaiting(stream, (chunk: Buffer) => frames.take(chunk))
  if (frames.isWithin) throw new ApiError('the watch ended within a message')
}

/** Splits a stream into frames. */
class Frames {
  private readonly onFrame: Parameters<typeof readFrames>[1]
  /** What no frame was made of yet, and its bytes. */
  private parts: Buffer[] = []
  private size = 0
  /** Bytes that the next frame takes, as far as known. */
  private needed = LENGTH_BYTES

  constructor(onFrame: Parameters<typeof readFrames>[1]) {
    this.onFrame = onFrame
  }

  /** Whether a frame has begun. */
  get isWithin(): boolean {
    return this.size > 0
  }

  /** Returns what is left of a chunk when a frame has the stream wait. */
  take(chunk: Buffer): Wait<Buffer> | undefined {
    this.parts.push(chunk)
    this.size += chunk.length
    if (this.size < this.needed) return undefined
    const bytes = this.parts.length === 1 ? chunk : Buffer.concat(this.parts, this.size)
    let at = 0
    for (;;) {
      const left = bytes.length - at
      this.needed = LENGTH_BYTES + (left < LENGTH_BYTES ? 0 : bytes.readUInt32BE(at))
      if (this.needed > FRAME_BYTES_MAX) throw new ApiError('a message of the watch is too long')
      if (left < this.needed) break
      const until = this.onFrame(bytes.subarray(at + LENGTH_BYTES, at + this.needed))
      at += this.needed
      if (until instanceof Promise) {
        this.parts = []
        this.size = 0
        this.needed = LENGTH_BYTES
        return { until, left: bytes.subarray(at) }
      }
    }
    this.parts = at === bytes.length ? [] : [bytes.subarray(at)]
    this.size = bytes.length - at
    return undefined
  }
}
