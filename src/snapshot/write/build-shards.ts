/**
 * Builds shards from all their entries.
 * @module
 */
import { byteAt, toLatin1 } from '../../dns/bytes/bytes.ts'
import type { AddressTable } from '../format/address-table.ts'
import { HEADER } from '../format/layout.ts'
import { shardOfAddress, shardOfName } from '../format/shard-key.ts'
import { Shard } from '../read/shard.ts'
import { type ExistingName, isByAddress, type ZoneEntry } from '../records/zone-entry.ts'
import { joinNodes } from './join-nodes.ts'
import { KeptNodes } from './kept-nodes.ts'
import { KeptRows } from './kept-rows.ts'
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
function draftNamespaces({ nodes, pointers4, pointers6 }: Drafts): Set<string> {
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

/**
 * Returns what `buildShard` would return for `entries` and the entries of all other units.
 * @param units the units to replace
 * @param entries all present entries in these units
 * @throws {SnapshotError} when it would be over 256 MiB or hold over 16,383 namespaces
 */
export function patchShard(
  { bytes, namespaces: namespacesBefore }: BuiltShard,
  units: ReadonlySet<number>,
  entries: Iterable<ZoneEntry>,
): BuiltShard {
  const shard = new Shard(bytes, namespacesBefore)
  const drafts = draftNodes(entries)
  const nodes = new KeptNodes(
    { shard, starts: shard.nodes(), end: shard.field(HEADER.SETS) },
    units,
  )
  const { addresses4, addresses6 } = shard
  const setsEnd = shard.field(HEADER.SETS_END)
  const setsEnd4 = firstSet(addresses6) ?? setsEnd
  const rows4 = new KeptRows({ shard, table: addresses4, setsEnd: setsEnd4 }, units)
  const rows6 = new KeptRows({ shard, table: addresses6, setsEnd }, units)
  const namespaces = namespacesOf(shard, [nodes, rows4, rows6], drafts)
  const writer = joinNodes(nodes.mergeWith(drafts.nodes), namespaces)
  rows4.writeWith(drafts.pointers4, writer)
  rows6.writeWith(drafts.pointers6, writer)
  const isSame = namespaces === namespacesBefore
  return writer.finish(isSame ? bytes.subarray(shard.field(HEADER.NAMESPACES)) : undefined)
}

/** Returns where the RRsets of a table begin. */
function firstSet(table: AddressTable): number | undefined {
  for (let row = 0; row < table.count; row++) if (table.set(row) !== 0) return table.set(row)
  return undefined
}

/** Returns the namespaces of the new shard: the same array when they are the previous ones. */
function namespacesOf(
  { namespaces }: Shard,
  kept: readonly (KeptNodes | KeptRows)[],
  drafts: Drafts,
): readonly string[] {
  const used = new Uint8Array(namespaces.length)
  used[0] = 1
  for (const some of kept) some.markNamespaces(used)
  const names = draftNamespaces(drafts)
  for (const name of names) {
    const id = namespaces.indexOf(name)
    if (id >= 0) used[id] = 1
  }
  if (!used.includes(0) && [...names].every((name) => namespaces.includes(name))) return namespaces
  return sortedNamespaces([...namespaces.filter((_, id) => used[id] === 1), ...names])
}
