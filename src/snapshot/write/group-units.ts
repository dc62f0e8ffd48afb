/**
 * The units that a group has entries in, with a digest of its entries in each: 16 bytes a unit, as
 * a snapshot of a million records has tens of thousands of groups.
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

/** Numbers of each unit: itself, its shard key, and the two halves of its digest. */
const FIELDS = 4

/** The units of one group, those of names first. */
export class GroupUnits {
  /** Number of units. */
  readonly count: number
  /** Records and names in the group's entries; the number of shards follows from the sum. */
  readonly weight: number
  private readonly nameCount: number
  private readonly fields: Int32Array

  constructor(entries: readonly ZoneEntry[]) {
    const units = new UnitList()
    for (const entry of entries) if (!isByAddress(entry)) units.addName(entry)
    this.nameCount = units.count
    for (const entry of entries) if (isByAddress(entry)) units.addAddress(entry)
    this.weight = countEntries(entries)
    this.count = units.count
    this.fields = units.fields()
  }

  /** Returns a unit by its index here. */
  unit(index: number): number {
    return word(this.fields, FIELDS * index)
  }

  /** Returns the shard key of a unit: its lowest bits are the index of the shard. */
  key(index: number): number {
    return word(this.fields, FIELDS * index + 1)
  }

  /**
   * Returns the index of the unit here that equals `other`'s unit at `index`, digest included, or
   * -1.
   * @param hint where the search starts; it wraps around
   */
  indexOfSame(other: GroupUnits, index: number, hint: number): number {
    for (let i = 0; i < this.count; i++) {
      const at = (hint + i) % this.count
      if (this.isSame(at, other, index)) return at
    }
    return -1
  }

  /** Returns whether the group has names in one of some units. */
  hasNamesIn(units: ReadonlySet<number>): boolean {
    for (let i = 0; i < this.nameCount; i++) if (units.has(this.unit(i))) return true
    return false
  }

  private isSame(index: number, { fields }: GroupUnits, otherIndex: number): boolean {
    for (let i = 0; i < FIELDS; i++) {
      if (this.fields[FIELDS * index + i] !== fields[FIELDS * otherIndex + i]) return false
    }
    return true
  }
}

/** Collects units. A unit whose entries are not consecutive is listed more than once. */
class UnitList {
  private readonly digester = new EntryDigester()
  private readonly list: (EntryDigest & { readonly unit: number; readonly key: number })[] = []
  private owner: Uint8Array | undefined

  get count(): number {
    return this.list.length
  }

  addName(entry: NamedEntry): void {
    const { owner } = entry
    // The RRsets of a name are consecutive: one hash serves all.
    if (owner !== this.owner) {
      const unit = nameKey(owner, 0, owner.length)
      this.start(unit, unit)
      this.owner = owner
    }
    this.digest(entry)
  }

  addAddress(entry: AddressEntry): void {
    this.start(addressUnit(entry.address), addressKey(entry.address))
    this.digest(entry)
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

  private start(unit: number, key: number): void {
    if (this.list.at(-1)?.unit !== unit) this.list.push({ unit, key, low: 0, high: 0 })
  }

  private digest(entry: ZoneEntry): void {
    const last = this.list.at(-1)
    if (last !== undefined) this.digester.addTo(last, entry)
  }
}

/** Returns the unit of an entry. */
export function unitOf(entry: ZoneEntry): number {
  return isByAddress(entry)
    ? addressUnit(entry.address)
    : nameKey(entry.owner, 0, entry.owner.length)
}

/** Counts records and names before duplicates are removed: an estimate of the size in shards. */
export function countEntries(entries: readonly ZoneEntry[]): number {
  let count = 0
  for (const entry of entries) {
    if (entry.kind === 'records') count += entry.rdata.length
    else if (entry.kind !== 'name' || entry.isImplied !== true) count++
  }
  return count
}
