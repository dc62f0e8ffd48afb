/**
 * Where a group's entries belong, and what they say, in few octets: a snapshot of a million records
 * has tens of thousands of groups.
 * @module
 */
import { word } from '../dns/bytes.ts'
import { isByAddress, type ZoneEntry } from '../records/zone-entry.ts'
import { EntryDigest } from './entry-digest.ts'
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
    const names = new Map<number, Unit>()
    const addresses = new Map<number, Unit>()
    for (const entry of entries) {
      const unit = unitOf(entry)
      const units = isByAddress(entry) ? addresses : names
      const known = units.get(unit)
      if (known !== undefined) known.digest.add(entry)
      else {
        const digest = new EntryDigest()
        digest.add(entry)
        units.set(unit, { key: isByAddress(entry) ? addressKey(entry.address) : unit, digest })
      }
    }
    this.weight = weight
    this.nameCount = names.size
    this.count = names.size + addresses.size
    this.fields = new Int32Array(FIELDS * this.count)
    let at = 0
    for (const units of [names, addresses]) {
      for (const [unit, { key, digest }] of units) {
        this.fields.set([unit, key, digest.low, digest.high], at)
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

type Unit = { readonly key: number; readonly digest: EntryDigest }

/** The unit that an entry belongs to. */
export function unitOf(entry: ZoneEntry): number {
  return isByAddress(entry)
    ? addressUnit(entry.address)
    : nameKey(entry.owner, 0, entry.owner.length)
}
