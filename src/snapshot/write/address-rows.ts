/**
 * Rows of an address table in the making, of one family.
 * @module
 */
import { readInt32 } from '../../bytes/bytes.ts'
import type { AddressTable } from '../format/address-table.ts'

/** Rows, sorted by address as they are added. */
export class AddressRows {
  /** Addresses as numbers of 32 bits, one or four a row, the highest first. */
  readonly parts: number[] = []
  /** Offsets of sets, 0 for none. */
  readonly sets: number[] = []
  /** Namespaces with their marks, in the lower 16 bits; numbers of targets in the upper ones. */
  readonly infos: number[] = []

  /** Number of rows. */
  get count(): number {
    return this.sets.length
  }

  /** Adds a row. */
  add(address: Uint8Array, set: number, info: number): void {
    for (let at = 0; at < address.length; at += 4) this.parts.push(readInt32(address, at))
    this.sets.push(set)
    this.infos.push(info)
  }

  /** Adds a row with the address of one of a table. */
  addFrom(
    table: AddressTable,
    row: number,
    { set, info }: { readonly set: number; readonly info: number },
  ): void {
    for (let i = 0; i < table.wordsPerKey; i++) this.parts.push(table.part(row, i))
    this.sets.push(set)
    this.infos.push(info)
  }
}
