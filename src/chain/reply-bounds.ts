/**
 * How large replies may be, and how padded, by who asks.
 * @module
 */
import { MESSAGE_BYTES_MAX, UDP_BYTES_ADVERTISED, UDP_BYTES_MIN } from '../dns/limits.ts'
import type { Query } from '../dns/query.ts'
import type { Client } from './client.ts'

/**
 * Largest UDP response, whatever a client says that it takes, unless `bufsize` says otherwise:
 * anybody may forge the address of a query, and larger ones are fragmented (RFC 9715 §3.1).
 */
const UDP_BYTES_MAX = UDP_BYTES_ADVERTISED
/** Largest size of the client's that we repeat. */
const REPEATED_MAX = 4096
/** Size that replies over encrypted transports are padded to a multiple of (RFC 8467 §4.1). */
export const PADDING_BLOCK: number = 468

/** Bytes that a UDP response may have: what the client says that it takes, within our bounds. */
export function udpBytesFor({ udpBytes }: Query): number {
  return Math.min(Math.max(udpBytes, UDP_BYTES_MIN), UDP_BYTES_MAX)
}

/** Bytes that a reply over anything but UDP may have. */
export function bytesFor({ hasEdns }: Query, { bytesMax }: Client): number {
  return hasEdns || bytesMax === undefined ? MESSAGE_BYTES_MAX : bytesMax
}

/**
 * Bytes that we say we take: our own number (RFC 6891 §6.2.3), and the client's, as CoreDNS has it
 * always, where EDNS is not what it should be.
 */
export function advertisedTo(query: Query): number {
  if (!query.isOptOdd) return UDP_BYTES_ADVERTISED
  return Math.min(Math.max(query.udpBytes, UDP_BYTES_MIN), REPEATED_MAX)
}

/** What replies to a client are padded to a multiple of; 0 for nothing. */
export function paddingBlock({ transport }: Client): number {
  return transport === 'https' || transport === 'tls' ? PADDING_BLOCK : 0
}
