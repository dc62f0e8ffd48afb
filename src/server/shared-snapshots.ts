/**
 * Snapshots in memory that threads share: one thread follows the clusters, all answer from the same
 * bytes. A shard is copied once, when it is new.
 * @module
 */
import type { SnapshotSource } from '../chain/host.ts'
import { openShard } from '../snapshot/read/open-shard.ts'
import type { Shard } from '../snapshot/read/shard.ts'
import { Snapshot, type SnapshotInfo } from '../snapshot/read/snapshot.ts'
import { type ClusterWanted, keyOf } from './cluster-sources.ts'
import type { Clusters } from './server.ts'

/** What is known of a cluster, as it goes from thread to thread. */
export type SharedSnapshot = {
  readonly freshness: ReturnType<SnapshotSource['freshness']>
  /** Absent as long as there is none. */
  readonly snapshot?: {
    readonly info: SnapshotInfo
    /** Bytes in shared memory, by numbers that no other bytes have. */
    readonly shards: readonly { readonly id: number; readonly bytes: Uint8Array }[]
  }
}

type SharedShard = { readonly id: number; readonly bytes: Uint8Array }

/** Copies snapshots into shared memory. */
export class SnapshotSharer {
  /** Shards that are not used any more are forgotten with their copies. */
  private readonly copies = new WeakMap<Shard, SharedShard>()
  private lastId = 0

  /** Copies what is new in the snapshot that a source has now. */
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

/** Clusters that another thread follows. */
export class SharedClusters implements Clusters {
  private readonly mirrors = new Map<string, Mirror>()

  /** Takes what is known of a cluster, by its key. */
  take(key: string, shared: SharedSnapshot): void {
    this.mirror(key).take(shared)
  }

  /** Nothing is to be prepared. */
  async prepare(): Promise<void> {}

  /** Finds the snapshots that the other thread has, or will have, for a directive. */
  open(directive: ClusterWanted['directive'], tree?: ClusterWanted['tree']): SnapshotSource {
    return this.mirror(keyOf({ directive, tree: tree ?? { kind: 'cluster' } })).source
  }

  /** Forgets what no directive of `inUse` needs. */
  keep(inUse: readonly ClusterWanted[]): void {
    const keys = new Set(inUse.map(keyOf))
    for (const key of this.mirrors.keys()) if (!keys.has(key)) this.mirrors.delete(key)
  }

  /** The other thread has waited, and said what is not read yet. */
  ready(): Promise<boolean> {
    return Promise.resolve(true)
  }

  private mirror(key: string): Mirror {
    const known = this.mirrors.get(key) ?? new Mirror()
    this.mirrors.set(key, known)
    return known
  }
}

/** What one cluster's snapshots are at the moment. */
class Mirror {
  private current: Snapshot | undefined
  private freshness: SharedSnapshot['freshness'] = 'partial'
  private shards: ReadonlyMap<number, Shard> = new Map()
  readonly source: SnapshotSource = {
    current: () => this.current,
    load: () => Promise.resolve(this.current),
    freshness: () => this.freshness,
  }

  take({ freshness, snapshot }: SharedSnapshot): void {
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
