/**
 * Names in snapshots that were built here.
 * @module
 */
import type { BuiltSnapshot } from '../../../src/cluster/follow/snapshot-builder.ts'
import { openShard } from '../../../src/snapshot/read/open-shard.ts'
import { Snapshot } from '../../../src/snapshot/read/snapshot.ts'
import { hostKey } from '../../../src/snapshot/records/host-claims.ts'
import { labels } from '../../snapshot/entries.ts'

/** A snapshot of these bytes, which says nothing that a test could mistake for a fact. */
export function openBuilt({ shards, ttlSeconds }: BuiltSnapshot): Snapshot {
  return new Snapshot(
    { generation: 0, timeMs: 0, ttlSeconds, origins: [] },
    shards.map((bytes) => openShard(bytes)),
  )
}

/** Those of some names, relative to the origin, that a snapshot has. */
export function namesIn(snapshot: Snapshot | undefined, names: readonly string[]): string[] {
  return names.filter((text) => hasName(snapshot, labels(text)))
}

/** Those of some hostnames that a snapshot of hostnames has. */
export function hostsIn(snapshot: Snapshot | undefined, names: readonly string[]): string[] {
  return names.filter((text) => {
    const key = hostKey(labels(text), 0)
    return key !== undefined && hasName(snapshot, key)
  })
}

function hasName(snapshot: Snapshot | undefined, name: Uint8Array): boolean {
  const shard = snapshot?.shards[snapshot.shardOfName(name, name.length)]
  return shard !== undefined && shard.findNode(name, name.length) !== 0
}
