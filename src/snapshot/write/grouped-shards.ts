/**
 * The shards of a tree of names, kept up to date group by group: an update rewrites only the units
 * in which the entries of a changed group differ (README.md follows one).
 *
 * Entries take more memory than the shards, so they are not kept: the source makes those of changed
 * units again.
 * @module
 */
import { finish, type Steps } from '../../dns/bytes/steps.ts'
import { shardCountFor } from '../format/shard-count.ts'
import { addressUnit } from '../format/shard-key.ts'
import { countRecords } from '../read/shard-records.ts'
import type { ZoneEntry } from '../records/zone-entry.ts'
import { buildShard, patchShard } from './build-shards.ts'
import { GroupUnits, unitOf } from './group-units.ts'
import type { BuiltShard } from './shard-writer.ts'
import { UnitGroups } from './unit-groups.ts'
import { WholeBuild } from './whole-build.ts'

/**
 * Returns the present entries of a group, none when it is gone. Names above them of fewer than
 * three labels have to be entries of some group; names in between are added.
 */
export type EntriesOf = (group: string, part?: EntriesPart) => readonly ZoneEntry[]

/** The part of a group that is needed; other entries are ignored. */
export type EntriesPart = {
  /** Whether entries other than pointers are needed. */
  readonly hasNames: boolean
  /** Returns the unit of an address, always the same. */
  readonly unitOf: (address: Uint8Array) => number
  /** Returns whether the pointers in an address's unit are needed. */
  readonly takesUnit: (unit: number) => boolean
}

type Group = { readonly number: number; readonly units: GroupUnits }

/** Entries of groups that this update has at hand, by the group's name. */
type Fresh = ReadonlyMap<string, readonly ZoneEntry[]>

const NO_UNITS = new GroupUnits([])
const NO_SHARD = buildShard([])

/** The shards of all groups. */
export class GroupedShards {
  private readonly entriesOf: EntriesOf
  /** Groups with entries, by name, and their names by number. */
  private readonly groups = new Map<string, Group>()
  private readonly names = new Map<number, string>()
  private lastNumber = 0
  private readonly unitGroups = new UnitGroups()
  private built: BuiltShard[] = [NO_SHARD]
  private listed: Uint8Array[] = [NO_SHARD.bytes]
  private counts: number[] = [0]
  private total = 0
  /** The sum of the groups' weights. */
  private weight = 0

  constructor(entriesOf: EntriesOf) {
    this.entriesOf = entriesOf
  }

  /** Returns the shards. Unchanged ones are the same arrays as before, except after a rebuild. */
  get shards(): readonly Uint8Array[] {
    return this.listed
  }

  /** Records in all shards. */
  get records(): number {
    return this.total
  }

  /** Brings the shards up to date with changes of some groups. */
  update(groups: Iterable<string>): void {
    finish(this.updateInSteps(groups))
  }

  /**
   * Does what `update` does in steps, each the entries of a group or the bytes of a shard. Until
   * the last one, the shards are not valid and the entries must not change.
   */
  *updateInSteps(groups: Iterable<string>): Steps<void> {
    const changed = [...groups]
    // So many entries are not held at once, and little of the shards is worth copying.
    if (changed.length > this.groups.size) {
      yield* this.rebuild(changed, new Map())
      return
    }
    const fresh = new Map<string, readonly ZoneEntry[]>()
    for (const name of changed) {
      fresh.set(name, this.entriesOf(name))
      yield
    }
    const units = yield* this.replaceGroups(fresh)
    if (shardCountFor(this.weight) !== this.built.length) yield* this.rebuild(changed, fresh)
    else yield* this.patch(units, fresh)
  }

  /** Replaces the units of changed groups. Returns the units that differ, by shard. */
  private *replaceGroups(fresh: Fresh): Steps<Map<number, Set<number>>> {
    const changed = new Map<number, Set<number>>()
    for (const [name, entries] of fresh) {
      const before = this.groups.get(name)
      const units = before?.units ?? NO_UNITS
      const after = new GroupUnits(entries)
      const isSame = new Uint8Array(units.count)
      let hint = 0
      for (let i = 0; i < after.count; i++) {
        const same = units.indexOfSame(after, i, hint)
        if (same < 0) this.noteUnit(changed, after, i)
        else {
          isSame[same] = 1
          hint = same + 1
        }
      }
      for (let i = 0; i < units.count; i++) {
        if (isSame[i] === 1) continue
        this.noteUnit(changed, units, i)
        if (before !== undefined) this.unitGroups.delete(units.unit(i), before.number)
      }
      if (before !== undefined) this.remove(name, before)
      this.add(name, after, before?.number)
      yield
    }
    return changed
  }

  private add(name: string, units: GroupUnits, number: number = ++this.lastNumber): void {
    if (units.count === 0) return
    this.groups.set(name, { number, units })
    this.names.set(number, name)
    this.weight += units.weight
    for (let i = 0; i < units.count; i++) this.unitGroups.add(units.unit(i), number)
  }

  private remove(name: string, { number, units }: Group): void {
    this.groups.delete(name)
    this.names.delete(number)
    this.weight -= units.weight
  }

  private noteUnit(changed: Map<number, Set<number>>, units: GroupUnits, index: number): void {
    const shard = units.key(index) & (this.built.length - 1)
    const noted = changed.get(shard) ?? new Set<number>()
    changed.set(shard, noted.add(units.unit(index)))
  }

  /** Replaces units of shards by the present entries of all groups in them. */
  private *patch(changed: ReadonlyMap<number, ReadonlySet<number>>, fresh: Fresh): Steps<void> {
    if (changed.size === 0) return
    // Readers may hold the previous list.
    this.listed = [...this.listed]
    for (const [shard, units] of changed) {
      const entries = this.entriesIn(units, fresh)
      this.put(shard, patchShard(this.built[shard] ?? NO_SHARD, units, entries))
      yield
    }
  }

  /** Returns the entries of all groups in some units. */
  private entriesIn(units: ReadonlySet<number>, fresh: Fresh): ZoneEntry[] {
    const takesUnit = (unit: number): boolean => units.has(unit)
    const numbers = new Set<number>()
    for (const unit of units) for (const group of this.unitGroups.of(unit)) numbers.add(group)
    const entries: ZoneEntry[] = []
    for (const number of numbers) {
      const name = this.names.get(number) ?? ''
      const hasNames = this.groups.get(name)?.units.hasNamesIn(units) === true
      const part = { hasNames, unitOf: addressUnit, takesUnit }
      for (const entry of fresh.get(name) ?? this.entriesOf(name, part)) {
        if (units.has(unitOf(entry))) entries.push(entry)
      }
    }
    return entries
  }

  /** Writes all shards: their number changes, or most groups changed. */
  private *rebuild(changed: readonly string[], fresh: Fresh): Steps<void> {
    const names = new Set([...this.groups.keys(), ...changed])
    const build = new WholeBuild()
    this.groups.clear()
    this.names.clear()
    this.lastNumber = 0
    this.unitGroups.clear()
    this.weight = 0
    for (const name of names) {
      const entries = fresh.get(name) ?? this.entriesOf(name)
      this.add(name, new GroupUnits(entries))
      build.add(entries)
      yield
    }
    const count = shardCountFor(this.weight)
    this.built = []
    this.listed = []
    this.counts = []
    this.total = 0
    for (const built of build.shards(count, (units) => this.entriesIn(units, fresh))) {
      this.put(this.built.length, built)
      yield
    }
  }

  private put(shard: number, built: BuiltShard): void {
    const count = countRecords(built.bytes)
    this.total += count - (this.counts[shard] ?? 0)
    this.counts[shard] = count
    this.built[shard] = built
    this.listed[shard] = built.bytes
  }
}
