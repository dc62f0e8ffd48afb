/**
 * Frames of HTTP/2 as they are on the wire (RFC 9113 §4.1, §6, §7).
 *
 * ```
 *  length (24) | type (8) | flags (8) | reserved (1), stream identifier (31) | payload …
 * ```
 * @module
 */

/** Bytes of a frame's header. */
export const FRAME_HEADER_BYTES = 9

/** What a client begins a connection with (RFC 9113 §3.4), as characters. */
export const CLIENT_PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'

/** Types of frames (RFC 9113 §6). */
export const FRAME = {
  DATA: 0,
  HEADERS: 1,
  PRIORITY: 2,
  RST_STREAM: 3,
  SETTINGS: 4,
  PUSH_PROMISE: 5,
  PING: 6,
  GOAWAY: 7,
  WINDOW_UPDATE: 8,
  CONTINUATION: 9,
} as const

/** Flags of frames; which of them a type has is told where the type is (RFC 9113 §6). */
export const FLAG = {
  END_STREAM: 0x1,
  ACK: 0x1,
  END_HEADERS: 0x4,
  PADDED: 0x8,
  PRIORITY: 0x20,
} as const

/** Why a stream or a connection ends (RFC 9113 §7). */
export const ERROR_CODE = {
  NO_ERROR: 0x0,
  PROTOCOL_ERROR: 0x1,
  INTERNAL_ERROR: 0x2,
  FLOW_CONTROL_ERROR: 0x3,
  STREAM_CLOSED: 0x5,
  FRAME_SIZE_ERROR: 0x6,
  REFUSED_STREAM: 0x7,
  CANCEL: 0x8,
  COMPRESSION_ERROR: 0x9,
  ENHANCE_YOUR_CALM: 0xb,
} as const
