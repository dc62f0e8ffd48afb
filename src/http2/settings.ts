/**
 * What both sides tell each other of themselves (RFC 9113 §6.5).
 * @module
 */
import { readUint16, readUint32 } from '../bytes/bytes.ts'
import {
  FRAME_BYTES_MAX,
  HEADER_LIST_BYTES_MAX,
  STREAMS_MAX,
  WINDOW_BYTES_DEFAULT,
  WINDOW_BYTES_MAX,
} from './bounds.ts'
import { ERROR_CODE } from './frame.ts'

/** Identifiers of settings (RFC 9113 §6.5.2). */
export const SETTING = {
  HEADER_TABLE_SIZE: 1,
  ENABLE_PUSH: 2,
  MAX_CONCURRENT_STREAMS: 3,
  INITIAL_WINDOW_SIZE: 4,
  MAX_FRAME_SIZE: 5,
  MAX_HEADER_LIST_SIZE: 6,
} as const

/** What we tell; all else is as it is when nobody says. */
export const OUR_SETTINGS: readonly (readonly [number, number])[] = [
  [SETTING.MAX_CONCURRENT_STREAMS, STREAMS_MAX],
  [SETTING.MAX_HEADER_LIST_SIZE, HEADER_LIST_BYTES_MAX],
]

/** Bytes of one setting. */
const SETTING_BYTES = 6
const FRAME_BYTES_LIMIT = 0xff_ffff

/**
 * What matters to us of the client's settings. Its dynamic table we do not use, its frames may be
 * longer than ours ever are, and we push nothing.
 */
export class ClientSettings {
  initialWindowSize: number = WINDOW_BYTES_DEFAULT

  /** Reads a frame's payload. @returns the connection error that it is, or NO_ERROR */
  read(bytes: Uint8Array, start: number, end: number): number {
    if ((end - start) % SETTING_BYTES !== 0) return ERROR_CODE.FRAME_SIZE_ERROR
    for (let at = start; at < end; at += SETTING_BYTES) {
      const code = this.take(readUint16(bytes, at), readUint32(bytes, at + 2))
      if (code !== ERROR_CODE.NO_ERROR) return code
    }
    return ERROR_CODE.NO_ERROR
  }

  private take(id: number, value: number): number {
    switch (id) {
      case SETTING.ENABLE_PUSH:
        return value <= 1 ? ERROR_CODE.NO_ERROR : ERROR_CODE.PROTOCOL_ERROR
      case SETTING.INITIAL_WINDOW_SIZE:
        if (value > WINDOW_BYTES_MAX) return ERROR_CODE.FLOW_CONTROL_ERROR
        this.initialWindowSize = value
        return ERROR_CODE.NO_ERROR
      case SETTING.MAX_FRAME_SIZE: {
        const isSize = FRAME_BYTES_MAX <= value && value <= FRAME_BYTES_LIMIT
        return isSize ? ERROR_CODE.NO_ERROR : ERROR_CODE.PROTOCOL_ERROR
      }
      default:
        // What is not known is passed over (§6.5.2).
        return ERROR_CODE.NO_ERROR
    }
  }
}
