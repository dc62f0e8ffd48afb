/**
 * Shares snapshots between threads: the main thread watches the clusters and copies each new shard
 * into shared memory once; all workers answer from these bytes.
 * @module
 */
import type { SnapshotSource } from '../chain/host.ts'
import { openShard } from '../snapshot/read/open-shard.ts'
import type { Shard } from '../snapshot/read/shard.ts'
import { Snapshot, type SnapshotInfo } from '../snapshot/read/snapshot.ts'
import { type ClusterWanted, keyOf } from './cluster-sources.ts'
import type { Clusters } from './server.ts'

/** The state of a cluster, as the main thread sends it to workers. */
export type SharedSnapshot = {
  readonly freshness: ReturnType<SnapshotSource['freshness']>
  /** Absent before the first snapshot. */
  readonly snapshot?: {
    readonly info: SnapshotInfo
    /** Shards in shared memory; equal ids mean equal bytes. */
    readonly shards: readonly { readonly id: number; readonly bytes: Uint8Array }[]
  }
}

type SharedShard = { readonly id: number; readonly bytes: Uint8Array }

/** Copies snapshots into shared memory. */
export class SnapshotSharer {
  /** Weak, so that the copy of an unused shard is freed with it. */
  private readonly copies = new WeakMap<Shard, SharedShard>()
  private lastId = 0

  /** Copies the new shards of a source's current snapshot. */
  share(source: SnapshotSource): SharedSnapshot {
    const freshness = source.freshness()
    const current = source.current()
    if (current === undefined) return { freshness }
    const shards = current.shards.flatMap((shard) =>
      shard === undefined ? [] : [this.copy(shard)],
    )
    return { freshness, snapshot: { info: current.info, shards } }
  }

  private copy(shard: Shard): SharedShard {
    const known = this.copies.get(shard)
    if (known !== undefined) return known
    const bytes = new Uint8Array(new SharedArrayBuffer(shard.bytes.length))
    bytes.set(shard.bytes)
    const copy = { id: ++this.lastId, bytes }
    this.copies.set(shard, copy)
    return copy
  }
}

/** The clusters of a worker, which the main thread watches. */
export class SharedClusters implements Clusters {
  private readonly mirrors = new Map<string, Mirror>()

  /** Updates the cluster with this key. */
  update(key: string, shared: SharedSnapshot): void {
    this.mirror(key).update(shared)
  }

  /** Does nothing. */
  async prepare(): Promise<void> {}

  /** Returns the snapshots that the main thread has, or will have, for a directive. */
  open(directive: ClusterWanted['directive'], tree?: ClusterWanted['tree']): SnapshotSource {
    return this.mirror(keyOf({ directive, tree: tree ?? { kind: 'cluster' } })).source
  }

  /** Drops the clusters that no directive of `inUse` needs. */
  keep(inUse: readonly ClusterWanted[]): void {
    const keys = new Set(inUse.map(keyOf))
    for (const key of this.mirrors.keys()) if (!keys.has(key)) this.mirrors.delete(key)
  }

  /** Always true: the main thread has waited and logged unread clusters. */
  ready(): Promise<boolean> {
    return Promise.resolve(true)
  }

  private mirror(key: string): Mirror {
    const known = this.mirrors.get(key) ?? new Mirror()
    this.mirrors.set(key, known)
    return known
  }
}

/** The current snapshot of one cluster. */
class Mirror {
  private current: Snapshot | undefined
  private freshness: SharedSnapshot['freshness'] = 'partial'
  private shards: ReadonlyMap<number, Shard> = new Map()
  readonly source: SnapshotSource = {
    current: () => this.current,
    load: () => Promise.resolve(this.current),
    freshness: () => this.freshness,
  }

  update({ freshness, snapshot }: SharedSnapshot): void {
    this.freshness = freshness
    if (snapshot === undefined) return
    const { info, shards } = snapshot
    const known = this.shards
    this.shards = new Map(
      shards.map(({ id, bytes }) => [id, known.get(id) ?? openShard(bytes)] as const),
    )
    const isSame = this.current?.info.generation === info.generation
    if (!isSame) this.current = new Snapshot(info, [...this.shards.values()])
  }
}
