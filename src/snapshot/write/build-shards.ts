/**
 * Builds shards from all their entries.
 * @module
 */
import { byteAt, toLatin1 } from '../../bytes/bytes.ts'
import { type ExistingName, isByAddress, type ZoneEntry } from '../../records/zone-entry.ts'
import { shardOfAddress, shardOfName } from '../format/shard-key.ts'
import { joinNodes } from './join-nodes.ts'
import { type Drafts, draftNodes } from './node-drafts.ts'
import { type BuiltShard, sortedNamespaces } from './shard-writer.ts'

/**
 * Builds the shards of a snapshot. Adds the names above names, so that they exist (RFC 8020 §2).
 * @param count a power of two; the result is in the order of the shards' indexes
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

/**
 * Builds one shard from all entries that belong to it. The same entries give the same bytes, in
 * whatever order they come.
 * @throws {SnapshotError} when it would be over 256 MiB or hold over 16,383 namespaces
 */
export function buildShard(entries: Iterable<ZoneEntry>): BuiltShard {
  const drafts = draftNodes(entries)
  const namespaces = sortedNamespaces(draftNamespaces(drafts))
  const writer = joinNodes([{ kind: 'new', nodes: drafts.nodes }], namespaces)
  for (const pointer of drafts.pointers4) writer.writePointer(pointer)
  for (const pointer of drafts.pointers6) writer.writePointer(pointer)
  return writer.finish()
}

/** Returns the namespaces of drafts. */
export function draftNamespaces({ nodes, pointers4, pointers6 }: Drafts): Set<string> {
  const namespaces = new Set<string>()
  for (const drafts of [nodes, pointers4, pointers6]) {
    for (const { namespace } of drafts) namespaces.add(namespace)
  }
  return namespaces
}

/** Returns the names above each name, once for each namespace that has a name below. */
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
