/**
 * Look-ups in a snapshot whose shards are all loaded, with records as results. The answer path
 * writes bytes instead (`set-writer.ts`).
 * @module
 */
import type { ResourceRecord } from '../../dns/message.ts'
import { TYPE } from '../../dns/rr-type.ts'
import { SnapshotError } from '../format/layout.ts'
import type { Shard } from './shard.ts'
import { type SetPlace, setRecords } from './shard-records.ts'
import type { Snapshot } from './snapshot.ts'

/** A name that exists. */
export type FoundName = {
  readonly shard: Shard
  /** Offset of its node. */
  readonly node: number
}

/** The names that records get. */
export type RecordsAs = {
  /** Absolute. */
  readonly owner: Uint8Array
  /** Absolute origin of the relative names in rdata. */
  readonly origin: Uint8Array
}

/**
 * Finds a name, unless it is only implied by names below it, or glue.
 * @param labels in lower case, without the root
 * @throws {SnapshotError} if its shard is not loaded
 */
export function findName(snapshot: Snapshot, labels: Uint8Array): FoundName | undefined {
  const shard = shardAt(snapshot, snapshot.shardOfName(labels, labels.length))
  const node = shard.findNode(labels, labels.length)
  return node === 0 || shard.isImplied(node) || shard.isGlue(node) ? undefined : { shard, node }
}

/** Returns whether a name has records of any type. */
export function hasRecords({ shard, node }: FoundName): boolean {
  return shard.setCount(node) > 0
}

/** Returns a name's records of a type. */
export function recordsOf(
  { shard, node }: FoundName,
  type: number,
  { owner, origin }: RecordsAs,
): ResourceRecord[] {
  const ref = shard.findSet(node, type)
  if (ref === 0) return []
  const place: SetPlace = { set: shard.refSet(ref), count: shard.refCount(ref), type, origin }
  return setRecords(shard, place, owner)
}

/**
 * Returns the PTR records of an address, which is the first `size` bytes, 4 or 16.
 * @throws {SnapshotError} if its shard is not loaded
 */
export function pointersOf(
  snapshot: Snapshot,
  address: Uint8Array,
  size: number,
  { owner, origin }: RecordsAs,
): ResourceRecord[] {
  const shard = shardAt(snapshot, snapshot.shardOfAddress(address, size))
  const table = size === 4 ? shard.addresses4 : shard.addresses6
  const found: ResourceRecord[] = []
  for (let i = table.firstFrom(address); table.hasPrefix(i, address, 8 * size); i++) {
    const place = { set: table.set(i), count: table.targetCount(i), type: TYPE.PTR, origin }
    if (place.count > 0 && !table.isYielding(i)) found.push(...setRecords(shard, place, owner))
  }
  return found
}

function shardAt({ shards }: Snapshot, index: number): Shard {
  const shard = shards[index]
  if (shard === undefined) throw new SnapshotError(`Cannot find a name: no shard ${index}`)
  return shard
}
