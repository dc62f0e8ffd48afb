/**
 * Cuts what comes over a connection into frames (RFC 9113 §4.1), however it was cut on its way.
 * @module
 */
import { byteAt, EMPTY, readInt32, readUint16 } from '../bytes/bytes.ts'
import { FRAME_BYTES_MAX } from './bounds.ts'
import { CLIENT_PREFACE, ERROR_CODE, FRAME_HEADER_BYTES } from './frame.ts'

/** What comes next: a frame, not all of one yet, or the connection error that it is. */
export type Next = 'frame' | 'more' | number

/**
 * Reads the preface, then frames. Of the frame at hand it tells all; the bytes of its payload are
 * those from `start` to `end` of `bytes`, which stay as they are.
 */
export class FrameReader {
  bytes: Uint8Array = EMPTY
  type = 0
  flags = 0
  streamId = 0
  start = 0
  end = 0
  private at = 0
  private isBegun = false

  /** Takes bytes; holds on to them until their frames are read. */
  push(chunk: Uint8Array): void {
    const left = this.bytes.length - this.at
    if (left === 0) {
      this.bytes = chunk
    } else {
      const joined = new Uint8Array(left + chunk.length)
      joined.set(this.bytes.subarray(this.at))
      joined.set(chunk, left)
      this.bytes = joined
    }
    this.at = 0
  }

  /** Goes to the next frame. */
  next(): Next {
    const { bytes } = this
    if (!this.isBegun) {
      const began = this.readPreface()
      if (began !== 'frame') return began
    }
    const start = this.at + FRAME_HEADER_BYTES
    if (start > bytes.length) return this.wait()
    const size = (readUint16(bytes, this.at) << 8) | byteAt(bytes, this.at + 2)
    if (size > FRAME_BYTES_MAX) return ERROR_CODE.FRAME_SIZE_ERROR
    if (start + size > bytes.length) return this.wait()
    this.type = byteAt(bytes, this.at + 3)
    this.flags = byteAt(bytes, this.at + 4)
    this.streamId = readInt32(bytes, this.at + 5) & 0x7fff_ffff
    this.start = start
    this.end = start + size
    this.at = this.end
    return 'frame'
  }

  /** Whether part of a frame is here. */
  get isInside(): boolean {
    return this.at < this.bytes.length
  }

  private wait(): Next {
    // What was read is let go.
    if (this.at === this.bytes.length && this.at > 0) {
      this.bytes = EMPTY
      this.at = 0
    }
    return 'more'
  }

  private readPreface(): Next {
    const { bytes } = this
    const size = Math.min(bytes.length, CLIENT_PREFACE.length)
    for (let i = 0; i < size; i++) {
      if (byteAt(bytes, i) !== CLIENT_PREFACE.charCodeAt(i)) return ERROR_CODE.PROTOCOL_ERROR
    }
    if (size < CLIENT_PREFACE.length) return 'more'
    this.at = size
    this.isBegun = true
    return 'frame'
  }
}
