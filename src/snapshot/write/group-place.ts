/**
 * Where a group's entries belong, and what they say, in few bytes: a snapshot of a million records
 * has tens of thousands of groups.
 * @module
 */
import { word } from '../../bytes/bytes.ts'
import {
  type AddressEntry,
  isByAddress,
  type NamedEntry,
  type ZoneEntry,
} from '../../records/zone-entry.ts'
import { addressKey, addressUnit, nameKey } from '../format/shard-key.ts'
import { type EntryDigest, EntryDigester } from './entry-digest.ts'

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
    const units = new Units()
    for (const entry of entries) if (!isByAddress(entry)) units.addName(entry)
    this.nameCount = units.count
    for (const entry of entries) if (isByAddress(entry)) units.addAddress(entry)
    this.weight = weight
    this.count = units.count
    this.fields = units.fields()
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

/** The units of some entries. One whose entries do not follow each other is listed again. */
class Units {
  private readonly digester = new EntryDigester()
  private readonly list: Unit[] = []
  private last: Unit | undefined
  private owner: Uint8Array | undefined

  get count(): number {
    return this.list.length
  }

  addName(entry: NamedEntry): void {
    const { owner } = entry
    // The sets of a name follow each other.
    if (owner !== this.owner) {
      const unit = nameKey(owner, 0, owner.length)
      this.begin(unit, unit)
      this.owner = owner
    }
    this.take(entry)
  }

  addAddress(entry: AddressEntry): void {
    this.begin(addressUnit(entry.address), addressKey(entry.address))
    this.take(entry)
  }

  fields(): Int32Array {
    const fields = new Int32Array(FIELDS * this.list.length)
    let at = 0
    for (const { unit, key, low, high } of this.list) {
      fields[at] = unit
      fields[at + 1] = key
      fields[at + 2] = low
      fields[at + 3] = high
      at += FIELDS
    }
    return fields
  }

  private begin(unit: number, key: number): void {
    if (this.last?.unit === unit) return
    this.last = { unit, key, low: 0, high: 0 }
    this.list.push(this.last)
  }

  private take(entry: ZoneEntry): void {
    if (this.last !== undefined) this.digester.addTo(this.last, entry)
  }
}

type Unit = EntryDigest & { readonly unit: number; readonly key: number }

/** The unit that an entry belongs to. */
export function unitOf(entry: ZoneEntry): number {
  return isByAddress(entry)
    ? addressUnit(entry.address)
    : nameKey(entry.owner, 0, entry.owner.length)
}
