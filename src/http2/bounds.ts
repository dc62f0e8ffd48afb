/**
 * How much a client may ask of one connection. Whatever goes beyond costs the client the stream or
 * the connection, never others theirs.
 * @module
 */

/** Streams of one connection at a time, as SETTINGS_MAX_CONCURRENT_STREAMS tells. */
export const STREAMS_MAX = 250

/** Bytes of a frame's payload, the least that SETTINGS_MAX_FRAME_SIZE can be (RFC 9113 §4.2). */
export const FRAME_BYTES_MAX = 16_384

/** Bytes of a DATA or header window when none was told (RFC 9113 §6.9.2). */
export const WINDOW_BYTES_DEFAULT = 65_535

/** The largest that a window may get (RFC 9113 §6.9.1). */
export const WINDOW_BYTES_MAX = 0x7fff_ffff

/** Bytes of a dynamic table, the value of SETTINGS_HEADER_TABLE_SIZE that nobody has to tell. */
export const HEADER_TABLE_BYTES_MAX = 4096

/**
 * Bytes of a header list: names, values and 32 for each field (RFC 9113 §6.5.2). A message of
 * 48 KiB still goes by GET. What is over is answered with 431.
 */
export const HEADER_LIST_BYTES_MAX = 65_536

/** Fields of a header list, so that a few bytes cannot stand for any number of them. */
export const HEADER_FIELDS_MAX = 256

/** Literals of header blocks that a connection keeps, to know them again. */
export const LITERALS_KEPT = 16

/** Bytes of one of them. */
export const LITERAL_BYTES_KEPT = 256

/** The same of a path. */
export const PATH_BYTES_KEPT = 32

/** Bytes of a header list that a connection keeps, to compare the next one with. */
export const HEADER_LIST_BYTES_KEPT = 4096

/** Bytes of a header block before it is decoded, over all its frames. */
export const HEADER_BLOCK_BYTES_MAX = 65_536

/** CONTINUATION frames of one header block; nobody needs more than four for its bytes. */
export const CONTINUATIONS_MAX = 16

/** Streams of late that we have reset, whose frames on their way are passed over. */
export const RESET_STREAMS_MAX = 256

/**
 * Frames of one connection that are read before other connections have their turn: a chunk of
 * 64 KiB may hold a thousand requests.
 */
export const FRAMES_PER_TURN = 32

/** Bytes of answers that are gathered before they are written. */
export const OUTBOX_BYTES_MAX = 65_536

/**
 * Streams that end before their time, by the client's RST_STREAM or by an error of the client's:
 * so many at once, and so many a second (CVE-2023-44487, CVE-2025-8671).
 */
export const RESETS: RateBoundOptions = { burst: 1000, perSecond: 33 }

/** Frames that bring nothing: PING, SETTINGS, PRIORITY, empty DATA, types that are not known. */
export const IDLE_FRAMES: RateBoundOptions = { burst: 1000, perSecond: 100 }

/** A bound on how often. */
export type RateBoundOptions = {
  /** At once, after a pause. */
  readonly burst: number
  readonly perSecond: number
}
