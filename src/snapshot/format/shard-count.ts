/**
 * How many shards a snapshot has: a function of its size alone, so that whoever builds it from the
 * same records builds the same shards.
 *
 * A change of one Endpoint re-writes two shards, that of its Service's names and that of its
 * address, and the manifest, which lists all of them. With s bytes in all and n shards that is
 * 2s/n + 48n bytes to publish, least at n = √(2s/48); but no shard is to be under 16 KiB.
 * @module
 */
import { SHARDS_MAX } from './manifest.ts'

/** Bytes of a record in a shard, about: what it takes is known only when it is built. */
const RECORD_BYTES = 50
const SHARD_BYTES_LEAST = 16 * 1024
/** Shards that are worth having more than one. */
const COUNT_LEAST = 4
/** Bytes of a shard in the manifest. */
const LISTED_BYTES = 48

/** The number of shards, a power of two, for so many records and names without records. */
export function shardCountFor(records: number): number {
  const bytes = RECORD_BYTES * records
  const wanted = Math.min(bytes / SHARD_BYTES_LEAST, Math.sqrt((2 * bytes) / LISTED_BYTES))
  return wanted < COUNT_LEAST ? 1 : Math.min(SHARDS_MAX, 2 ** Math.round(Math.log2(wanted)))
}
