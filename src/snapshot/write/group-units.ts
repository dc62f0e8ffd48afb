/**
 * The units that a group has entries in, with a digest of its entries in each: 16 bytes a unit, as
 * a snapshot of a million records has tens of thousands of groups.
 * @module
 */
import { byteAt, word } from '../../dns/bytes/bytes.ts'
import { addressUnit, shardAddressKey, shardNameKey } from '../format/shard-key.ts'
import {
  type AddressEntry,
  isByAddress,
  type NamedEntry,
  type Rdata,
  type ZoneEntry,
} from '../records/zone-entry.ts'

/** Numbers of each unit: itself, its shard key, and the two halves of its digest. */
const FIELDS = 4
/** Where the lower half of the digest is. */
const DIGEST = 2

/** The units of one group, those of names first. */
export class GroupUnits {
  /** Number of units. */
  readonly count: number
  /** Records and names in the group's entries; the number of shards follows from the sum. */
  readonly weight: number
  private readonly nameCount: number
  private readonly fields: Int32Array
  /** The last unit with each lower half of a digest; only of a group that is compared. */
  private byDigest: ReadonlyMap<number, number> | undefined

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
   * Returns the index of a unit here that equals `other`'s unit at `index`, digest included, or -1.
   * May miss one whose digest equals another's by half: it then counts as changed.
   * @param hint where it probably is
   */
  indexOfSame(other: GroupUnits, index: number, hint: number): number {
    if (hint < this.count && this.isSame(hint, other, index)) return hint
    this.byDigest ??= this.indexByDigest()
    const at = this.byDigest.get(word(other.fields, FIELDS * index + DIGEST)) ?? -1
    return at >= 0 && this.isSame(at, other, index) ? at : -1
  }

  private indexByDigest(): Map<number, number> {
    const index = new Map<number, number>()
    for (let i = 0; i < this.count; i++) index.set(word(this.fields, FIELDS * i + DIGEST), i)
    return index
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
      const unit = shardNameKey(owner, 0, owner.length)
      this.start(unit, unit)
      this.owner = owner
    }
    this.digest(entry)
  }

  addAddress(entry: AddressEntry): void {
    this.start(addressUnit(entry.address), shardAddressKey(entry.address))
    this.digest(entry)
  }

  fields(): Int32Array {
    const fields = new Int32Array(FIELDS * this.list.length)
    let at = 0
    for (const { unit, key, low, high } of this.list) {
      fields[at++] = unit
      fields[at++] = key
      fields[at++] = low
      fields[at++] = high
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
    : shardNameKey(entry.owner, 0, entry.owner.length)
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

const FIRST_SEED = 1
const SECOND_SEED = 0x5bd1e995
const FIRST_FACTOR = 0x85ebca6b
const SECOND_FACTOR = 0xc2b2ae35

/** A digest of entries in any order, 64 bits: the chance of missing a change is 2^-64. */
type EntryDigest = { low: number; high: number }

/** Computes digests. */
export class EntryDigester {
  private low = 0
  private high = 0
  /** The last namespace and its hash: neighbours mostly share theirs. */
  private namespace = ''
  private namespaceLow = FIRST_SEED
  private namespaceHigh = SECOND_SEED

  /** Adds an entry to a digest. */
  addTo(digest: EntryDigest, entry: ZoneEntry): void {
    this.beginIn(entry.namespace)
    this.mixEntry(entry)
    digest.low = (digest.low + this.low) | 0
    digest.high = (digest.high + this.high) | 0
  }

  private mixEntry(entry: ZoneEntry): void {
    switch (entry.kind) {
      case 'records':
        this.mixBytes(entry.owner)
        this.mix(entry.type)
        this.mix(entry.ttlSeconds * 2 + (entry.isGlue === true ? 1 : 0))
        for (const rdata of entry.rdata) this.mixRdata(rdata)
        return
      case 'pointer':
        this.mixBytes(entry.address)
        this.mixBytes(entry.target)
        this.mix(entry.ttlSeconds * 2 + (entry.isYielding === true ? 1 : 0))
        return
      case 'pod-address':
        this.mixBytes(entry.address)
        this.mix(-4)
        return
      case 'name':
        this.mixBytes(entry.owner)
        this.mix(entry.isImplied === true ? -1 : -2)
        return
      case 'address-names':
        this.mixBytes(entry.owner)
        this.mix(-3)
    }
  }

  private mixRdata({ bytes, target }: Rdata): void {
    this.mixBytes(bytes)
    if (target === undefined) this.mix(-5)
    else this.mixBytes(target)
  }

  private beginIn(namespace: string): void {
    if (namespace !== this.namespace) {
      this.low = FIRST_SEED
      this.high = SECOND_SEED
      for (let i = 0; i < namespace.length; i++) this.mix(namespace.charCodeAt(i))
      this.namespace = namespace
      this.namespaceLow = this.low
      this.namespaceHigh = this.high
    }
    this.low = this.namespaceLow
    this.high = this.namespaceHigh
  }

  /** Mixes the number of bytes, then four bytes at a time. */
  private mixBytes(bytes: Uint8Array): void {
    const size = bytes.length
    this.mix(size)
    let at = 0
    for (; at + 4 <= size; at += 4) {
      const low = byteAt(bytes, at) | (byteAt(bytes, at + 1) << 8)
      this.mix(low | (byteAt(bytes, at + 2) << 16) | (byteAt(bytes, at + 3) << 24))
    }
    if (at === size) return
    let last = 0
    for (let i = size - 1; i >= at; i--) last = (last << 8) | byteAt(bytes, i)
    this.mix(last)
  }

  private mix(value: number): void {
    const low = Math.imul(this.low ^ value, FIRST_FACTOR)
    this.low = low ^ (low >>> 13)
    const high = Math.imul(this.high ^ value, SECOND_FACTOR)
    this.high = high ^ (high >>> 16)
  }
}
