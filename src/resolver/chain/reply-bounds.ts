/**
 * The size and the padding of responses, by client.
 * @module
 */
import { MESSAGE_BYTES_MAX, UDP_BYTES_ADVERTISED, UDP_BYTES_MIN } from '../../dns/names/limits.ts'
import type { Query } from '../../dns/wire/query.ts'
import type { Client } from '../contract/client.ts'

/**
 * Largest UDP response, whatever size a client advertises, unless `bufsize` changes it: source
 * addresses can be forged, and larger datagrams are fragmented (RFC 9715 §3.1).
 */
const UDP_BYTES_MAX = UDP_BYTES_ADVERTISED
/** Largest advertised size that a response repeats. */
const REPEATED_MAX = 4096
/** Size that replies over encrypted transports are padded to a multiple of (RFC 8467 §4.1). */
export const PADDING_BLOCK: number = 468

/** Returns the largest UDP response: the client's advertised size, within our bounds. */
export function udpBytesFor({ udpBytes }: Query): number {
  return Math.min(Math.max(udpBytes, UDP_BYTES_MIN), UDP_BYTES_MAX)
}

/** Returns the largest response over other transports than UDP. */
export function bytesFor({ hasEdns }: Query, { bytesMax }: Client): number {
  return hasEdns || bytesMax === undefined ? MESSAGE_BYTES_MAX : bytesMax
}

/**
 * Returns the UDP size to advertise: our own (RFC 6891 §6.2.3), or, for malformed EDNS, the
 * client's, as CoreDNS always does.
 */
export function advertisedTo(query: Query): number {
  if (!query.isOptOdd) return UDP_BYTES_ADVERTISED
  return Math.min(Math.max(query.udpBytes, UDP_BYTES_MIN), REPEATED_MAX)
}

/** Returns the block that responses to a client are padded to; 0 for no padding. */
export function paddingBlock({ transport }: Client): number {
  return transport === 'udp' || transport === 'tcp' ? 0 : PADDING_BLOCK
}
