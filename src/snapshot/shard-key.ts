/**
 * Which shard a name or an address belongs to.
 *
 * The key of a name is its last three labels, so that everything below one Service
 * (`….web.shop.svc`) lies in one shard. The key of an address is its block of 256.
 * @module
 */
import { labelOffsets } from '../dns/name.ts'
import { hashName } from './name-hash.ts'

const KEY_LABELS = 3
const KEY_SEED = 0x6b647368

/** Index of the shard of a name, of `count` shards; `count` is a power of two. */
export function shardOfName(labels: Uint8Array, size: number, count: number): number {
  if (count === 1) return 0
  const name = labels.subarray(0, size)
  const from = labelOffsets(name).at(-KEY_LABELS) ?? 0
  return hashName(name.subarray(from), size - from, KEY_SEED) & (count - 1)
}

/** Index of the shard of an address of 4 or 16 octets. */
export function shardOfAddress(address: Uint8Array, count: number): number {
  return count === 1 ? 0 : hashName(address, address.length - 1, KEY_SEED) & (count - 1)
}
