/**
 * The Huffman code of header strings (RFC 7541 §5.2, appendix B).
 *
 * The code is canonical: symbols of one length have codes that follow each other, and each length
 * goes on where the one before ended. So the lengths of all symbols say everything.
 * @module
 */
import { octet, word } from '../dns/bytes.ts'

/** Bits of the codes of symbols 0 to 255 and of EOS, a run of equal ones as `bits*count`. */
const LENGTHS: readonly number[] = `
  13 23 28*7 24 30 28*2 30 28*8 30 28*9 6 10*2 12 13 6 8 11 10*2 8 11 8 6*3 5*3 6*7 7 8 15 6 12 10
  13 6 7*22 8 7 8 13 19 13 14 6 15 5 6 5 6 5 6*3 5 7*2 6*3 5 6 7 6 5*2 6 7*5 15 11 14 13 28 20 22
  20*2 22*3 23 22 23*5 24 23 24*2 22 23 24 23*4 21 22 23 22 23*2 24 22 21 20 22*2 23*2 21 23 22*2
  24 21 22 23*2 21*2 22 21 23 22 23*2 20 22*3 23 22*2 23 26*2 20 19 22 23 22 25 26*3 27*2 26 24 25
  19 21 26 27*2 26 27 24 21*2 26*2 28 27*3 20 24 20 21 22 21*2 23 22*2 25*2 24*2 26 23 26 27 26*2
  27*5 28 27*5 26 30`
  .trim()
  .split(/\s+/)
  .flatMap((run) => {
    const [bits = '', count = '1'] = run.split('*')
    return new Array<number>(Number(count)).fill(Number(bits))
  })

const BITS_MAX = 30
const EOS = 256

/** Symbols in the order of their codes; by length, where its symbols begin, and its first code. */
const SYMBOLS: readonly number[] = LENGTHS.map((_, symbol) => symbol).sort(
  (a, b) => (LENGTHS[a] ?? 0) - (LENGTHS[b] ?? 0) || a - b,
)
const FIRST_INDEX: Int32Array = new Int32Array(BITS_MAX + 2)
const FIRST_CODE: Int32Array = new Int32Array(BITS_MAX + 2)

/** By the next eight bits, the code that begins them, `bits << 8 | symbol`; 0 when it is longer. */
const SHORT: Int32Array = new Int32Array(256)

for (let bits = 1, code = 0, index = 0; bits <= BITS_MAX; bits++) {
  FIRST_INDEX[bits] = index
  FIRST_CODE[bits] = code
  for (; LENGTHS[SYMBOLS[index] ?? EOS] === bits && index <= EOS; index++, code++) {
    if (bits > 8) continue
    const entry = (bits << 8) | (SYMBOLS[index] ?? 0)
    SHORT.fill(entry, code << (8 - bits), (code + 1) << (8 - bits))
  }
  FIRST_INDEX[bits + 1] = index
  code <<= 1
}

/** Octets that a string of `size` octets can at most stand for: no code has less than five bits. */
export function huffmanBytesMax(size: number): number {
  return Math.floor((size * 8) / 5)
}

/**
 * Decodes the octets from `start` to `end` into `out`, which has room for `huffmanBytesMax`.
 * @returns how many octets it made; -1 when the code is broken: EOS inside, padding of more than
 * seven bits or of other bits than ones
 */
export function decodeHuffman(
  bytes: Uint8Array,
  start: number,
  end: number,
  out: Uint8Array,
): number {
  // Reads at the place itself: those of `octet` learn from all who call it, and are slower.
  const endBit = 8 * end
  let bit = 8 * start
  let size = 0
  while (bit + 8 <= endBit) {
    const at = bit >>> 3
    const two = ((bytes[at] ?? 0) << 8) | (at + 1 < end ? (bytes[at + 1] ?? 0) : 0)
    let entry = SHORT[(two >>> (8 - (bit & 7))) & 0xff] ?? 0
    if (entry === 0) entry = findLong(bytes, bit, endBit)
    if (entry === 0) return -1
    out[size++] = entry
    bit += entry >>> 8
  }
  return bit < endBit ? endHuffman(octet(bytes, end - 1), endBit - bit, size, out) : size
}

/** Reads what the last bits, fewer than eight, still hold; then they must be a beginning of EOS. */
function endHuffman(last: number, count: number, size: number, out: Uint8Array): number {
  let left = last & ((1 << count) - 1)
  for (;;) {
    const ones = (1 << (8 - count)) - 1
    const entry = word(SHORT, (left << (8 - count)) | ones)
    const bits = entry >>> 8
    if (entry === 0 || bits > count) return left === (1 << count) - 1 ? size : -1
    out[size++] = entry
    count -= bits
    left &= (1 << count) - 1
  }
}

/** Finds a code of ten bits and more, which headers seldom have; 0 when there is none, or EOS. */
function findLong(bytes: Uint8Array, start: number, endBit: number): number {
  let code = 0
  const bitsMax = Math.min(BITS_MAX, endBit - start)
  for (let bits = 1; bits <= bitsMax; bits++) {
    const bit = start + bits - 1
    code = (code << 1) | ((octet(bytes, bit >>> 3) >>> (7 - (bit & 7))) & 1)
    const symbol = symbolOf(code, bits)
    if (symbol >= 0) return symbol === EOS ? 0 : (bits << 8) | symbol
  }
  return 0
}

function symbolOf(code: number, bits: number): number {
  const index = code - (FIRST_CODE[bits] ?? 0) + (FIRST_INDEX[bits] ?? 0)
  return index < (FIRST_INDEX[bits + 1] ?? 0) ? (SYMBOLS[index] ?? -1) : -1
}
