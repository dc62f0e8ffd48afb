/**
 * CIDR blocks (RFC 4632 §3.1, RFC 4291 §2.3), and whether they contain an address.
 * @module
 */
import { byteAt, equalBytes, formatHex } from '../bytes/bytes.ts'
import { formatAddress, isMapped, parseAddress, unmapped } from './address.ts'

/** A CIDR block. */
export type Network = {
  /** 4 or 16 bytes. */
  readonly address: Uint8Array
  /** Length of the prefix in bits. */
  readonly prefixBits: number
}

/** Bits of an IPv4-mapped address before the IPv4 address. */
const MAPPED_BITS = 96

/** Parses `192.0.2.0/24` or `2001:db8::/32`; `undefined` for other text. */
export function parseNetwork(text: string): Network | undefined {
  const [, addressText = '', bitsText = ''] = /^([^/]*)\/(\d{1,3})$/.exec(text) ?? []
  const address = parseAddress(addressText)
  const prefixBits = Number(bitsText)
  if (address === undefined || prefixBits > 8 * address.length) return undefined
  return isMapped(address) && prefixBits >= MAPPED_BITS
    ? { address: unmapped(address), prefixBits: prefixBits - MAPPED_BITS }
    : { address, prefixBits }
}

/**
 * Parses the address of a socket's peer. Removes a zone identifier (RFC 4007 §11) and converts an
 * IPv4-mapped address to IPv4. `undefined` for other text.
 */
export function parseClientAddress(text: string): Uint8Array | undefined {
  const end = text.indexOf('%')
  const address = parseAddress(end < 0 ? text : text.slice(0, end))
  return address && unmapped(address)
}

/**
 * Returns the key by which limits count clients: an IPv4 address, or the first 64 bits of an IPv6
 * address, as one client can use that whole network (RFC 6177 §2). Returns other text unchanged.
 */
export function clientNetwork(address: string): string {
  if (!address.includes(':')) return address
  const bytes = parseClientAddress(address)
  if (bytes === undefined) return address
  return bytes.length === 4 ? formatAddress(bytes) : `${formatHex(bytes.subarray(0, 8))}/64`
}

/** Returns whether a block contains an address; false for another address family. */
export function isInNetwork(address: Uint8Array, { address: own, prefixBits }: Network): boolean {
  if (address.length !== own.length) return false
  const whole = prefixBits >>> 3
  for (let i = 0; i < whole; i++) if (byteAt(address, i) !== byteAt(own, i)) return false
  const mask = 0xff & ~(0xff >>> (prefixBits & 7))
  return mask === 0 || ((byteAt(address, whole) ^ byteAt(own, whole)) & mask) === 0
}

/** Returns whether two texts are the same address, in any spelling and with any zone identifier. */
export function isSameAddress(a: string, b: string): boolean {
  const first = parseClientAddress(a)
  const second = parseClientAddress(b)
  return first !== undefined && second !== undefined && equalBytes(first, second)
}
