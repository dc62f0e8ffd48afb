/**
 * The rows of an address table that stay when some units of its shard are replaced.
 * @module
 */
import { word } from '../../bytes/bytes.ts'
import type { AddressTable } from '../format/address-table.ts'
import { NAMESPACES_MAX } from '../format/layout.ts'
import { addressUnitAt } from '../format/shard-key.ts'
import type { AddressRows } from './address-rows.ts'
import type { ByteBuffer } from './byte-buffer.ts'

/** Rows of a shard that this build wrote: their sets follow each other as they do. */
export class KeptRows {
  /** Number of rows. */
  readonly count: number
  private readonly bytes: Uint8Array
  private readonly table: AddressTable
  /** The rows by their place in the table, rising, and where the set of each ends. */
  private readonly rows: Int32Array
  private readonly ends: Int32Array

  /**
   * @param setsEnd where the sets of this table end
   * @param units what is replaced
   */
  constructor(
    bytes: Uint8Array,
    { table, setsEnd }: { readonly table: AddressTable; readonly setsEnd: number },
    units: ReadonlySet<number>,
  ) {
    this.bytes = bytes
    this.table = table
    this.rows = new Int32Array(table.count)
    this.ends = new Int32Array(table.count)
    let count = table.count
    let end = setsEnd
    // From the last to the first, as a set ends where the next one begins.
    for (let row = table.count - 1; row >= 0; row--) {
      if (!units.has(addressUnitAt(table, row))) {
        this.rows[--count] = row
        this.ends[count] = end
      }
      if (table.set(row) !== 0) end = table.set(row)
    }
    this.rows = this.rows.subarray(count)
    this.ends = this.ends.subarray(count)
    this.count = this.rows.length
  }

  /** Marks the numbers of the namespaces that these rows are of. */
  markNamespaces(used: Uint8Array): void {
    for (let i = 0; i < this.count; i++) used[this.table.namespaceId(word(this.rows, i))] = 1
  }

  /** The first row from `from` on that is behind an address. */
  firstBehind(address: Uint8Array, from: number): number {
    let low = from
    let high = this.count
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.table.compare(word(this.rows, middle), address) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  /**
   * Copies the rows from one to before another, with their sets.
   * @param namespaceIds new numbers of the namespaces; `undefined` when they stay
   */
  copy(
    { from, to }: { readonly from: number; readonly to: number },
    { out, rows }: { readonly out: ByteBuffer; readonly rows: AddressRows },
    namespaceIds: Int32Array | undefined,
  ): void {
    for (let i = from; i < to; ) {
      const first = i
      let start = 0
      let end = 0
      for (; i < to; i++) {
        const set = this.table.set(word(this.rows, i))
        if (set === 0) continue
        if (start === 0) start = set
        else if (set !== end) break
        end = word(this.ends, i)
      }
      const shift = out.size - start
      if (start !== 0) out.append(this.bytes.subarray(start, end))
      for (let k = first; k < i; k++) this.addTo(rows, word(this.rows, k), { shift, namespaceIds })
    }
  }

  private addTo(
    rows: AddressRows,
    row: number,
    {
      shift,
      namespaceIds,
    }: { readonly shift: number; readonly namespaceIds: Int32Array | undefined },
  ): void {
    const { table } = this
    const set = table.set(row)
    const info = table.info(row)
    const renumbered =
      namespaceIds === undefined
        ? info
        : (info & ~NAMESPACES_MAX) | word(namespaceIds, info & NAMESPACES_MAX)
    rows.addFrom(table, row, { set: set === 0 ? 0 : set + shift, info: renumbered })
  }
}
