/**
 * Reads complete snapshots, for reports to operators and for lists; a query reads one shard.
 * @module
 */
import type { SnapshotSource } from '../chain/host.ts'
import type { Shard } from '../snapshot/read/shard.ts'

/**
 * Calls `visit` with each shard of the current snapshot, and loads those that are missing. Waits
 * for a promise that `visit` returns.
 * @param unit visits only the shard of these labels, of which there are three or more
 * @returns whether that was a complete snapshot, which has not expired
 */
export async function visitShards(
  reader: SnapshotSource,
  visit: (shard: Shard) => unknown,
  unit?: Uint8Array,
): Promise<boolean> {
  const snapshot = reader.current() ?? (await reader.load())
  if (snapshot === undefined || reader.freshness() === 'expired') return false
  const only = unit && snapshot.shardOfName(unit, unit.length)
  let isWhole = true
  for (const [index, here] of snapshot.shards.entries()) {
    if (only !== undefined && only !== index) continue
    const shard = here ?? (await reader.load(index))?.shards[index]
    if (shard === undefined) isWhole = false
    else await visit(shard)
  }
  // A newer snapshot may have arrived between two shards.
  return isWhole && (reader.current() ?? snapshot).info.generation === snapshot.info.generation
}
