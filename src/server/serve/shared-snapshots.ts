/**
 * Shares snapshots between threads: the one that watches the clusters copies each new shard into
 * shared memory once; all others answer from these bytes.
 * @module
 */

import { CLUSTER_TREE } from '../../corefile/cluster-tree.ts'
import type { SnapshotSource } from '../../resolver/contract/host.ts'
import { Shard } from '../../snapshot/read/shard.ts'
import { Snapshot } from '../../snapshot/read/snapshot.ts'
import type { Clusters } from './cluster-sources.ts'
import { type ClusterWanted, keyOf } from './cluster-wanted.ts'
import type { KnownState, SentSnapshot, ServiceWanted, SharedSnapshot } from './worker-messages.ts'

/** Interval of the checks for clusters whose freshness has changed. */
export const FRESHNESS_MS = 500

type Seen = {
  readonly snapshot: Snapshot | undefined
  readonly freshness: SharedSnapshot['freshness']
}

/** A cluster, and where its snapshots come from. */
export type WatchedCluster = ClusterWanted & { readonly source: SnapshotSource }

/** Finds what has changed in clusters, and copies it for other threads. */
export class SnapshotSharer {
  /** Copies in shared memory. Weak, so that the copy of an unused shard is freed with it. */
  private readonly copies = new WeakMap<Shard, Uint8Array>()
  /** The state of each cluster at the last call of `changes`. */
  private readonly seen = new Map<string, Seen>()
  private readonly isForOne: boolean

  /**
   * @param isForOne whether there is one receiver, which may own the copies. V8 does not count
   * shared memory when it decides when to collect garbage
   */
  constructor({ isForOne = false }: { readonly isForOne?: boolean } = {}) {
    this.isForOne = isForOne
  }

  /** Returns the clusters that have changed since the last call, by key. */
  changes(clusters: readonly WatchedCluster[]): [string, SharedSnapshot][] {
    return clusters.flatMap(({ source, ...wanted }) => {
      const key = keyOf(wanted)
      const last = this.seen.get(key)
      const now = { snapshot: source.current(), freshness: source.freshness() }
      const isSame = last?.snapshot === now.snapshot && last?.freshness === now.freshness
      if (last !== undefined && isSame) return []
      this.seen.set(key, now)
      return [[key, this.share(now, last?.snapshot)]]
    })
  }

  /** Copies the shards of a state, or those that differ from a previous snapshot. */
  share({ snapshot, freshness }: Seen, previous?: Snapshot): SharedSnapshot {
    if (snapshot === undefined || snapshot === previous) return { freshness }
    const { info, shards } = snapshot
    const shardCount = shards.length
    const isPatch = previous?.shards.length === shardCount
    const before = isPatch ? previous.shards : []
    const changed = shards.flatMap((shard, i) =>
      shard === undefined || shard === before[i] ? [] : [[i, this.copy(shard)] as const],
    )
    return { freshness, snapshot: { info, shardCount, isPatch, changed } }
  }

  private copy(shard: Shard): Uint8Array {
    const known = this.copies.get(shard)
    if (known !== undefined) return known
    const { length } = shard.bytes
    const copy = new Uint8Array(
      this.isForOne ? new ArrayBuffer(length) : new SharedArrayBuffer(length),
    )
    copy.set(shard.bytes)
    if (!this.isForOne) this.copies.set(shard, copy)
    return copy
  }
}

/** What a thread can request of the one that watches its clusters. */
type WatchingThread = {
  /** Queries it for a Service. */
  readonly stateOf?: (wanted: ServiceWanted) => Promise<KnownState>
}

/** The clusters of a thread that another one watches. */
export class SharedClusters implements Clusters {
  private readonly mirrors = new Map<string, Mirror>()
  private readonly watching: WatchingThread

  constructor(watching: WatchingThread = {}) {
    this.watching = watching
  }

  /** Updates the cluster with this key. */
  update(key: string, shared: SharedSnapshot): void {
    this.mirror(key).update(shared)
  }

  /** Does nothing. */
  async prepare(): Promise<void> {}

  /** Returns the snapshots that the other thread has, or will have, of a cluster. */
  open(
    directive: ClusterWanted['directive'],
    tree: ClusterWanted['tree'] = CLUSTER_TREE,
  ): SnapshotSource {
    return this.mirror(keyOf({ directive, tree })).source
  }

  /** Drops the clusters that no directive of `inUse` needs. */
  keep(inUse: readonly ClusterWanted[]): void {
    const keys = new Set(inUse.map(keyOf))
    for (const key of this.mirrors.keys()) if (!keys.has(key)) this.mirrors.delete(key)
  }

  /** Always true: the other thread has waited and logged unread clusters. */
  ready(): Promise<boolean> {
    return Promise.resolve(true)
  }

  private mirror(key: string): Mirror {
    const known = this.mirrors.get(key) ?? new Mirror(key, this.watching)
    this.mirrors.set(key, known)
    return known
  }
}

/** The current snapshot of one cluster. */
class Mirror {
  private current: Snapshot | undefined
  private received: Snapshot | undefined
  private freshness: SharedSnapshot['freshness'] = 'partial'
  readonly source: SnapshotSource

  constructor(cluster: string, { stateOf }: WatchingThread) {
    this.source = {
      current: () => this.current,
      load: () => Promise.resolve(this.current),
      freshness: () => this.freshness,
      serviceState: (namespace, name) => stateOf?.({ cluster, namespace, name }),
    }
  }

  update({ freshness, snapshot }: SharedSnapshot): void {
    if (snapshot !== undefined) this.received = this.patched(snapshot)
    // A thread that replaces another one reads all objects again: until then the old names stay.
    const isKept = freshness === 'partial' && this.freshness !== 'partial'
    this.freshness = isKept ? 'stale' : freshness
    if (!isKept) this.current = this.received
  }

  private patched({ info, shardCount, isPatch, changed }: SentSnapshot): Snapshot {
    const before = isPatch ? this.received?.shards : undefined
    const shards = Array.from({ length: shardCount }, (_, i) => before?.[i])
    // The other thread has checked the bytes.
    for (const [index, bytes] of changed) shards[index] = new Shard(bytes)
    return new Snapshot(info, shards)
  }
}
