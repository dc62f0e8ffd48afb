/**
 * An encoder of header blocks that does all that HPACK lets a client do (RFC 7541), for tests: every
 * representation, Huffman codes or none, a dynamic table of its own.
 * @module
 */

/** A field as a test states it. */
export type Field = readonly [name: string, value: string]

/** How a field is to be encoded. */
export type Representation = {
  /** Whether the field is kept in the dynamic table, must never be, or neither. */
  readonly indexing: 'incremental' | 'none' | 'never'
  readonly isHuffman: boolean
}

const PLAIN: Representation = { indexing: 'none', isHuffman: false }
const FLAGS = { incremental: [0x40, 0x3f], none: [0, 0x0f], never: [0x10, 0x0f] } as const
const STATIC_SIZE = 61

/** Code lengths of RFC 7541 appendix B, in base 36: of NUL, and ASCII from the blank on. */
const LENGTHS = `d6aacd68baa8b8666555666666678f6cad6${'7'.repeat(22)}878djde6f5656566657766656765567${'7'.repeat(4)}fbed`

/** Their codes: those of one length follow each other, and the shorter ones (RFC 7541 §5.2). */
const CODES = new Map<number, string>()
let code = 0
let before = 0
for (let bits = 5; bits <= 19; bits++) {
  for (let i = 0; i < LENGTHS.length; i++) {
    if (Number.parseInt(LENGTHS[i] ?? '', 36) !== bits) continue
    code = before === 0 ? 0 : (code + 1) << (bits - before)
    before = bits
    CODES.set(i === 0 ? 0 : 0x1f + i, code.toString(2).padStart(bits, '0'))
  }
}

/** Encodes text in ASCII without control characters; `undefined` for what has others. */
export function huffman(text: string): Uint8Array | undefined {
  let bits = ''
  for (const character of text) {
    const one = CODES.get(character.charCodeAt(0))
    if (one === undefined) return undefined
    bits += one
  }
  bits += '1'.repeat((8 - (bits.length % 8)) % 8)
  return Uint8Array.from(bits.match(/.{8}/g) ?? [], (octet) => Number.parseInt(octet, 2))
}

/** Writes an integer after a prefix (RFC 7541 §5.1). */
export function integer(value: number, flag: number, mask: number): number[] {
  if (value < mask) return [flag | value]
  const octets = [flag | mask]
  let rest = value - mask
  for (; rest >= 128; rest = Math.floor(rest / 128)) octets.push((rest % 128) | 128)
  return [...octets, rest]
}

/** Writes a string literal (RFC 7541 §5.2). */
export function string(text: string, isHuffman = false): number[] {
  const coded = isHuffman ? huffman(text) : undefined
  if (coded !== undefined) return [...integer(coded.length, 0x80, 0x7f), ...coded]
  return [...integer(text.length, 0, 0x7f), ...Buffer.from(text, 'latin1')]
}

/** Writes fields as literals, with names and values as they are: for requests in tests. */
export function literals(fields: readonly Field[]): Uint8Array {
  return Uint8Array.from(fields.flatMap(([name, value]) => [0, ...string(name), ...string(value)]))
}

/** Encodes the blocks of one connection. */
export class HpackEncoder {
  private readonly table: Field[] = []
  private sizeMax = 4096

  /** Encodes fields, the nth in the nth way. */
  encode(fields: readonly Field[], ways: readonly Representation[] = []): Uint8Array {
    return Uint8Array.from(fields.flatMap((field, i) => this.one(field, ways[i] ?? PLAIN)))
  }

  /** Makes the table smaller, or larger again. */
  resize(size: number): Uint8Array {
    this.sizeMax = size
    this.evict()
    return Uint8Array.from(integer(size, 0x20, 0x1f))
  }

  private one([name, value]: Field, { indexing, isHuffman }: Representation): number[] {
    const known = this.table.findIndex((one) => one[0] === name && one[1] === value)
    if (known >= 0) return integer(STATIC_SIZE + 1 + known, 0x80, 0x7f)
    const index = this.table.findIndex((one) => one[0] === name)
    const [flag, mask] = FLAGS[indexing]
    const octets = integer(index < 0 ? 0 : STATIC_SIZE + 1 + index, flag, mask)
    if (index < 0) octets.push(...string(name, isHuffman))
    octets.push(...string(value, isHuffman))
    if (indexing === 'incremental') {
      this.table.unshift([name, value])
      this.evict()
    }
    return octets
  }

  private evict(): void {
    const size = (): number =>
      this.table.reduce((sum, [name, value]) => sum + name.length + value.length + 32, 0)
    while (size() > this.sizeMax) this.table.pop()
  }
}
