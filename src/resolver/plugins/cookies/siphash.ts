/**
 * SipHash-2-4 (Aumasson and Bernstein, 2012): a fast keyed hash of short messages.
 *
 * Each 64-bit word is two 32-bit halves, the lower one first, because BigInt allocates.
 * @module
 */
import { byteAt } from '../../../dns/bytes/bytes.ts'

/** Bytes of a key. */
export const SIPHASH_KEY_BYTES = 16
/** "somepseudorandomlygeneratedbytes" in words of machine order, as the reference code has it. */
const INITIAL: readonly number[] = [
  0x70736575, 0x736f6d65, 0x6e646f6d, 0x646f7261, 0x6e657261, 0x6c796765, 0x79746573, 0x74656462,
]

/** Shared: with arrays of its own, a hash took 3.5 µs instead of 0.9. */
const STATE = new Uint32Array(8)

/**
 * Hashes a message under a key of 16 bytes. Returns the hash as 8 bytes, in the order of the
 * reference code, which RFC 9018 uses too.
 */
export function sipHash(key: Uint8Array, message: Uint8Array): Uint8Array {
  const state = STATE
  const size = message.length
  for (let i = 0; i < 8; i++) state[i] = (INITIAL[i] ?? 0) ^ littleEndian(key, 4 * (i & 3))
  for (let at = 0; at <= size; at += 8) {
    const low = littleEndian(message, at)
    // The last byte of the last block is the size.
    const high = littleEndian(message, at + 4) | (at + 8 > size ? size << 24 : 0)
    mix(state, 6, low, high)
    for (let round = 0; round < 2; round++) sipRound(state)
    mix(state, 0, low, high)
  }
  mix(state, 4, 0xff, 0)
  for (let round = 0; round < 4; round++) sipRound(state)
  const hash = new Uint8Array(8)
  for (let i = 0; i < 8; i++) {
    const half = i >>> 2
    const word = wordAt(state, half) ^ wordAt(state, half + 2)
    hash[i] = (word ^ wordAt(state, half + 4) ^ wordAt(state, half + 6)) >>> (8 * (i & 3))
  }
  return hash
}

/** Reads 32 bits; bytes after the end are 0. */
function littleEndian(bytes: Uint8Array, at: number): number {
  let word = 0
  for (let i = 0; i < 4 && at + i < bytes.length; i++) word |= byteAt(bytes, at + i) << (8 * i)
  return word
}

function sipRound(state: Uint32Array): void {
  addRotated(state, 0, 2, 13)
  rotate(state, 0, 32)
  addRotated(state, 4, 6, 16)
  addRotated(state, 0, 6, 21)
  addRotated(state, 4, 2, 17)
  rotate(state, 4, 32)
}

/** Adds the word at `b` to the one at `a`; rotates the former and combines it with the sum. */
function addRotated(state: Uint32Array, a: number, b: number, bits: number): void {
  const low = wordAt(state, a) + wordAt(state, b)
  const carry = low > 0xffffffff ? 1 : 0
  state[a] = low
  state[a + 1] = wordAt(state, a + 1) + wordAt(state, b + 1) + carry
  rotate(state, b, bits)
  mix(state, b, wordAt(state, a), wordAt(state, a + 1))
}

/** Rotates a word to the left by 1 to 31 bits, or by 32. */
function rotate(state: Uint32Array, at: number, bits: number): void {
  const low = wordAt(state, at)
  const high = wordAt(state, at + 1)
  state[at] = bits === 32 ? high : (low << bits) | (high >>> (32 - bits))
  state[at + 1] = bits === 32 ? low : (high << bits) | (low >>> (32 - bits))
}

function mix(state: Uint32Array, at: number, low: number, high: number): void {
  state[at] = wordAt(state, at) ^ low
  state[at + 1] = wordAt(state, at + 1) ^ high
}

function wordAt(state: Uint32Array, at: number): number {
  return state[at] ?? 0
}
