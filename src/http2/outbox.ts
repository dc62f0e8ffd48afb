/**
 * Frames that wait to be written together (RFC 9113 §4.1).
 * @module
 */
import { concatBytes, EMPTY, writeUint16, writeUint32 } from '../bytes/bytes.ts'
import { FRAME_BYTES_MAX } from './bounds.ts'
import { ERROR_CODE, FLAG, FRAME, FRAME_HEADER_BYTES } from './frame.ts'
import { NO_DYNAMIC_TABLE } from './header-writer.ts'

/** Bytes that there is room for from the beginning, and again after `trim`. */
const ROOM_BYTES = 4096

/** Gathers the frames of one connection. It grows as it must; its owner minds its size. */
export class Outbox {
  size = 0
  private bytes = new Uint8Array(ROOM_BYTES)
  private hasHeaders = false

  /** The frames, which are overwritten after `clear`. */
  octets(): Uint8Array {
    return this.bytes.subarray(0, this.size)
  }

  /** Forgets all frames. */
  clear(): void {
    this.size = 0
  }

  /** Gives back the room that it does not need now, after it was asked for much. */
  trim(): void {
    if (this.size === 0 && this.bytes.length > ROOM_BYTES) this.bytes = new Uint8Array(ROOM_BYTES)
  }

  /**
   * HEADERS (§6.2) with a header block in two parts; what is over a frame follows in CONTINUATION
   * frames (§6.10).
   */
  headers(streamId: number, block: Uint8Array, more: Uint8Array, isEnd: boolean): void {
    const end = isEnd ? FLAG.END_STREAM : 0
    const update = this.hasHeaders ? EMPTY : NO_DYNAMIC_TABLE
    this.hasHeaders = true
    const size = update.length + block.length + more.length
    if (size <= FRAME_BYTES_MAX) {
      this.begin(FRAME.HEADERS, FLAG.END_HEADERS | end, streamId, size)
      this.append(update)
      this.append(block)
      this.append(more)
      return
    }
    const whole = concatBytes(update, block, more)
    for (let at = 0; at < size; at += FRAME_BYTES_MAX) {
      const part = whole.subarray(at, at + FRAME_BYTES_MAX)
      const endHeaders = at + part.length === size ? FLAG.END_HEADERS : 0
      const type = at === 0 ? FRAME.HEADERS : FRAME.CONTINUATION
      this.begin(type, endHeaders | (at === 0 ? end : 0), streamId, part.length)
      this.append(part)
    }
  }

  /** DATA (§6.1): the bytes from `start` to `end` of a body. */
  data(streamId: number, body: Uint8Array, start: number, end: number, isEnd: boolean): void {
    this.begin(FRAME.DATA, isEnd ? FLAG.END_STREAM : 0, streamId, end - start)
    this.append(start === 0 && end === body.length ? body : body.subarray(start, end))
  }

  /** RST_STREAM (§6.4). */
  reset(streamId: number, code: number): void {
    this.begin(FRAME.RST_STREAM, 0, streamId, 4)
    this.number(code)
  }

  /** SETTINGS (§6.5): pairs of an identifier and a value. */
  settings(pairs: readonly (readonly [number, number])[]): void {
    this.begin(FRAME.SETTINGS, 0, 0, 6 * pairs.length)
    for (const [id, value] of pairs) {
      writeUint16(this.bytes, this.size, id)
      this.size += 2
      this.number(value)
    }
  }

  /** SETTINGS that acknowledges the other side's (§6.5.3). */
  settingsAck(): void {
    this.begin(FRAME.SETTINGS, FLAG.ACK, 0, 0)
  }

  /** PING that answers one (§6.7), with the same eight bytes. */
  pingAck(opaque: Uint8Array): void {
    this.begin(FRAME.PING, FLAG.ACK, 0, opaque.length)
    this.append(opaque)
  }

  /** WINDOW_UPDATE (§6.9), of the connection with stream 0. */
  windowUpdate(streamId: number, increment: number): void {
    this.begin(FRAME.WINDOW_UPDATE, 0, streamId, 4)
    this.number(increment)
  }

  /** GOAWAY (§6.8). */
  goAway(lastStreamId: number, code: number = ERROR_CODE.NO_ERROR): void {
    this.begin(FRAME.GOAWAY, 0, 0, 8)
    this.number(lastStreamId)
    this.number(code)
  }

  /** Writes a frame's header, and makes room for its payload. */
  private begin(type: number, flags: number, streamId: number, payloadSize: number): void {
    const sizeMin = this.size + FRAME_HEADER_BYTES + payloadSize
    if (sizeMin > this.bytes.length) {
      const larger = new Uint8Array(Math.max(sizeMin, 2 * this.bytes.length))
      larger.set(this.octets())
      this.bytes = larger
    }
    const { bytes, size } = this
    bytes[size] = payloadSize >>> 16
    writeUint16(bytes, size + 1, payloadSize)
    bytes[size + 3] = type
    bytes[size + 4] = flags
    writeUint32(bytes, size + 5, streamId)
    this.size = size + FRAME_HEADER_BYTES
  }

  private append(octets: Uint8Array): void {
    if (octets.length === 0) return
    this.bytes.set(octets, this.size)
    this.size += octets.length
  }

  private number(value: number): void {
    writeUint32(this.bytes, this.size, value)
    this.size += 4
  }
}
