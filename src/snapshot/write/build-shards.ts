/**
 * Splits entries over shards and builds these.
 * @module
 */
import { byteAt, toLatin1 } from '../../bytes/bytes.ts'
import { type ExistingName, isByAddress, type ZoneEntry } from '../../records/zone-entry.ts'
import { shardOfAddress, shardOfName } from '../format/shard-key.ts'
import { buildShard } from './shard-writer.ts'

/**
 * Builds the shards of a snapshot. Names above names are added, so that they exist (RFC 8020 §2).
 * @param count a power of two; the place in the result is the shard's index
 */
export function buildShards(entries: readonly ZoneEntry[], count: number = 1): Uint8Array[] {
  const groups = Array.from({ length: count }, (): ZoneEntry[] => [])
  for (const entry of [...entries, ...ancestorsOf(entries)]) {
    const index = isByAddress(entry)
      ? shardOfAddress(entry.address, count)
      : shardOfName(entry.owner, entry.owner.length, count)
    groups[index]?.push(entry)
  }
  return groups.map((group) => buildShard(group).bytes)
}

/** The names above each name, once for each namespace that has something below. */
export function ancestorsOf(entries: readonly ZoneEntry[]): ExistingName[] {
  const above: ExistingName[] = []
  const known = new Set<string>()
  for (const entry of entries) {
    if (isByAddress(entry)) continue
    const { owner, namespace } = entry
    const key = `${toLatin1(owner)} ${namespace}`
    for (let at = 0; at + byteAt(owner, at) + 1 < owner.length; ) {
      at += byteAt(owner, at) + 1
      const rest = key.slice(at)
      if (known.has(rest)) break
      known.add(rest)
      above.push({ kind: 'name', owner: owner.slice(at), namespace, isImplied: true })
    }
  }
  return above
}
