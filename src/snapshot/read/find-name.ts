/**
 * Look-ups in a snapshot, with records as results. The answer path of `kubernetes` writes bytes
 * instead (`set-writer.ts`).
 * @module
 */

import { TYPE } from '../../dns/names/rr-type.ts'
import type { ResourceRecord } from '../../dns/wire/message.ts'
import { SnapshotError } from '../format/layout.ts'
import type { Shard } from './shard.ts'
import { type SetPlace, setRecords } from './shard-records.ts'
import type { Snapshot } from './snapshot.ts'
import type { Visibility } from './visibility.ts'

/** A shard is needed that is not loaded. */
export class MissingShardError extends SnapshotError {
  /** Its index. */
  readonly shard: number

  constructor(shard: number) {
    super(`Cannot find a name: no shard ${shard}`)
    this.shard = shard
  }
}

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
 * Finds a name, unless it is hidden, only implied by names below it, or glue.
 * @param labels in lower case, without the root
 * @param namespaces those that the client sees; `undefined` for all
 * @throws {MissingShardError} if its shard is not loaded
 */
export function findName(
  snapshot: Snapshot,
  labels: Uint8Array,
  namespaces?: Visibility,
): FoundName | undefined {
  const shard = shardAt(snapshot, snapshot.shardOfName(labels, labels.length))
  shard.isUsed = true
  const node = shard.findNode(labels, labels.length)
  if (node === 0 || shard.isImplied(node) || shard.isGlue(node)) return undefined
  const found = { shard, node }
  return isSeen(found, namespaces) ? found : undefined
}

/**
 * Finds a name whose records are for the additional section only, for every client.
 * @throws {MissingShardError} if its shard is not loaded
 */
export function findGlue(snapshot: Snapshot, labels: Uint8Array): FoundName | undefined {
  const shard = shardAt(snapshot, snapshot.shardOfName(labels, labels.length))
  shard.isUsed = true
  const node = shard.findNode(labels, labels.length)
  return node !== 0 && shard.isGlue(node) ? { shard, node } : undefined
}

/** Returns whether a client sees a name; `undefined` namespaces are all. */
export function isSeen({ shard, node }: FoundName, namespaces: Visibility | undefined): boolean {
  return namespaces?.has(shard, shard.nodeNamespaceId(node)) !== false
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
 * Returns the PTR records of an address, which is the first `size` bytes, 4 or 16, as far as the
 * client sees their namespaces; `undefined` for all.
 * @throws {MissingShardError} if its shard is not loaded
 */
export function pointersOf(
  snapshot: Snapshot,
  address: Uint8Array,
  size: number,
  { owner, origin, namespaces }: RecordsAs & { readonly namespaces: Visibility | undefined },
): ResourceRecord[] {
  const shard = shardAt(snapshot, snapshot.shardOfAddress(address, size))
  shard.isUsed = true
  const table = size === 4 ? shard.addresses4 : shard.addresses6
  const found: ResourceRecord[] = []
  for (let i = table.firstFrom(address); table.hasPrefix(i, address, 8 * size); i++) {
    if (namespaces?.has(shard, table.namespaceId(i)) === false) continue
    const place = { set: table.set(i), count: table.targetCount(i), type: TYPE.PTR, origin }
    if (place.count > 0 && !table.isYielding(i)) found.push(...setRecords(shard, place, owner))
  }
  return found
}

function shardAt({ shards }: Snapshot, index: number): Shard {
  const shard = shards[index]
  if (shard === undefined) throw new MissingShardError(index)
  return shard
}
