/**
 * Replaces some units of a shard: what stays is copied with its bytes, so that a small change of a
 * large shard costs little more than the copy.
 * @module
 */
import type { ZoneEntry } from '../../records/zone-entry.ts'
import type { AddressTable } from '../format/address-table.ts'
import { HEADER } from '../format/layout.ts'
import { Shard } from '../read/shard.ts'
import { AddressRows } from './address-rows.ts'
import { joinNodes } from './join-nodes.ts'
import { KeptNodes } from './kept-nodes.ts'
import { KeptRows } from './kept-rows.ts'
import { type Drafts, draftNodes } from './node-drafts.ts'
import type { PointerDraft } from './pointer-drafts.ts'
import { type BuiltShard, type ShardWriter, sortedNamespaces } from './shard-writer.ts'

/**
 * Makes the shard that `buildShard` would make of the entries of all other units and of `entries`.
 * @param units what is replaced
 * @param entries all present entries of these units
 * @throws {SnapshotError} when it would be over 256 MiB or hold over 16,383 namespaces
 */
export function patchShard(
  { bytes, namespaces: namespacesBefore }: BuiltShard,
  units: ReadonlySet<number>,
  entries: Iterable<ZoneEntry>,
): BuiltShard {
  const before = new Shard(bytes, namespacesBefore)
  const drafts = draftNodes(entries)
  const section = { shard: before, starts: before.nodes(), end: before.field(HEADER.SETS) }
  const nodes = new KeptNodes(section, units)
  const { addresses4, addresses6 } = before
  const setsEnd = before.field(HEADER.SETS_END)
  const sets4 = { table: addresses4, setsEnd: firstSet(addresses6) ?? setsEnd }
  const rows4 = new KeptRows(bytes, sets4, units)
  const rows6 = new KeptRows(bytes, { table: addresses6, setsEnd }, units)
  const namespaces = namespacesOf(before, [nodes, rows4, rows6], drafts)
  const namespaceIds = renumbering(namespacesBefore, namespaces)
  const writer = joinNodes(nodes.mergeWith(drafts.nodes), namespaces)
  return writer.finish(
    mergeRows(rows4, drafts.pointers4, { writer, namespaceIds }),
    mergeRows(rows6, drafts.pointers6, { writer, namespaceIds }),
    namespaceIds === undefined ? bytes.subarray(before.field(HEADER.NAMESPACES)) : undefined,
  )
}

/** Where the sets of a table begin. */
function firstSet(table: AddressTable): number | undefined {
  for (let row = 0; row < table.count; row++) if (table.set(row) !== 0) return table.set(row)
  return undefined
}

/** The namespaces of the new shard; the same array when they are those of before. */
function namespacesOf(
  { namespaces }: Shard,
  kept: readonly (KeptNodes | KeptRows)[],
  { nodes, pointers4, pointers6 }: Drafts,
): readonly string[] {
  // The empty one is always there.
  const marks = new Uint8Array(namespaces.length)
  marks[0] = 1
  for (const some of kept) some.markNamespaces(marks)
  const added = new Set<string>()
  for (const drafts of [nodes, pointers4, pointers6]) {
    for (const { namespace } of drafts) {
      const id = namespaces.indexOf(namespace)
      if (id < 0) added.add(namespace)
      else marks[id] = 1
    }
  }
  if (added.size === 0 && !marks.includes(0)) return namespaces
  return sortedNamespaces(new Set([...namespaces.filter((_, id) => marks[id] === 1), ...added]))
}

/** New numbers of namespaces by the old ones; `undefined` when both are one array. */
function renumbering(before: readonly string[], after: readonly string[]): Int32Array | undefined {
  if (before === after) return undefined
  const ids = new Map(after.map((namespace, id) => [namespace, id]))
  return Int32Array.from(before, (namespace) => ids.get(namespace) ?? 0)
}

function mergeRows(
  kept: KeptRows,
  pointers: readonly PointerDraft[],
  {
    writer,
    namespaceIds,
  }: { readonly writer: ShardWriter; readonly namespaceIds: Int32Array | undefined },
): AddressRows {
  const rows = new AddressRows()
  const into = { out: writer.out, rows }
  let from = 0
  for (const pointer of pointers) {
    const to = kept.firstBehind(pointer.address, from)
    kept.copy({ from, to }, into, namespaceIds)
    writer.writePointer(pointer, rows)
    from = to
  }
  kept.copy({ from, to: kept.count }, into, namespaceIds)
  return rows
}
