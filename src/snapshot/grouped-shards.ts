/**
 * Shards that follow changes: entries come in groups, and when a group changes, only the shards are
 * written again in which it says something else than before.
 *
 * Entries are not kept, as they would take more memory than the shards: they are made again from
 * their source for each shard that is written.
 * @module
 */
import { isByAddress, type ZoneEntry } from '../records/zone-entry.ts'
import { ancestorsOf } from './build-shards.ts'
import { EntryDigest } from './entry-digest.ts'
import { shardCountFor } from './shard-count.ts'
import { addressKey, shardOfAddress, shardOfName } from './shard-key.ts'
import { countRecords } from './shard-records.ts'
import { buildShard } from './shard-writer.ts'

/**
 * Makes the present entries of a group, none when it is no more. Names above them of fewer than
 * three labels have to be some group's own entries; what is between is added here.
 */
export type EntriesOf = (group: string, part?: EntriesPart) => readonly ZoneEntry[]

/** The part of a group that is wanted; what else comes along is passed over. */
export type EntriesPart = {
  /** Whether anything else than pointers is wanted. */
  readonly hasNames: boolean
  /** The key of an address, always the same. */
  readonly keyOf: (address: Uint8Array) => number
  /** Whether the pointers of addresses with a key are wanted. */
  readonly takesKey: (key: number) => boolean
}

/** What a group says, by the shard; and in which shards it has more than pointers. */
type Place = {
  readonly weight: number
  readonly digests: ReadonlyMap<number, number>
  readonly nameShards: readonly number[]
}

const NOWHERE: Place = { weight: 0, digests: new Map(), nameShards: [] }

/** The shards of all groups. */
export class GroupedShards {
  private readonly entriesOf: EntriesOf
  private readonly places = new Map<string, Place>()
  /** Groups that say something in each shard. */
  private members: Set<string>[] = [new Set()]
  private built: Uint8Array[] = [buildShard([])]
  private counts: number[] = [0]
  private weight = 0

  constructor(entriesOf: EntriesOf) {
    this.entriesOf = entriesOf
  }

  /** The shards; those that did not change since the last time are the same arrays. */
  get shards(): readonly Uint8Array[] {
    return this.built
  }

  /** Records in all shards. */
  get records(): number {
    return this.counts.reduce((sum, count) => sum + count, 0)
  }

  /** Brings the shards up to date with some groups. */
  update(groups: Iterable<string>): void {
    const fresh = new Map<string, readonly ZoneEntry[]>()
    for (const group of groups) fresh.set(group, this.entriesOf(group))
    for (const [group, entries] of fresh) {
      this.weight += countEntries(entries) - (this.places.get(group)?.weight ?? 0)
    }
    const count = shardCountFor(this.weight)
    if (count !== this.built.length) this.rebuild(count, fresh)
    else this.rewrite(this.place(fresh), fresh)
  }

  /** Puts changed groups in their new places. Returns the shards that this changes. */
  private place(fresh: ReadonlyMap<string, readonly ZoneEntry[]>): Set<number> {
    const changed = new Set<number>()
    for (const [group, entries] of fresh) {
      const before = this.places.get(group) ?? NOWHERE
      const after = this.placeOf(entries)
      for (const [shard, digest] of before.digests) {
        if (after.digests.get(shard) !== digest) changed.add(shard)
        if (!after.digests.has(shard)) this.members[shard]?.delete(group)
      }
      for (const shard of after.digests.keys()) {
        if (!before.digests.has(shard)) changed.add(shard)
        this.members[shard]?.add(group)
      }
      if (after.digests.size === 0) this.places.delete(group)
      else this.places.set(group, after)
    }
    return changed
  }

  private placeOf(entries: readonly ZoneEntry[]): Place {
    const digests = new Map<number, EntryDigest>()
    const nameShards: number[] = []
    for (const entry of entries) {
      const shard = this.shardOf(entry)
      if (!isByAddress(entry) && !nameShards.includes(shard)) nameShards.push(shard)
      const digest = digests.get(shard) ?? new EntryDigest()
      digest.add(entry)
      digests.set(shard, digest)
    }
    const values = new Map<number, number>()
    for (const [shard, { value }] of digests) values.set(shard, value)
    return { weight: countEntries(entries), digests: values, nameShards }
  }

  private rewrite(
    changed: ReadonlySet<number>,
    fresh: ReadonlyMap<string, readonly ZoneEntry[]>,
  ): void {
    if (changed.size === 0) return
    // Readers may hold the list of before.
    this.built = [...this.built]
    const mask = this.built.length - 1
    for (const shard of changed) {
      const entries: ZoneEntry[] = []
      const takesKey = (key: number): boolean => (key & mask) === shard
      for (const group of this.members[shard] ?? []) {
        const hasNames = this.places.get(group)?.nameShards.includes(shard) === true
        const part = { hasNames, keyOf: addressKey, takesKey }
        for (const entry of fresh.get(group) ?? this.entriesOf(group, part)) {
          if (this.shardOf(entry) === shard) entries.push(entry)
        }
      }
      this.write(shard, entries)
    }
  }

  /** Writes all shards anew: there are more of them, or fewer. */
  private rebuild(count: number, fresh: ReadonlyMap<string, readonly ZoneEntry[]>): void {
    this.built = Array.from({ length: count }, () => new Uint8Array(0))
    this.counts = this.built.map(() => 0)
    this.members = this.built.map(() => new Set())
    const lots = this.built.map((): ZoneEntry[] => [])
    for (const group of new Set([...this.places.keys(), ...fresh.keys()])) {
      const entries = fresh.get(group) ?? this.entriesOf(group)
      this.places.delete(group)
      this.place(new Map([[group, entries]]))
      for (const entry of entries) lots[this.shardOf(entry)]?.push(entry)
    }
    for (const shard of this.built.keys()) {
      this.write(shard, lots[shard] ?? [])
      lots[shard] = []
    }
  }

  private write(shard: number, entries: readonly ZoneEntry[]): void {
    const above = ancestorsOf(entries).filter((entry) => this.shardOf(entry) === shard)
    const bytes = buildShard([...entries, ...above])
    this.built[shard] = bytes
    this.counts[shard] = countRecords(bytes)
  }

  private shardOf(entry: ZoneEntry): number {
    const count = this.built.length
    return isByAddress(entry)
      ? shardOfAddress(entry.address, count)
      : shardOfName(entry.owner, entry.owner.length, count)
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
