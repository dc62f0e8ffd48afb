/**
 * EDNS options (RFC 6891 §6.1.2), and extended errors (RFC 8914).
 * @module
 */
import { concatBytes, readUint16, uint16Bytes } from '../bytes/bytes.ts'

/** Option codes. */
export const OPTION = {
  NSID: 3,
  CLIENT_SUBNET: 8,
  EXPIRE: 9,
  COOKIE: 10,
  KEEPALIVE: 11,
  PADDING: 12,
  EXTENDED_ERROR: 15,
} as const

/** Extended error codes that we send (RFC 8914 §4). */
export const EXTENDED_ERROR = {
  OTHER: 0,
  STALE_ANSWER: 3,
  NOT_READY: 14,
  BLOCKED: 15,
  FILTERED: 17,
  PROHIBITED: 18,
  STALE_NXDOMAIN: 19,
  NOT_AUTHORITATIVE: 20,
  NOT_SUPPORTED: 21,
  NO_REACHABLE_AUTHORITY: 22,
  NETWORK_ERROR: 23,
} as const

/** Hop-by-hop options (RFC 5001 §2.3, RFC 7314 §3.1, RFC 7828, RFC 7830, RFC 7873). */
const BETWEEN_NEIGHBOURS: ReadonlySet<number> = new Set([
  OPTION.NSID,
  OPTION.EXPIRE,
  OPTION.COOKIE,
  OPTION.KEEPALIVE,
  OPTION.PADDING,
])

/** Options that a forwarder passes on by their own specification (RFC 7871 §7.2.1). */
const FORWARDED: ReadonlySet<number> = new Set([OPTION.CLIENT_SUBNET])

/**
 * Returns whether a client's option goes to upstreams. OPT records are not forwarded (RFC 6891
 * §6.1.1): unknown options would only let a client send the same query again.
 */
export function isForwarded(code: number): boolean {
  return FORWARDED.has(code)
}

/** Returns whether an option is hop-by-hop: not to be passed on from an upstream's response. */
export function isBetweenNeighbours(code: number): boolean {
  return BETWEEN_NEIGHBOURS.has(code)
}

/** Names of extended errors by code (RFC 8914 §4 and IANA's registry of 2026). */
const EXTENDED_ERROR_NAMES: readonly string[] = [
  'Other',
  'Unsupported DNSKEY Algorithm',
  'Unsupported DS Digest Type',
  'Stale Answer',
  'Forged Answer',
  'DNSSEC Indeterminate',
  'DNSSEC Bogus',
  'Signature Expired',
  'Signature Not Yet Valid',
  'DNSKEY Missing',
  'RRSIGs Missing',
  'No Zone Key Bit Set',
  'NSEC Missing',
  'Cached Error',
  'Not Ready',
  'Blocked',
  'Censored',
  'Filtered',
  'Prohibited',
  'Stale NXDOMAIN Answer',
  'Not Authoritative',
  'Not Supported',
  'No Reachable Authority',
  'Network Error',
  'Invalid Data',
  'Signature Expired before Valid',
  'Too Early',
  'Unsupported NSEC3 Iterations Value',
  'Unable to conform to policy',
  'Synthesized',
  'Invalid Query Type',
]

/** An EDNS option. */
export type EdnsOption = { readonly code: number; readonly data: Uint8Array }

/**
 * Lists the options between `start` and `start + size`. Stops at one that exceeds the bytes, in
 * which case `parseQuery` has rejected the query.
 */
export function parseOptions(bytes: Uint8Array, start: number, size: number): EdnsOption[] {
  const options: EdnsOption[] = []
  let at = start
  const end = start + size
  while (at + 4 <= end) {
    const length = readUint16(bytes, at + 2)
    if (at + 4 + length > end) break
    options.push({ code: readUint16(bytes, at), data: bytes.slice(at + 4, at + 4 + length) })
    at += 4 + length
  }
  return options
}

/** Creates an extended error. `text` is short UTF-8 text without secrets. */
export function extendedError(code: number, text = ''): EdnsOption {
  const data = concatBytes(uint16Bytes(code), new TextEncoder().encode(text))
  return { code: OPTION.EXTENDED_ERROR, data }
}

/**
 * Parses the data of an extended error. Returns its code, the code's registered name or '', and its
 * text without control characters; `undefined` without a code.
 */
export function readExtendedError(
  data: Uint8Array,
): { readonly code: number; readonly name: string; readonly text: string } | undefined {
  if (data.length < 2) return undefined
  const code = readUint16(data, 0)
  // The text is untrusted, and a terminal would interpret its escape sequences.
  const text = new TextDecoder().decode(data.subarray(2)).replace(/\p{Cc}/gu, '\ufffd')
  return { code, name: EXTENDED_ERROR_NAMES[code] ?? '', text }
}
