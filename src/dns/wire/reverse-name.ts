/**
 * Parses names in the reverse trees (RFC 1035 §3.5, RFC 3596 §2.5).
 * @module
 */
import { asWordBytes } from '../bytes/bytes.ts'
import { IN_ADDR_ARPA, IP6_ARPA } from '../names/address.ts'
import { endsIn, type Query } from './query.ts'

const IPV4_TREE = asWordBytes(IN_ADDR_ARPA)
const IPV6_TREE = asWordBytes(IP6_ARPA)

/** An address prefix: the first `bitCount` bits are known, the others are zero. */
export class ReverseAddress {
  readonly bytes: Uint8Array = new Uint8Array(16)
  /** 4 or 16. */
  addressBytes = 4
  bitCount = 0
}

/**
 * Parses a lower-case reverse name into an address. A name with fewer labels gives the leading
 * bytes (IPv6: nibbles). False if the name is in neither tree, or a label is not valid there: a
 * number up to 255 without leading zeros, or one hexadecimal digit. Allocates nothing.
 * @param surplusMax maximum number of ignored labels before a complete IPv6 address
 */
export function readReverseName(query: Query, into: ReverseAddress, surplusMax: number): boolean {
  const { name, labels, labelCount } = query
  if (endsIn(query, IPV4_TREE)) {
    if (labelCount > 6) return false
    into.addressBytes = 4
    into.bitCount = 8 * (labelCount - 2)
    for (let i = labelCount - 2; i < 4; i++) into.bytes[i] = 0
    for (let i = labelCount - 3, at = 0; i >= 0; i--, at++) {
      const value = readDecimal(name, labels[i] ?? 0)
      if (value < 0) return false
      into.bytes[at] = value
    }
    return true
  }
  if (!endsIn(query, IPV6_TREE) || labelCount > 34 + surplusMax) return false
  const nibbles = Math.min(labelCount - 2, 32)
  into.addressBytes = 16
  into.bitCount = 4 * nibbles
  into.bytes.fill(0)
  for (let i = labelCount - 3, at = 0; at < nibbles; i--, at++) {
    const value = readNibble(name, labels[i] ?? 0)
    if (value < 0) return false
    into.bytes[at >>> 1] = (into.bytes[at >>> 1] ?? 0) | (at % 2 === 0 ? value << 4 : value)
  }
  return true
}

const readDecimal = (name: Uint8Array, at: number): number => {
  const length = name[at] ?? 0
  if (length > 3) return -1
  let value = 0
  for (let i = 1; i <= length; i++) {
    const digit = (name[at + i] ?? 0) - 0x30
    if (digit < 0 || digit > 9 || (i === 2 && value === 0)) return -1
    value = 10 * value + digit
  }
  return value <= 255 ? value : -1
}

const readNibble = (name: Uint8Array, at: number): number => {
  if (name[at] !== 1) return -1
  const char = name[at + 1] ?? 0
  if (char >= 0x30 && char <= 0x39) return char - 0x30
  return char >= 0x61 && char <= 0x66 ? char - 0x57 : -1
}
