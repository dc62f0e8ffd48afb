/**
 * The rows of the previous shard's address table whose units did not change: they are copied, and
 * their RRsets as bytes.
 * @module
 */
import { word } from '../../dns/bytes/bytes.ts'
import type { AddressTable } from '../format/address-table.ts'
import { NAMESPACES_MAX } from '../format/layout.ts'
import { addressUnitAt } from '../format/shard-key.ts'
import type { Shard } from '../read/shard.ts'
import type { AddressRows, PointerDraft, ShardWriter } from './shard-writer.ts'

/** An address table of a shard, and where its RRsets end. */
export type RowSection = {
  readonly shard: Shard
  readonly table: AddressTable
  readonly setsEnd: number
}

/** Rows that this writer wrote: their RRsets are in the order of the rows. */
export class KeptRows {
  /** Number of rows. */
  readonly count: number
  private readonly shard: Shard
  private readonly table: AddressTable
  /** Index of each kept row in the table, rising, and the end of its RRset. */
  private readonly rows: Int32Array
  private readonly ends: Int32Array

  /** @param units are not kept */
  constructor({ shard, table, setsEnd }: RowSection, units: ReadonlySet<number>) {
    this.shard = shard
    this.table = table
    this.rows = new Int32Array(table.count)
    this.ends = new Int32Array(table.count)
    let count = table.count
    let end = setsEnd
    // From the last to the first, as an RRset ends where the next one begins.
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

  /** Sets `used` at the number of each namespace that the rows have. */
  markNamespaces(used: Uint8Array): void {
    for (let i = 0; i < this.count; i++) used[this.table.namespaceId(word(this.rows, i))] = 1
  }

  /** Writes these rows merged with drafts, sorted by address. */
  writeWith(pointers: readonly PointerDraft[], writer: ShardWriter): void {
    let from = 0
    for (const pointer of pointers) {
      const to = this.firstFrom(pointer.address, from)
      this.copy(from, to, writer)
      writer.writePointer(pointer)
      from = to
    }
    this.copy(from, this.count, writer)
  }

  /** Returns the first row from `from` on that is not before an address. */
  private firstFrom(address: Uint8Array, from: number): number {
    let low = from
    let high = this.count
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.table.compare(word(this.rows, middle), address) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Copies the rows from one to before another, runs of adjacent RRsets at once. */
  private copy(from: number, to: number, writer: ShardWriter): void {
    const { out, rows4, rows6 } = writer
    const rows = this.table.wordsPerKey === 1 ? rows4 : rows6
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
      if (start !== 0) out.append(this.shard.bytes.subarray(start, end))
      for (let k = first; k < i; k++) {
        const row = word(this.rows, k)
        this.addTo(rows, row, shift)
        rows.infos.push(this.renumbered(this.table.info(row), writer))
      }
    }
  }

  private addTo(rows: AddressRows, row: number, shift: number): void {
    const { table } = this
    for (let i = 0; i < table.wordsPerKey; i++) rows.parts.push(table.part(row, i))
    const set = table.set(row)
    rows.sets.push(set === 0 ? 0 : set + shift)
  }

  /** Returns a row's number and marks of the namespace as the new shard numbers it. */
  private renumbered(info: number, writer: ShardWriter): number {
    const { namespaces } = this.shard
    if (writer.namespaces === namespaces) return info
    return (info & ~NAMESPACES_MAX) | writer.idOf(namespaces[info & NAMESPACES_MAX] ?? '')
  }
}
