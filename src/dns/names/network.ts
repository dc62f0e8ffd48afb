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

/** Numbers by network. A search takes as long for a million networks as for a few. */
export class NetworkIndex {
  /** By size of the address and bits of the prefix, then by the prefix as hexadecimal text. */
  private readonly tables = new Map<string, { network: Network; numbers: Map<string, number[]> }>()

  /** Adds a number under a network. */
  add(network: Network, number: number): void {
    const { address, prefixBits } = network
    const size = `${address.length}/${prefixBits}`
    const table = this.tables.get(size) ?? { network, numbers: new Map() }
    this.tables.set(size, table)
    const key = prefixOf(address, prefixBits)
    const numbers = table.numbers.get(key)
    if (numbers === undefined) table.numbers.set(key, [number])
    else numbers.push(number)
  }

  /** Lists the numbers of all networks that contain an address, in no order. */
  find(address: Uint8Array): number[] {
    const found: number[] = []
    for (const { network, numbers } of this.tables.values()) {
      if (network.address.length !== address.length) continue
      for (const one of numbers.get(prefixOf(address, network.prefixBits)) ?? []) found.push(one)
    }
    return found
  }
}

/** Returns the first bits of an address, the others being 0, as hexadecimal text. */
function prefixOf(address: Uint8Array, prefixBits: number): string {
  const bytes = address.slice(0, (prefixBits + 7) >>> 3)
  const rest = prefixBits & 7
  if (rest > 0) bytes[bytes.length - 1] = byteAt(bytes, bytes.length - 1) & ~(0xff >>> rest)
  return formatHex(bytes)
}

/** Returns whether two texts are the same address, in any spelling and with any zone identifier. */
export function isSameAddress(a: string, b: string): boolean {
  const first = parseClientAddress(a)
  const second = parseClientAddress(b)
  return first !== undefined && second !== undefined && equalBytes(first, second)
}
