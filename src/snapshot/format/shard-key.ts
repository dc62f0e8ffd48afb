/**
 * The shard of a name or an address, and its unit within the shard.
 *
 * The key of a name is its last three labels, so that all names below one Service
 * (`….web.shop.svc`) are in one shard. The key of an address is its block of 256.
 *
 * A *unit* shares no bytes of a shard with another: all names with one key, or one address.
 * @module
 */
import { byteAt, readInt32 } from '../../dns/bytes/bytes.ts'
import type { Query } from '../../dns/wire/query.ts'
import type { AddressTable } from './address-table.ts'
import { hashByteRange, hashStep, hashView } from './name-hash.ts'

const KEY_SEED = 0x6b647368
const UNIT_SEED = 0x756e6974

/** Returns the index of a name's shard; `count`, the number of shards, is a power of two. */
export function shardOfName(labels: Uint8Array, size: number, count: number): number {
  return count === 1 ? 0 : shardNameKey(labels, 0, size) & (count - 1)
}

/**
 * Returns the key of a name, which is its unit too; the lowest bits are the index of the shard. The
 * labels are those from `start` to `end`.
 */
export function shardNameKey(labels: Uint8Array, start: number, end: number): number {
  // Offsets of the last three labels, if there are so many.
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

/** Returns the offset of a name's last three labels, which identify its unit; 0 if it has fewer. */
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
 * Returns what `shardOfName` does, for the first `size` bytes of a query's name, `labelCount`
 * labels. Allocates nothing.
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

/** Returns the index of an address's shard. The address is the first `size` bytes, 4 or 16. */
export function shardOfAddress(
  address: Uint8Array,
  count: number,
  size: number = address.length,
): number {
  return count === 1 ? 0 : shardAddressKey(address, size) & (count - 1)
}

/** Returns the key of an address; its lowest bits are the index of the shard. */
export function shardAddressKey(address: Uint8Array, size: number = address.length): number {
  return hashByteRange(address, 0, size - 1, KEY_SEED)
}

/** Returns the unit of an address, 4 or 16 bytes. */
export function addressUnit(address: Uint8Array): number {
  let unit = UNIT_SEED
  for (let at = 0; at < address.length; at += 4) unit = hashStep(unit, readInt32(address, at))
  return unit
}

/** Returns what `addressUnit` does, for the address of a row. */
export function addressUnitAt(
  table: Pick<AddressTable, 'wordsPerKey' | 'part'>,
  row: number,
): number {
  let unit = UNIT_SEED
  for (let i = 0; i < table.wordsPerKey; i++) unit = hashStep(unit, table.part(row, i))
  return unit
}
