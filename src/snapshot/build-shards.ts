/**
 * Splits entries over shards and builds these.
 * @module
 */
import { toLatin1 } from '../dns/bytes.ts'
import { labelOffsets } from '../dns/name.ts'
import type { ExistingName, ZoneEntry } from '../records/zone-entry.ts'
import { shardOfAddress, shardOfName } from './shard-key.ts'
import { buildShard } from './shard-writer.ts'

/**
 * Builds the shards of a snapshot. Names above names are added, so that they exist (RFC 8020 §2).
 * @param count a power of two; the place in the result is the shard's index
 */
export function buildShards(entries: readonly ZoneEntry[], count: number = 1): Uint8Array[] {
  const groups = Array.from({ length: count }, (): ZoneEntry[] => [])
  for (const entry of [...entries, ...emptyNonTerminals(entries)]) {
    const index =
      entry.kind === 'pointer'
        ? shardOfAddress(entry.address, count)
        : shardOfName(entry.owner, entry.owner.length, count)
    groups[index]?.push(entry)
  }
  return groups.map((group) => buildShard(group))
}

/** The names above each name, once for each namespace that has something below. */
function emptyNonTerminals(entries: readonly ZoneEntry[]): ExistingName[] {
  const names = new Map<string, ExistingName>()
  for (const entry of entries) {
    if (entry.kind === 'pointer') continue
    const { scope } = entry
    for (const offset of labelOffsets(entry.owner).slice(1)) {
      const owner = entry.owner.slice(offset)
      const key = `${toLatin1(owner)} ${scope}`
      if (names.has(key)) break
      names.set(key, { kind: 'name', owner, scope, isImplied: true })
    }
  }
  return [...names.values()]
}
