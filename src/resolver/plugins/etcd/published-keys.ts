/**
 * The keys of an etcd at a gateway, from the tree that the exporter publishes.
 * @module
 */

import { ROOT } from '../../../dns/names/name.ts'
import type { Shard } from '../../../snapshot/read/shard.ts'
import { shardRecords } from '../../../snapshot/read/shard-records.ts'
import type { Snapshot } from '../../../snapshot/read/snapshot.ts'
import { KEYS_TYPE, readStoredKey, type StoredKey } from '../../../snapshot/records/stored-keys.ts'
import type { SnapshotSource } from '../../contract/host.ts'
import type { MaybePromise } from '../../contract/maybe-promise.ts'
import { KeyTable } from './key-table.ts'

/** Shards that are loaded at a time. */
const LOADS_AT_ONCE = 16

/** Keeps the keys of the newest snapshot in memory; reads only shards that changed. */
export class PublishedKeys {
  private readonly source: SnapshotSource
  private table: KeyTable | undefined
  private generation = 0
  private shards: readonly Shard[] = []

  constructor(source: SnapshotSource) {
    this.source = source
  }

  /**
   * Returns the keys of a snapshot or a newer one, those before it while a shard is unavailable,
   * or `undefined`.
   */
  tableOf(snapshot: Snapshot): MaybePromise<KeyTable | undefined> {
    return snapshot.info.generation === this.generation ? this.table : this.read(snapshot)
  }

  private async read(snapshot: Snapshot): Promise<KeyTable | undefined> {
    let newest: Snapshot | undefined = snapshot
    let missingBefore = Number.POSITIVE_INFINITY
    while (newest !== undefined) {
      const missing = [...newest.shards.keys()].filter((i) => newest?.shards[i] === undefined)
      if (missing.length === 0) {
        this.take(newest)
        return this.table
      }
      if (missing.length >= missingBefore) return this.table
      missingBefore = missing.length
      await Promise.all(missing.slice(0, LOADS_AT_ONCE).map((i) => this.source.load(i)))
      newest = this.source.current()
    }
    return this.table
  }

  private take({ info, shards }: Snapshot): void {
    const next = shards.filter((shard) => shard !== undefined)
    const isSameSplit = next.length === this.shards.length
    const table = isSameSplit && this.table !== undefined ? this.table : new KeyTable()
    const old = this.shards.filter((shard, i) => shard !== next[i])
    const changed = table === this.table ? next.filter((s, i) => s !== this.shards[i]) : next
    if (table === this.table) {
      for (const { key } of old.flatMap(keysOf)) table.delete(key)
    }
    // In order, each key is added at the end.
    const added = changed.flatMap(keysOf).sort((a, b) => (a.key < b.key ? -1 : 1))
    for (const stored of added) table.set(stored)
    for (const shard of next) shard.isUsed = true
    this.table = table
    this.shards = next
    this.generation = info.generation
  }
}

function keysOf(shard: Shard): StoredKey[] {
  return [...shardRecords(shard, ROOT)].flatMap(({ type, rdata }) => {
    const stored = type === KEYS_TYPE ? readStoredKey(rdata) : undefined
    return stored === undefined ? [] : [stored]
  })
}
