/**
 * Replaces some units of a shard. Everything else is copied as bytes, so that a small change of a
 * large shard costs little more than the copy.
 * @module
 */
import type { ZoneEntry } from '../../records/zone-entry.ts'
import type { AddressTable } from '../format/address-table.ts'
import { HEADER } from '../format/layout.ts'
import { Shard } from '../read/shard.ts'
import { draftNamespaces } from './build-shards.ts'
import { joinNodes } from './join-nodes.ts'
import { KeptNodes } from './kept-nodes.ts'
import { KeptRows } from './kept-rows.ts'
import { type Drafts, draftNodes } from './node-drafts.ts'
import { type BuiltShard, sortedNamespaces } from './shard-writer.ts'

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
