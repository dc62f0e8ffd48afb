/**
 * Reads complete snapshots, for reports to operators and for lists; a query reads one shard.
 * @module
 */
import type { SnapshotSource } from '../../resolver/contract/host.ts'
import type { Shard } from '../../snapshot/read/shard.ts'

/** How to visit shards. */
type VisitOptions = {
  /** Called after each shard: lets queries be answered meanwhile. */
  readonly pause: () => Promise<void> | undefined
  /** Labels, three or more, whose shard alone is visited. */
  readonly unit?: Uint8Array | undefined
}

/**
 * Calls `visit` with each shard of the current snapshot, and loads those that are missing.
 * @returns whether that was a complete snapshot, which has not expired
 */
export async function visitShards(
  reader: SnapshotSource,
  visit: (shard: Shard) => void,
  { pause, unit }: VisitOptions,
): Promise<boolean> {
  const snapshot = reader.current() ?? (await reader.load())
  if (snapshot === undefined || reader.freshness() === 'expired') return false
  const only = unit && snapshot.shardOfName(unit, unit.length)
  let isWhole = true
  for (const [index, here] of snapshot.shards.entries()) {
    if (only !== undefined && only !== index) continue
    const shard = here ?? (await reader.load(index))?.shards[index]
    if (shard === undefined) isWhole = false
    else visit(shard)
    await pause()
  }
  // A newer snapshot may have arrived between two shards.
  return isWhole && (reader.current() ?? snapshot).info.generation === snapshot.info.generation
}
