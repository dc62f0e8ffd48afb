/**
 * Reads complete snapshots, for reports to operators; a query reads one shard.
 * @module
 */
import type { SnapshotSource } from '../chain/host.ts'
import type { Shard } from '../snapshot/read/shard.ts'

/**
 * Calls `visit` with each shard of the current snapshot, and loads those that are missing.
 * @returns whether that was a complete snapshot, which has not expired
 */
export async function visitShards(
  reader: SnapshotSource,
  visit: (shard: Shard) => void,
): Promise<boolean> {
  const snapshot = reader.current() ?? (await reader.load())
  if (snapshot === undefined || reader.freshness() === 'expired') return false
  let isWhole = true
  for (const [index, here] of snapshot.shards.entries()) {
    const shard = here ?? (await reader.load(index))?.shards[index]
    if (shard === undefined) isWhole = false
    else visit(shard)
  }
  // A newer snapshot may have arrived between two shards.
  return isWhole && (reader.current() ?? snapshot).info.generation === snapshot.info.generation
}
