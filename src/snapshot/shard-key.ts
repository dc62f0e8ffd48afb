/**
 * Which shard a name or an address belongs to.
 *
 * The key of a name is its last three labels, so that everything below one Service
 * (`….web.shop.svc`) lies in one shard. The key of an address is its block of 256.
 * @module
 */
import { octet } from '../dns/bytes.ts'
import type { Query } from '../dns/query.ts'
import { hashOctets, hashView } from './name-hash.ts'

const KEY_SEED = 0x6b647368

/** Index of the shard of a name, of `count` shards; `count` is a power of two. */
export function shardOfName(labels: Uint8Array, size: number, count: number): number {
  if (count === 1) return 0
  // Where each of the last three labels begins, as far as there are so many.
  let third = 0
  let second = 0
  let last = 0
  for (let at = 0; at < size; at += octet(labels, at) + 1) {
    third = second
    second = last
    last = at
  }
  return hashOctets(labels, third, size, KEY_SEED) & (count - 1)
}

/**
 * As `shardOfName`, for the first `size` octets of a query's name, `labelCount` labels. Allocates
 * nothing.
 */
export function shardOfQuery(
  { nameView, labels }: Query,
  size: number,
  labelCount: number,
  count: number,
): number {
  const third = labelCount < 4 ? 0 : octet(labels, labelCount - 3)
  return hashView(nameView, third, size, KEY_SEED) & (count - 1)
}

/** Index of the shard of an address, the first `size` octets of `address`: 4 or 16. */
export function shardOfAddress(
  address: Uint8Array,
  count: number,
  size: number = address.length,
): number {
  return count === 1 ? 0 : addressKey(address, size) & (count - 1)
}

/** What the shard of an address follows from, whatever their number: its lowest bits. */
export function addressKey(address: Uint8Array, size: number = address.length): number {
  return hashOctets(address, 0, size - 1, KEY_SEED)
}
