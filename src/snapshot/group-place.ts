/**
 * Where a group's entries belong, and what they say, in few octets: a snapshot of a million records
 * has tens of thousands of groups.
 * @module
 */
import { word } from '../dns/bytes.ts'
import { isByAddress, type ZoneEntry } from '../records/zone-entry.ts'
import { type EntryDigest, EntryDigester } from './entry-digest.ts'
import { addressKey, addressUnit, nameKey } from './shard-key.ts'

/** Numbers that are kept of each unit: itself, its key, and the two halves of its digest. */
const FIELDS = 4

/** The units that a group says something in, those of names first. */
export class GroupPlace {
  /** Number of units. */
  readonly count: number
  /** Records and names, for the number of shards. */
  readonly weight: number
  private readonly nameCount: number
  private readonly fields: Int32Array

  /** @param weight of these entries */
  constructor(entries: readonly ZoneEntry[], weight: number) {
    const digester = new EntryDigester()
    const names = new Map<number, Unit>()
    const addresses = new Map<number, Unit>()
    let last: Unit | undefined
    for (const entry of entries) {
      if (isByAddress(entry)) {
        const unit = addressUnit(entry.address)
        const known = addresses.get(unit)
        const place = known ?? { unit, key: addressKey(entry.address), low: 0, high: 0 }
        if (known === undefined) addresses.set(unit, place)
        digester.addTo(place, entry)
        continue
      }
      const unit = unitOf(entry)
      // All names of a Service are one unit.
      if (last?.unit !== unit) {
        last = names.get(unit) ?? { unit, key: unit, low: 0, high: 0 }
        names.set(unit, last)
      }
      digester.addTo(last, entry)
    }
    this.weight = weight
    this.nameCount = names.size
    this.count = names.size + addresses.size
    this.fields = new Int32Array(FIELDS * this.count)
    let at = 0
    for (const units of [names, addresses]) {
      for (const { unit, key, low, high } of units.values()) {
        this.fields[at] = unit
        this.fields[at + 1] = key
        this.fields[at + 2] = low
        this.fields[at + 3] = high
        at += FIELDS
      }
    }
  }

  /** A unit by its place among the group's. */
  unit(index: number): number {
    return word(this.fields, FIELDS * index)
  }

  /** What the shard of a unit follows from: its lowest bits. */
  key(index: number): number {
    return word(this.fields, FIELDS * index + 1)
  }

  /**
   * Finds the unit here of which another place says the same in its unit at `index`; -1 without.
   * @param hint where to begin the search
   */
  indexOfSame(other: GroupPlace, index: number, hint: number): number {
    for (let i = 0; i < this.count; i++) {
      const at = (hint + i) % this.count
      if (this.isSame(at, other, index)) return at
    }
    return -1
  }

  /** Whether some units are of names of the group. */
  hasNamesIn(units: ReadonlySet<number>): boolean {
    for (let i = 0; i < this.nameCount; i++) if (units.has(this.unit(i))) return true
    return false
  }

  private isSame(index: number, { fields }: GroupPlace, otherIndex: number): boolean {
    for (let i = 0; i < FIELDS; i++) {
      if (this.fields[FIELDS * index + i] !== fields[FIELDS * otherIndex + i]) return false
    }
    return true
  }
}

type Unit = EntryDigest & { readonly unit: number; readonly key: number }

/** The unit that an entry belongs to. */
export function unitOf(entry: ZoneEntry): number {
  return isByAddress(entry)
    ? addressUnit(entry.address)
    : nameKey(entry.owner, 0, entry.owner.length)
}
