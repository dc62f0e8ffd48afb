/**
 * Blocks of addresses in CIDR form (RFC 4632 §3.1, RFC 4291 §2.3), and which addresses are in them.
 * @module
 */

import { byteAt, equalBytes, formatHex } from '../bytes/bytes.ts'
import { formatAddress, parseAddress } from './address.ts'

/** A block of addresses. */
export type Network = {
  /** 4 or 16 bytes. */
  readonly address: Uint8Array
  /** How many bits of it the addresses of the block begin with. */
  readonly prefixBits: number
}

/** Bytes that stand before an IPv4 address written as IPv6 (RFC 4291 §2.5.5.2). */
const MAPPED_BYTES = 12

/** Parses `192.0.2.0/24` or `2001:db8::/32`; `undefined` when `text` is neither. */
export function parseNetwork(text: string): Network | undefined {
  const [, addressText = '', bitsText = ''] = /^([^/]*)\/(\d{1,3})$/.exec(text) ?? []
  const address = parseAddress(addressText)
  const prefixBits = Number(bitsText)
  if (address === undefined || prefixBits > 8 * address.length) return undefined
  const isMapped = prefixBits >= 8 * MAPPED_BYTES && unmapped(address) !== address
  return isMapped
    ? { address: unmapped(address), prefixBits: prefixBits - 8 * MAPPED_BYTES }
    : { address, prefixBits }
}

/**
 * Parses the address of a client as sockets tell it: without the zone that it may have (RFC 4007
 * §11), and in IPv4's form when it is an IPv4 address written as IPv6. `undefined` when it is none.
 */
export function parseClientAddress(text: string): Uint8Array | undefined {
  const end = text.indexOf('%')
  const address = parseAddress(end < 0 ? text : text.slice(0, end))
  return address && unmapped(address)
}

/**
 * Returns the name of the network that one client may have all of, which limits count by: an IPv4
 * address itself, an IPv6 address's first 64 bits (RFC 6177 §2) in whichever form it is written.
 * Text that is no address is returned as it is.
 */
export function clientNetwork(address: string): string {
  if (!address.includes(':')) return address
  const bytes = parseClientAddress(address)
  if (bytes === undefined) return address
  return bytes.length === 4 ? formatAddress(bytes) : `${formatHex(bytes.subarray(0, 8))}/64`
}

/** Tells whether an address is in a block; one of the other family is not. */
export function isInNetwork(address: Uint8Array, { address: own, prefixBits }: Network): boolean {
  if (address.length !== own.length) return false
  const whole = prefixBits >>> 3
  for (let i = 0; i < whole; i++) if (byteAt(address, i) !== byteAt(own, i)) return false
  const mask = 0xff & ~(0xff >>> (prefixBits & 7))
  return mask === 0 || ((byteAt(address, whole) ^ byteAt(own, whole)) & mask) === 0
}

function unmapped(address: Uint8Array): Uint8Array {
  if (address.length !== 16) return address
  for (let i = 0; i < MAPPED_BYTES; i++) {
    if (byteAt(address, i) !== (i < MAPPED_BYTES - 2 ? 0 : 0xff)) return address
  }
  return address.subarray(MAPPED_BYTES)
}

/** Whether two texts say the same address, however they write it and by whatever interface. */
export function isSameAddress(a: string, b: string): boolean {
  const first = parseClientAddress(a)
  const second = parseClientAddress(b)
  return first !== undefined && second !== undefined && equalBytes(first, second)
}
