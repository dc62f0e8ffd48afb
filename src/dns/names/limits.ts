/**
 * Bounds of the wire format, and the ones this code adds to it.
 * @module
 */

/** Bytes of a message header (RFC 1035 §4.1.1). */
export const HEADER_BYTES = 12
/** Bytes of one label without its length (RFC 1035 §2.3.4). */
export const LABEL_BYTES_MAX = 63
/** Bytes of a name on the wire, with all length bytes and the root (RFC 1035 §3.1). */
export const NAME_BYTES_MAX = 255
/** Labels of a name without the root: each takes at least two bytes. */
export const LABELS_MAX = 127
/** Bytes of a message over a stream or HTTP (RFC 1035 §4.2.2, RFC 8484 §6). */
export const MESSAGE_BYTES_MAX = 65535
/** Bytes of a UDP message for a client without EDNS (RFC 1035 §4.2.1). */
export const UDP_BYTES_MIN = 512
/** The UDP size we advertise in OPT records (RFC 9715 §3.2, DNS Flag Day 2020). */
export const UDP_BYTES_ADVERTISED = 1232
/** Largest offset of a compression pointer (RFC 1035 §4.1.4). */
export const POINTER_OFFSET_MAX = 0x3fff
/** Largest TTL in seconds (RFC 2181 §8). */
export const TTL_SECONDS_MAX = 0x7fffffff
