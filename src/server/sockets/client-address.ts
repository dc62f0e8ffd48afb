/**
 * Formats client addresses from the system's `struct sockaddr` (ip(7), ipv6(7)).
 * @module
 */
import { formatAddress } from '../../dns/names/address.ts'

const SLOTS = 1024
/** 4-byte words of a `struct sockaddr`: family and port, IPv4 address or flow label, IPv6, zone. */
const FAMILY = 0
const IPV4 = 1
const IPV6 = 2
const ZONE = 6
const AF_INET = 2
const AF_MASK = 0xffff
const KEY_WORDS = 5

/** Formats addresses and caches the last 1,024: most queries come from few clients. */
export class ClientAddresses {
  private readonly keys = new Int32Array(SLOTS * KEY_WORDS)
  private readonly texts: string[] = Array.from({ length: SLOTS }, () => '')

  /** Returns the address of the `sockaddr_in` or `sockaddr_in6` at an index of 4-byte words. */
  format(words: Int32Array, at: number): string {
    const isIPv4 = ((words[at + FAMILY] ?? 0) & AF_MASK) === AF_INET
    const a = words[at + (isIPv4 ? IPV4 : IPV6)] ?? 0
    const b = isIPv4 ? 0 : (words[at + IPV6 + 1] ?? 0)
    const c = isIPv4 ? 0 : (words[at + IPV6 + 2] ?? 0)
    const d = isIPv4 ? 0 : (words[at + IPV6 + 3] ?? 0)
    const zone = isIPv4 ? 0 : (words[at + ZONE] ?? 0)
    const slot = (Math.imul(a ^ c, 0x9e3779b1) ^ Math.imul(b ^ d, 0x85ebca6b)) >>> 22
    const { keys, texts } = this
    const key = slot * KEY_WORDS
    const known = texts[slot] ?? ''
    const isKnown =
      known !== '' &&
      keys[key] === a &&
      keys[key + 1] === b &&
      keys[key + 2] === c &&
      keys[key + 3] === d &&
      keys[key + 4] === zone
    if (isKnown) return known
    keys.set([a, b, c, d, zone], key)
    const bytes = new Uint8Array(Int32Array.of(a, b, c, d).buffer, 0, isIPv4 ? 4 : 16)
    const text = `${formatAddress(bytes)}${zone === 0 ? '' : `%${zone}`}`
    texts[slot] = text
    return text
  }
}
