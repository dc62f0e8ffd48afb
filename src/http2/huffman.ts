/**
 * The Huffman code of header strings (RFC 7541 §5.2, appendix B).
 *
 * The code is canonical: symbols of one length have codes that follow each other, and each length
 * goes on where the one before ended. So the lengths of all symbols say everything.
 * @module
 */
import { byteAt, word } from '../bytes/bytes.ts'

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
/** Bits that are looked at in one step: two codes of what headers are mostly made of. */
const STEP_BITS = 14
const STEP_MASK = (1 << STEP_BITS) - 1
const IS_PAIR = 1 << 16
/** By so many bits, the code that begins them, as in `SHORT`. */
const SINGLES: Int32Array = new Int32Array(1 << STEP_BITS)

for (let bits = 1, code = 0, index = 0; bits <= BITS_MAX; bits++) {
  FIRST_INDEX[bits] = index
  FIRST_CODE[bits] = code
  for (; LENGTHS[SYMBOLS[index] ?? EOS] === bits && index <= EOS; index++, code++) {
    const entry = (bits << 8) | (SYMBOLS[index] ?? 0)
    if (bits <= 8) SHORT.fill(entry, code << (8 - bits), (code + 1) << (8 - bits))
    if (bits > STEP_BITS) continue
    SINGLES.fill(entry, code << (STEP_BITS - bits), (code + 1) << (STEP_BITS - bits))
  }
  FIRST_INDEX[bits + 1] = index
  code <<= 1
}

/**
 * By so many bits, the one or two codes that are whole in them; 0 when the first is not.
 *
 * ```
 *  bits of both … | whether there are two (1) | second symbol (8) | first symbol (8)
 * ```
 */
const STEPS: Int32Array = SINGLES.map((first, step) => {
  const bits = first >>> 8
  const second = word(SINGLES, (step << bits) & STEP_MASK)
  const both = bits + (second >>> 8)
  if (second === 0 || both > STEP_BITS) return (bits << 17) | (first & 0xff)
  return (both << 17) | IS_PAIR | ((second & 0xff) << 8) | (first & 0xff)
})

/** Bytes that a string of `size` bytes can at most stand for: no code has less than five bits. */
export function huffmanBytesMax(size: number): number {
  return Math.floor((size * 8) / 5)
}

/**
 * Decodes the bytes from `start` to `end` into `out`, which has room for `huffmanBytesMax`.
 * @returns how many bytes it made; -1 when the code is broken: EOS inside, padding of more than
 * seven bits or of other bits than ones
 */
export function decodeHuffman(
  bytes: Uint8Array,
  start: number,
  end: number,
  out: Uint8Array,
): number {
  // Reads at the place itself: those of `byte` learn from all who call it, and are slower. By two
  // codes a step it takes less than half of what it takes by one (measured).
  let at = start
  let held = 0
  let count = 0
  let size = 0
  for (;;) {
    while (count < STEP_BITS && at < end) {
      held = (held << 8) | (bytes[at++] ?? 0)
      count += 8
    }
    if (count < STEP_BITS) break
    const step = STEPS[(held >>> (count - STEP_BITS)) & STEP_MASK] ?? 0
    if (step !== 0) {
      out[size++] = step
      if ((step & IS_PAIR) !== 0) out[size++] = step >>> 8
      count -= step >>> 17
      continue
    }
    const long = findLong(bytes, 8 * at - count, 8 * end)
    if (long === 0) return -1
    out[size++] = long
    const bit = 8 * at - count + (long >>> 8)
    at = (bit + 7) >>> 3
    count = 8 * at - bit
    held = bytes[at - 1] ?? 0
  }
  return decodeRest(bytes, { bit: 8 * at - count, endBit: 8 * end, size }, out)
}

/** Decodes what is left when it is no whole step any more, behind `size` bytes. */
function decodeRest(
  bytes: Uint8Array,
  { bit: startBit, endBit, size: before }: { bit: number; endBit: number; size: number },
  out: Uint8Array,
): number {
  let bit = startBit
  let size = before
  while (bit + 8 <= endBit) {
    const at = bit >>> 3
    const two = (byteAt(bytes, at) << 8) | (8 * at + 8 < endBit ? byteAt(bytes, at + 1) : 0)
    let entry = word(SHORT, (two >>> (8 - (bit & 7))) & 0xff)
    if (entry === 0) entry = findLong(bytes, bit, endBit)
    if (entry === 0) return -1
    out[size++] = entry
    bit += entry >>> 8
  }
  return bit < endBit
    ? endHuffman(byteAt(bytes, (endBit >>> 3) - 1), endBit - bit, size, out)
    : size
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
    code = (code << 1) | ((byteAt(bytes, bit >>> 3) >>> (7 - (bit & 7))) & 1)
    const symbol = symbolOf(code, bits)
    if (symbol >= 0) return symbol === EOS ? 0 : (bits << 8) | symbol
  }
  return 0
}

function symbolOf(code: number, bits: number): number {
  const index = code - (FIRST_CODE[bits] ?? 0) + (FIRST_INDEX[bits] ?? 0)
  return index < (FIRST_INDEX[bits + 1] ?? 0) ? (SYMBOLS[index] ?? -1) : -1
}
