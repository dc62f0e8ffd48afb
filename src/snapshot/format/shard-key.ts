/**
 * Which shard a name or an address belongs to, and what stands together within it.
 *
 * The key of a name is its last three labels, so that everything below one Service
 * (`….web.shop.svc`) lies in one shard. The key of an address is its block of 256.
 *
 * A *unit* is what does not share bytes of a shard with anything else: all names with one key,
 * or one address.
 * @module
 */
import { byteAt, readInt32 } from '../../bytes/bytes.ts'
import type { Query } from '../../dns/query.ts'
import type { AddressTable } from './address-table.ts'
import { hashByteRange, hashStep, hashView } from './name-hash.ts'

const KEY_SEED = 0x6b647368
const UNIT_SEED = 0x756e6974

/** Index of the shard of a name, of `count` shards; `count` is a power of two. */
export function shardOfName(labels: Uint8Array, size: number, count: number): number {
  return count === 1 ? 0 : nameKey(labels, 0, size) & (count - 1)
}

/**
 * What the shard of a name follows from, whatever their number: its lowest bits. It is the name's
 * unit as well. The labels are those from `start` to `end`.
 */
export function nameKey(labels: Uint8Array, start: number, end: number): number {
  // Where each of the last three labels begins, as far as there are so many.
  let third = start
  let second = start
  let last = start
  for (let at = start; at < end; at += byteAt(labels, at) + 1) {
    third = second
    second = last
    last = at
  }
  return hashByteRange(labels, third, end, KEY_SEED)
}

/** Where the labels of a name's unit begin: its last three, or all of fewer. */
export function unitStart(labels: Uint8Array): number {
  let third = 0
  let second = 0
  let last = 0
  for (let at = 0; at < labels.length; at += byteAt(labels, at) + 1) {
    third = second
    second = last
    last = at
  }
  return third
}

/**
 * As `shardOfName`, for the first `size` bytes of a query's name, `labelCount` labels. Allocates
 * nothing.
 */
export function shardOfQuery(
  { nameView, labels }: Query,
  size: number,
  labelCount: number,
  count: number,
): number {
  const third = labelCount < 4 ? 0 : (labels[labelCount - 3] ?? 0)
  return hashView(nameView, third, size, KEY_SEED) & (count - 1)
}

/** Index of the shard of an address, the first `size` bytes of `address`: 4 or 16. */
export function shardOfAddress(
  address: Uint8Array,
  count: number,
  size: number = address.length,
): number {
  return count === 1 ? 0 : addressKey(address, size) & (count - 1)
}

/** What the shard of an address follows from, whatever their number: its lowest bits. */
export function addressKey(address: Uint8Array, size: number = address.length): number {
  return hashByteRange(address, 0, size - 1, KEY_SEED)
}

/** The unit of an address, 4 or 16 bytes. */
export function addressUnit(address: Uint8Array): number {
  let unit = UNIT_SEED
  for (let at = 0; at < address.length; at += 4) unit = hashStep(unit, readInt32(address, at))
  return unit
}

/** As `addressUnit`, for the address of a table's row. */
export function addressUnitAt(
  table: Pick<AddressTable, 'wordsPerKey' | 'part'>,
  row: number,
): number {
  let unit = UNIT_SEED
  for (let i = 0; i < table.wordsPerKey; i++) unit = hashStep(unit, table.part(row, i))
  return unit
}
