/**
 * The number of shards, a function of the number of records alone, so that the same records always
 * give the same shards.
 *
 * A change of one endpoint rewrites two shards, that of its Service's names and that of its
 * address, and the manifest, which lists all shards. For s bytes in n shards, the exporter
 * publishes 2s/n + 48n bytes, which is least at n = √(2s/48). A shard has at least 16 KiB.
 * @module
 */
import { SHARDS_MAX } from './manifest.ts'

/** Average bytes of a record in a shard. */
const RECORD_BYTES = 50
const SHARD_BYTES_LEAST = 16 * 1024
/** Fewer shards than this are not worth their overhead: then there is one. */
const COUNT_LEAST = 4
/** Bytes that the manifest has for each shard. */
const LISTED_BYTES = 48

/** Returns the number of shards, a power of two, for `records` records and names without any. */
export function shardCountFor(records: number): number {
  const bytes = RECORD_BYTES * records
  const wanted = Math.min(bytes / SHARD_BYTES_LEAST, Math.sqrt((2 * bytes) / LISTED_BYTES))
  return wanted < COUNT_LEAST ? 1 : Math.min(SHARDS_MAX, 2 ** Math.round(Math.log2(wanted)))
}
