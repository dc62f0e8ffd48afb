/**
 * Shards that follow changes: entries come in groups, and when a group changes, only those units of
 * the shards are written again in which it says something else than before.
 *
 * Entries are not kept, as they would take more memory than the shards: those of changed units are
 * made again from their source.
 * @module
 */
import type { ZoneEntry } from '../../records/zone-entry.ts'
import { shardCountFor } from '../format/shard-count.ts'
import { addressUnit } from '../format/shard-key.ts'
import { countRecords } from '../read/shard-records.ts'
import { GroupPlace, unitOf } from './group-place.ts'
import { patchShard } from './patch-shard.ts'
import { type BuiltShard, buildShard } from './shard-writer.ts'
import { UnitBlocks } from './unit-blocks.ts'
import { UnitOwners } from './unit-owners.ts'

/**
 * Makes the present entries of a group, none when it is no more. Names above them of fewer than
 * three labels have to be some group's own entries; what is between is added.
 */
export type EntriesOf = (group: string, part?: EntriesPart) => readonly ZoneEntry[]

/** The part of a group that is wanted; what else comes along is passed over. */
export type EntriesPart = {
  /** Whether anything else than pointers is wanted. */
  readonly hasNames: boolean
  /** The unit of an address, always the same. */
  readonly unitOf: (address: Uint8Array) => number
  /** Whether the pointers of addresses of a unit are wanted. */
  readonly takesUnit: (unit: number) => boolean
}

const NOWHERE = new GroupPlace([], 0)
const NO_SHARD = buildShard([])

/** The shards of all groups. */
export class GroupedShards {
  private readonly entriesOf: EntriesOf
  private readonly places = new Map<string, GroupPlace>()
  private readonly owners = new UnitOwners()
  private built: BuiltShard[] = [NO_SHARD]
  private listed: Uint8Array[] = [NO_SHARD.bytes]
  private counts: number[] = [0]
  private total = 0
  private weight = 0

  constructor(entriesOf: EntriesOf) {
    this.entriesOf = entriesOf
  }

  /** The shards; those that did not change are the same arrays, unless all were written anew. */
  get shards(): readonly Uint8Array[] {
    return this.listed
  }

  /** Records in all shards. */
  get records(): number {
    return this.total
  }

  /** Brings the shards up to date with some groups. */
  update(groups: Iterable<string>): void {
    const changed = [...groups]
    // Of so many, entries are not kept, and what is there is not worth to be copied.
    if (changed.length > this.places.size) {
      this.rebuild(changed, new Map())
      return
    }
    const fresh = new Map<string, readonly ZoneEntry[]>()
    let weight = this.weight
    for (const group of changed) {
      const entries = this.entriesOf(group)
      weight += countEntries(entries) - (this.places.get(group)?.weight ?? 0)
      fresh.set(group, entries)
    }
    if (shardCountFor(weight) !== this.built.length) this.rebuild(changed, fresh)
    else this.patch(this.place(fresh), fresh)
  }

  /** Puts changed groups in their new places. Returns the units that this changes, by the shard. */
  private place(fresh: ReadonlyMap<string, readonly ZoneEntry[]>): Map<number, Set<number>> {
    const changed = new Map<number, Set<number>>()
    for (const [group, entries] of fresh) {
      const before = this.places.get(group) ?? NOWHERE
      const after = new GroupPlace(entries, countEntries(entries))
      const isSame = new Uint8Array(before.count)
      const others: number[] = []
      let hint = 0
      for (let i = 0; i < after.count; i++) {
        const same = before.indexOfSame(after, i, hint)
        if (same < 0) others.push(i)
        else {
          isSame[same] = 1
          hint = same + 1
        }
      }
      for (let i = 0; i < before.count; i++) {
        if (isSame[i] === 1) continue
        this.noteUnit(changed, before, i)
        this.owners.delete(before.unit(i), group)
      }
      for (const i of others) this.noteUnit(changed, after, i)
      this.weight -= before.weight
      this.places.delete(group)
      this.adopt(group, after)
    }
    return changed
  }

  /** Gives a group, which has none, its place. */
  private adopt(group: string, place: GroupPlace): void {
    if (place.count === 0) return
    this.places.set(group, place)
    this.weight += place.weight
    for (let i = 0; i < place.count; i++) this.owners.add(place.unit(i), group)
  }

  private noteUnit(changed: Map<number, Set<number>>, place: GroupPlace, index: number): void {
    const shard = this.shardOfKey(place.key(index))
    const units = changed.get(shard) ?? new Set<number>()
    changed.set(shard, units.add(place.unit(index)))
  }

  /** Replaces units of shards by what all groups now say in them. */
  private patch(
    changed: ReadonlyMap<number, ReadonlySet<number>>,
    fresh: ReadonlyMap<string, readonly ZoneEntry[]>,
  ): void {
    if (changed.size === 0) return
    // Readers may hold the list of before.
    this.listed = [...this.listed]
    for (const [shard, units] of changed) {
      const entries = this.entriesIn(units, fresh)
      this.put(shard, patchShard(this.built[shard] ?? NO_SHARD, units, entries))
    }
  }

  /** What all groups say in some units. */
  private entriesIn(
    units: ReadonlySet<number>,
    fresh: ReadonlyMap<string, readonly ZoneEntry[]>,
  ): ZoneEntry[] {
    const takesUnit = (unit: number): boolean => units.has(unit)
    const groups = new Set<string>()
    for (const unit of units) for (const group of this.owners.of(unit)) groups.add(group)
    const entries: ZoneEntry[] = []
    for (const group of groups) {
      const hasNames = this.places.get(group)?.hasNamesIn(units) === true
      const part = { hasNames, unitOf: addressUnit, takesUnit }
      for (const entry of fresh.get(group) ?? this.entriesOf(group, part)) {
        if (units.has(unitOf(entry))) entries.push(entry)
      }
    }
    return entries
  }

  /** Writes all shards anew: there are more of them, or fewer, or most groups changed. */
  private rebuild(
    changed: readonly string[],
    fresh: ReadonlyMap<string, readonly ZoneEntry[]>,
  ): void {
    const groups = new Set([...this.places.keys(), ...changed])
    const blocks = new UnitBlocks()
    this.places.clear()
    this.owners.clear()
    this.weight = 0
    for (const group of groups) {
      const entries = fresh.get(group) ?? this.entriesOf(group)
      this.adopt(group, new GroupPlace(entries, countEntries(entries)))
      blocks.add(entries)
    }
    const count = shardCountFor(this.weight)
    this.built = []
    this.listed = []
    this.counts = []
    this.total = 0
    for (const built of blocks.shards(count, (units) => this.entriesIn(units, fresh))) {
      this.put(this.built.length, built)
    }
  }

  private put(shard: number, built: BuiltShard): void {
    const count = countRecords(built.bytes)
    this.total += count - (this.counts[shard] ?? 0)
    this.counts[shard] = count
    this.built[shard] = built
    this.listed[shard] = built.bytes
  }

  private shardOfKey(key: number): number {
    return key & (this.built.length - 1)
  }
}

/** Records and names of entries, before any are found to be the same: what takes room in shards. */
export function countEntries(entries: readonly ZoneEntry[]): number {
  let count = 0
  for (const entry of entries) {
    if (entry.kind === 'records') count += entry.rdata.length
    else if (entry.kind !== 'name' || entry.isImplied !== true) count++
  }
  return count
}
