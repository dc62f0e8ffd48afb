/**
 * Random letter case in query names (draft-vixie-dnsext-dns0x20-00): a forged response must repeat
 * it, besides the ID and the port.
 * @module
 */
import { byteAt } from '../../../dns/bytes/bytes.ts'
import { HEADER_BYTES } from '../../../dns/names/limits.ts'

const CASE_BIT = 0x20

/** Returns a copy of a query with random letter case in its name. */
export function withRandomCase(query: Uint8Array, random16: () => number): Uint8Array {
  const mixed = query.slice()
  let bits = 0
  let bitCount = 0
  // Lengths of labels are below the letters.
  for (let at = HEADER_BYTES; byteAt(mixed, at) !== 0; at++) {
    const lower = byteAt(mixed, at) | CASE_BIT
    if (lower < 0x61 || lower > 0x7a) continue
    if (bitCount === 0) {
      bits = random16()
      bitCount = 16
    }
    mixed[at] = (bits & 1) === 0 ? lower : lower ^ CASE_BIT
    bits >>>= 1
    bitCount--
  }
  return mixed
}

/**
 * Returns a copy of a response with the letter case of the plain query in its question, and so in
 * all names that point there. Returns `undefined` if the question has not the case of the query
 * that was sent.
 */
export function restoreCase(
  reply: Uint8Array,
  sent: Uint8Array,
  plain: Uint8Array,
): Uint8Array | undefined {
  const restored = reply.slice()
  for (let at = HEADER_BYTES; byteAt(sent, at) !== 0; at++) {
    if (reply[at] !== sent[at]) return undefined
    restored[at] = byteAt(plain, at)
  }
  return restored
}
