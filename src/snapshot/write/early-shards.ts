/**
 * The shards of a tree before its first whole build, each built when a query needs it: a cluster
 * with 50,000 endpoints takes a second to build, one Service a millisecond.
 *
 * Shards are more and smaller than those of a whole build, so that each has few groups. Their bytes
 * are those that `buildShards` would give for the same number of shards.
 * @module
 */
import { word } from '../../bytes/bytes.ts'
import { isByAddress, type ZoneEntry } from '../../records/zone-entry.ts'
import { SHARDS_MAX } from '../format/manifest.ts'
import { addressKey, addressUnit, nameKey } from '../format/shard-key.ts'
import { buildShard } from './build-shards.ts'
import type { EntriesOf } from './grouped-shards.ts'

/** Where the entries of a group are, known without making them. */
export type GroupPlace = {
  readonly group: string
  /** A name whose unit has all its names; `undefined` if the group has none. */
  readonly owner: Uint8Array | undefined
  /** The addresses of its pointers; others may be among them. */
  readonly addresses: Iterable<Uint8Array>
}

/** The groups of a tree. */
export type GroupPlaces = {
  /** Groups with few entries, which may be in any shard. */
  readonly everywhere: readonly string[]
  readonly placed: Iterable<GroupPlace>
}

/** The keys of a group: that of its names, and key and unit of each address. */
type Keyed = {
  readonly group: string
  readonly nameKey: number | undefined
  readonly addresses: Int32Array
}

/** Shards of one state of a tree's groups. */
export class EarlyShards {
  /** Number of shards, a power of two: at least one for each group. */
  readonly count: number
  private readonly everywhere: readonly ZoneEntry[]
  private readonly keyed: readonly Keyed[]
  private readonly entriesOf: EntriesOf

  constructor({ everywhere, placed }: GroupPlaces, entriesOf: EntriesOf) {
    this.everywhere = everywhere.flatMap((group) => entriesOf(group))
    this.keyed = Array.from(placed, keysOf)
    this.entriesOf = entriesOf
    let count = 1
    while (count < this.keyed.length && count < SHARDS_MAX) count *= 2
    this.count = count
  }

  /**
   * Builds a shard.
   * @throws {SnapshotError} like `buildShard`
   */
  build(shard: number): Uint8Array {
    const mask = this.count - 1
    const entries: ZoneEntry[] = []
    const take = (some: readonly ZoneEntry[]): void => {
      for (const entry of some) if ((keyOf(entry) & mask) === shard) entries.push(entry)
    }
    take(this.everywhere)
    for (const { group, nameKey: key, addresses } of this.keyed) {
      const hasNames = key !== undefined && (key & mask) === shard
      const units = unitsIn(addresses, shard, mask)
      if (!hasNames && units === undefined) continue
      const takesUnit = (unit: number): boolean => units?.has(unit) === true
      take(this.entriesOf(group, { hasNames, unitOf: addressUnit, takesUnit }))
    }
    return buildShard(entries).bytes
  }
}

function keysOf({ group, owner, addresses }: GroupPlace): Keyed {
  const numbers: number[] = []
  for (const address of addresses) numbers.push(addressKey(address), addressUnit(address))
  const key = owner && nameKey(owner, 0, owner.length)
  return { group, nameKey: key, addresses: Int32Array.from(numbers) }
}

/** Returns the units of those addresses that are in a shard; `undefined` if none is. */
function unitsIn(addresses: Int32Array, shard: number, mask: number): Set<number> | undefined {
  let units: Set<number> | undefined
  for (let at = 0; at < addresses.length; at += 2) {
    if ((word(addresses, at) & mask) !== shard) continue
    units ??= new Set()
    units.add(word(addresses, at + 1))
  }
  return units
}

function keyOf(entry: ZoneEntry): number {
  if (isByAddress(entry)) return addressKey(entry.address)
  return nameKey(entry.owner, 0, entry.owner.length)
}
