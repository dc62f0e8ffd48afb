/**
 * Rules out most names that are not in a set: one bit for each length of names, then one bit that
 * the hash of the name selects (a Bloom filter). A lookup allocates nothing.
 * @module
 */
import { byteAt } from '../../bytes/bytes.ts'
import type { Query } from '../../dns/query.ts'
import { hashName, hashView } from '../../snapshot/format/name-hash.ts'

const SEED = 0
/** Bits per name: one in sixteen names outside the set passes. */
const BITS_PER_NAME = 16
const BITS_MIN = 1024

/** A filter for absolute names in lower case and wildcards. */
export class NameFilter {
  private readonly exact: Bits
  private readonly wildcards: Bits

  /**
   * @param names all names
   * @param above the wildcards' parents, below which any first label matches
   */
  constructor(names: readonly Uint8Array[], above: readonly Uint8Array[] = []) {
    this.exact = new Bits(names)
    this.wildcards = new Bits(above)
  }

  /** Returns false only if the query name is not in the set. */
  mayHave(query: Query): boolean {
    return this.exact.mayHave(query, 0) || this.wildcards.mayHave(query, 1 + byteAt(query.name, 0))
  }
}

class Bits {
  /** One flag for each length of a name. */
  private readonly lengths = new Uint8Array(256)
  private readonly bits: Uint8Array
  private readonly mask: number
  private readonly isEmpty: boolean

  constructor(names: readonly Uint8Array[]) {
    let count = BITS_MIN
    while (count < BITS_PER_NAME * names.length) count *= 2
    this.bits = new Uint8Array(count / 8)
    this.mask = count - 1
    this.isEmpty = names.length === 0
    for (const name of names) {
      const bit = hashName(name, name.length, SEED) & this.mask
      this.bits[bit >>> 3] = byteAt(this.bits, bit >>> 3) | (1 << (bit & 7))
      this.lengths[name.length] = 1
    }
  }

  mayHave({ nameView, nameBytes }: Query, start: number): boolean {
    if (this.isEmpty || start >= nameBytes || byteAt(this.lengths, nameBytes - start) === 0) {
      return false
    }
    const bit = hashView(nameView, start, nameBytes, SEED) & this.mask
    return (byteAt(this.bits, bit >>> 3) & (1 << (bit & 7))) !== 0
  }
}
