/**
 * The names of a tree before its first whole build, in shards that are each built when a query
 * needs them: a cluster with 50,000 endpoints takes a second to build, one Service a millisecond.
 *
 * Shards are more and smaller than those of a whole build, so that each has few groups. They have
 * no addresses: which groups have pointers in a shard is not known without all entries.
 * @module
 */

import { SHARDS_MAX } from '../format/manifest.ts'
import { addressUnit, shardNameKey } from '../format/shard-key.ts'
import { isByAddress, type NamedEntry, type ZoneEntry } from '../records/zone-entry.ts'
import { buildShard } from './build-shards.ts'
import type { EntriesOf, EntriesPart } from './grouped-shards.ts'

/** The groups of a tree, and where their names are, known without making their entries. */
export type GroupPlaces = {
  /** Groups with few entries, whose names may be in any shard. */
  readonly everywhere: readonly string[]
  /** Other groups; all names of one have the last three labels of `owner`. */
  readonly placed: Iterable<{ readonly group: string; readonly owner: Uint8Array }>
}

const NAMES: EntriesPart = { hasNames: true, unitOf: addressUnit, takesUnit: () => false }

/** Shards with the names of one state of a tree's groups. */
export class EarlyShards {
  /** Number of shards, a power of two up to 4096: one or two for each group if possible. */
  readonly count: number
  private readonly everywhere: readonly ZoneEntry[]
  /** The groups of each shard; none where absent. */
  private readonly groups: string[][] = []
  private readonly entriesOf: EntriesOf

  constructor({ everywhere, placed }: GroupPlaces, entriesOf: EntriesOf) {
    const listed = [...placed]
    let count = 1
    while (count < listed.length && count < SHARDS_MAX) count *= 2
    this.count = count
    this.everywhere = everywhere.flatMap((group) => entriesOf(group, NAMES))
    this.entriesOf = entriesOf
    for (const { group, owner } of listed) {
      const shard = this.shardOf(owner)
      const groups = this.groups[shard] ?? []
      groups.push(group)
      this.groups[shard] = groups
    }
  }

  /**
   * Builds a shard: the bytes that `buildShards` gives for all entries but those of addresses.
   * @throws {SnapshotError} like `buildShard`
   */
  build(shard: number): Uint8Array {
    const entries: NamedEntry[] = []
    const take = (some: readonly ZoneEntry[]): void => {
      for (const entry of some) {
        if (!isByAddress(entry) && this.shardOf(entry.owner) === shard) entries.push(entry)
      }
    }
    take(this.everywhere)
    for (const group of this.groups[shard] ?? []) take(this.entriesOf(group, NAMES))
    return buildShard(entries).bytes
  }

  private shardOf(owner: Uint8Array): number {
    return shardNameKey(owner, 0, owner.length) & (this.count - 1)
  }
}
