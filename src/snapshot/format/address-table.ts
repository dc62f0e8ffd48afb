/**
 * The address tables of a shard: columns sorted by address, for binary search.
 * @module
 */
import { readInt32 } from '../../dns/bytes/bytes.ts'
import { NAMESPACES_MAX, POD_BIT, YIELDING_BIT } from './layout.ts'

/** XOR with this makes signed numbers compare as unsigned ones. */
const SIGN = 0x80000000

/** The addresses of one family in one shard, with a row for each address and namespace. */
export class AddressTable {
  readonly count: number
  private readonly words: Int32Array
  /** 32-bit words in an address: 1 or 4. */
  readonly wordsPerKey: number
  /** Index of the first word of each column. */
  private readonly keys: number
  private readonly sets: number
  private readonly infos: number

  /** @param offset of the first column, in bytes */
  constructor(words: Int32Array, addressBytes: 4 | 16, offset: number, count: number) {
    this.words = words
    this.wordsPerKey = addressBytes / 4
    this.count = count
    this.keys = offset >>> 2
    this.sets = this.keys + this.wordsPerKey * count
    this.infos = this.sets + count
  }

  /** Returns the index of the first entry that is not before `address`; `count` if all are. */
  firstFrom(address: Uint8Array): number {
    if (this.wordsPerKey === 1) return this.firstFromKey(readInt32(address, 0))
    let low = 0
    let high = this.count
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.compare(middle, address) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  private firstFromKey(key: number): number {
    const { words, keys } = this
    const wanted = key ^ SIGN
    let low = 0
    let high = this.count
    while (low < high) {
      const middle = (low + high) >>> 1
      if (((words[keys + middle] ?? 0) ^ SIGN) < wanted) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Compares the entry at `index` with an address: negative, zero or positive. */
  compare(index: number, address: Uint8Array): number {
    for (let i = 0; i < this.wordsPerKey; i++) {
      const key = this.part(index, i)
      const wanted = readInt32(address, 4 * i)
      if (key !== wanted) return (key ^ SIGN) < (wanted ^ SIGN) ? -1 : 1
    }
    return 0
  }

  /** Returns whether the entry at `index` has a lower address than the one before it. */
  isOutOfOrder(index: number): boolean {
    for (let i = 0; i < this.wordsPerKey; i++) {
      const key = this.part(index - 1, i)
      const next = this.part(index, i)
      if (key !== next) return (key ^ SIGN) > (next ^ SIGN)
    }
    return false
  }

  /** Returns whether the entry at `index` has the first `bitCount` bits of `address`. */
  hasPrefix(index: number, address: Uint8Array, bitCount: number): boolean {
    if (index >= this.count) return false
    for (let bits = bitCount, i = 0; bits > 0; bits -= 32, i++) {
      const mask = bits >= 32 ? 0xffffffff : ~(0xffffffff >>> bits)
      const key = this.part(index, i)
      if (((key ^ readInt32(address, 4 * i)) & mask) !== 0) return false
    }
    return true
  }

  /** Returns the offset of the entry's PTR RRset. */
  set(index: number): number {
    return this.words[this.sets + index] ?? 0
  }

  /**
   * Returns the entry's namespace and marks in the lower 16 bits, its number of names in the upper.
   */
  info(index: number): number {
    return this.words[this.infos + index] ?? 0
  }

  /** Returns the number of the entry's namespace. */
  namespaceId(index: number): number {
    return this.info(index) & NAMESPACES_MAX
  }

  /** Returns whether a Pod of the namespace has the entry's address. */
  isPod(index: number): boolean {
    return (this.info(index) & POD_BIT) !== 0
  }

  /** Returns whether the entry's names are ignored if the client sees others of its address. */
  isYielding(index: number): boolean {
    return (this.info(index) & YIELDING_BIT) !== 0
  }

  /** Returns the number of names; 0 for the address of a Pod without names. */
  targetCount(index: number): number {
    return this.info(index) >>> 16
  }

  /** Returns a 32-bit word of the entry's address, the highest first. */
  part(index: number, i: number): number {
    return this.words[this.keys + this.wordsPerKey * index + i] ?? 0
  }

  /** Returns the entry's address, 4 or 16 bytes. */
  address(index: number): Uint8Array {
    const address = new Uint8Array(4 * this.wordsPerKey)
    const view = new DataView(address.buffer)
    for (let i = 0; i < this.wordsPerKey; i++) view.setInt32(4 * i, this.part(index, i))
    return address
  }
}
