/**
 * A cluster's snapshot in the memory of one process or isolate.
 *
 * Queries are answered from memory, and wait only for a shard that is missing, or when the origin
 * last answered so long ago that the snapshot is stale. A newer snapshot replaces the current one
 * once the shards in use are loaded, so that no query waits for a change. Until then, and while the
 * origin is away, the reader serves the current snapshot, which grows older.
 * @module
 */

import { EMPTY } from '../../dns/bytes/bytes.ts'
import { errorText } from '../../dns/bytes/unknown.ts'
import { nameOf } from '../../dns/names/name.ts'
import type { SnapshotSource } from '../../resolver/contract/host.ts'
import { SnapshotError } from '../../snapshot/format/layout.ts'
import {
  LABELS_TREE,
  type ManifestTree,
  type OpenManifest,
} from '../../snapshot/format/manifest.ts'
import type { RightsTable } from '../../snapshot/format/rights-table.ts'
import { ShardList } from '../../snapshot/format/shard-list.ts'
import { NO_LABELS, readLabels } from '../../snapshot/read/namespace-labels.ts'
import type { NamespaceFacts, NamespaceLabels, Shard } from '../../snapshot/read/shard.ts'
import { Snapshot, type SnapshotInfo } from '../../snapshot/read/snapshot.ts'
import type { Visibility } from '../../snapshot/read/visibility.ts'
import type { ReaderTimes } from '../config/reader-times.ts'
import type { GatewayClock } from '../timing/held-clock.ts'
import type { ShardHolder, ShardMemory } from './shard-memory.ts'
import { SnapshotAge } from './snapshot-age.ts'
import type { LoadedManifest, SnapshotFollower } from './snapshot-follower.ts'

/** What a reader needs. */
export type ReaderOptions = {
  readonly cluster: string
  /** Shared by the readers of a cluster's trees. */
  readonly follower: SnapshotFollower
  readonly times: ReaderTimes
  /** The tree to read; the cluster's own when left out. */
  readonly tree?: string
  readonly memory: ShardMemory
  /** Whether the visibility of some token depends on namespace labels; never when left out. */
  readonly needsLabels?: () => boolean
  /** Whether some clients see what their rights in the cluster show; none when left out. */
  readonly needsRights?: boolean
  readonly clock: GatewayClock
  /** Runs whenever a query uses the snapshot. */
  readonly onUse?: (reader: ClusterReader) => void
  /** Gets the text of an error. */
  readonly onError: (message: string) => void
}

/** One tree of a manifest. */
type Tree = ManifestTree<ShardList>

const NO_TREE: Tree = { ttlSeconds: 0, records: 0, shards: new ShardList(EMPTY) }
/** Most changed shards that are loaded before a new snapshot replaces the current one. */
const PRELOADS_MAX = 16

/** Reads one tree of a cluster. */
export class ClusterReader implements SnapshotSource, ShardHolder {
  private readonly options: ReaderOptions
  private readonly follower: SnapshotFollower
  private readonly age: SnapshotAge
  private snapshot: Snapshot | undefined
  /** The loaded shards of the snapshot, by index. */
  private loaded = new Map<number, Shard>()
  private manifest: OpenManifest | undefined
  /** The tree that is served. */
  private tree: Tree = NO_TREE
  private isPinned = false
  /** Labels of the snapshot's namespaces once they are needed, and the shards they come from. */
  private labels: NamespaceLabels | undefined
  private labelShards = NO_TREE.shards
  /** What the loaded shards say of their namespaces. */
  private facts: NamespaceFacts | undefined
  /** The newest manifest that was not pinned: only a pin selects an older one. */
  private newest: OpenManifest | undefined
  /** The last manifest that had no such tree. */
  private treeless: OpenManifest | undefined
  /** Index of the next shard to consider for release. */
  private hand = 0

  constructor(options: ReaderOptions) {
    this.options = options
    this.follower = options.follower
    this.follower.add((loaded) => this.take(loaded))
    this.age = new SnapshotAge(options.clock)
    options.memory.add(this)
  }

  /**
   * Returns the snapshot; `undefined` without one, or when an answer should wait for the
   * origin.
   */
  current(): Snapshot | undefined {
    this.options.onUse?.(this)
    return this.follower.mayAnswer(this.options.times.staleMs) ? this.usable() : undefined
  }

  /**
   * Loads the newest snapshot, or a shard of the current one. On failure resolves with the current
   * snapshot, or for a shard with `undefined`. Never rejects.
   */
  async load(shard?: number): Promise<Snapshot | undefined> {
    if (shard !== undefined && this.usable() !== undefined) return this.loadShard(shard)
    await this.follower.look()
    return this.usableSoon()
  }

  /** As {@link load}, where the origin has something newer. */
  async reload(): Promise<Snapshot | undefined> {
    await this.follower.relook()
    return this.usableSoon()
  }

  /** Opens a watch of the origin when it is time; returns the promise to keep alive. */
  follow(): Promise<void> | undefined {
    return this.follower.follow()
  }

  /**
   * Returns how fresh the names are. A snapshot that an operator pinned does not expire.
   * @param namespaces those that the client sees; all when left out
   */
  freshness(namespaces?: Visibility): 'fresh' | 'stale' | 'expired' {
    const found = this.age.freshness(this.options.times, namespaces !== undefined)
    return found === 'expired' && this.isPinned && this.snapshot !== undefined ? 'stale' : found
  }

  /** Returns the age of the names in milliseconds; infinite without a snapshot. */
  ageMs(namespaces?: Visibility): number {
    return this.age.ageMs(namespaces !== undefined)
  }

  /** Returns the manifest that is served; `undefined` without one. */
  describe(): OpenManifest | undefined {
    return this.manifest
  }

  /** Returns the bytes of the loaded shards. */
  heldBytes(): number {
    let bytes = 0
    for (const shard of this.loaded.values()) bytes += shard.bytes.length
    return bytes
  }

  /** Releases the next shard that was not used since it was last considered (clock algorithm). */
  release(): boolean {
    const shards = this.snapshot?.shards ?? []
    for (let step = 0; step < 2 * shards.length; step++) {
      const index = this.hand
      this.hand = (this.hand + 1) % shards.length
      const shard = shards[index]
      if (shard === undefined) continue
      if (!shard.isUsed) {
        this.setShard(index, undefined)
        return true
      }
      shard.isUsed = false
    }
    return false
  }

  /** Without needed labels, clients would not see their own namespaces. */
  private usable(): Snapshot | undefined {
    return this.labels === undefined && this.needsLabels() ? undefined : this.snapshot
  }

  private needsLabels(): boolean {
    return this.options.needsLabels?.() === true
  }

  /** Takes over what the follower has already, and loads labels if a token needs them by now. */
  private async usableSoon(): Promise<Snapshot | undefined> {
    const { loaded } = this.follower
    if (this.manifest === undefined && loaded !== undefined && this.isNext(loaded)) {
      await this.take(loaded).catch(this.reported)
    }
    const { manifest } = this
    if (manifest !== undefined && this.labels === undefined && this.needsLabels()) {
      const labels = await this.loadLabels(manifest).catch(this.reported)
      if (manifest === this.manifest) this.takeFacts(manifest, labels, this.facts?.rights)
    }
    return this.usable()
  }

  private readonly reported = (error: unknown): undefined => {
    this.options.onError(errorText(error))
  }

  /** Takes over a newer manifest, or a pinned one. @throws {Error} when a shard is missing */
  private async take(next: LoadedManifest): Promise<void> {
    if (!this.isNext(next)) return void (await this.usableSoon())
    const tree = this.treeOf(next.manifest)
    if (tree !== undefined) await this.replaceWith(next, tree)
  }

  private takeFacts(
    manifest: OpenManifest,
    labels: NamespaceLabels | undefined,
    rights: RightsTable | undefined,
  ): void {
    const isSame = labels === this.labels && rights === this.facts?.rights
    this.labels = labels
    this.labelShards = labelShardsOf(manifest)
    if (!isSame) this.facts = { labels: labels ?? NO_LABELS, ...(rights && { rights }) }
    for (const shard of this.loaded.values()) shard.facts = this.facts
  }

  /** Loads what a manifest says of its namespaces, as far as some client needs it. */
  private async loadFacts(
    manifest: OpenManifest,
  ): Promise<readonly [NamespaceLabels | undefined, RightsTable | undefined]> {
    const { rights } = manifest
    return Promise.all([
      this.needsLabels() ? this.loadLabels(manifest) : undefined,
      this.options.needsRights === true && rights !== undefined
        ? this.follower.rights(rights.sha256)
        : undefined,
    ])
  }

  /** Loads the labels of a manifest's namespaces. @throws {Error} when that fails */
  private async loadLabels(manifest: OpenManifest): Promise<NamespaceLabels> {
    const shards = labelShardsOf(manifest)
    if (this.labels !== undefined && shards.equals(this.labelShards)) return this.labels
    const { length } = shards
    const loaded = await Promise.all(
      Array.from({ length }, (_, i) => this.follower.shard(shards.sha256(i))),
    )
    const found = loaded.filter((shard) => shard !== undefined)
    if (found.length < length)
      throw new SnapshotError('Cannot load namespace labels: a shard is missing')
    return found.length === 0 ? NO_LABELS : readLabels(found)
  }

  /** Returns whether to replace the current manifest: by a newer or pinned one, or after a pin. */
  private isNext({ manifest, isPinned }: LoadedManifest): boolean {
    const { newest } = this
    if (isPinned || this.isPinned) {
      const isOther = manifest.generation !== this.manifest?.generation
      if (isPinned) return isOther || !this.isPinned
      return newest === undefined || !isNewer(newest, manifest)
    }
    return newest === undefined || isNewer(manifest, newest)
  }

  /** Replaces the snapshot; shards that both have stay loaded. */
  private async replaceWith(next: LoadedManifest, tree: Tree): Promise<void> {
    const { manifest, isPinned } = next
    const changed = this.changedShards(tree).slice(0, PRELOADS_MAX)
    const [labels, rights] = await this.loadFacts(manifest)
    const preloaded = await Promise.all(
      changed.map(
        async (index) => [index, await this.follower.shard(tree.shards.sha256(index))] as const,
      ),
    )
    // Two reads may end in another order than they started.
    if (!this.isNext(next)) return
    const loaded = this.keptShards(tree)
    for (const [index, shard] of preloaded) {
      if (shard === undefined) throw new SnapshotError('Cannot load a shard that has changed')
      loaded.set(index, shard)
    }
    const shards = new Array<Shard | undefined>(tree.shards.length).fill(undefined)
    for (const [index, shard] of loaded) shards[index] = shard
    const info = infoOf(manifest, tree)
    this.age.note(info)
    this.snapshot = new Snapshot(info, shards)
    this.loaded = loaded
    this.manifest = manifest
    this.tree = tree
    this.isPinned = isPinned
    if (!isPinned) this.newest = manifest
    this.takeFacts(manifest, labels, rights)
    this.options.memory.enforce()
  }

  /** Reports once for each manifest that it lacks the tree. */
  private treeOf(manifest: OpenManifest): Tree | undefined {
    const { cluster, tree: name, onError } = this.options
    const tree = name === undefined ? manifest : manifest.trees?.[name]
    if (tree === undefined && manifest !== this.treeless) {
      this.treeless = manifest
      onError(`Cluster "${cluster}" publishes no tree "${name}" of names`)
    }
    return tree
  }

  /** Returns the loaded shards that another tree has too, by index. */
  private keptShards(next: Tree): Map<number, Shard> {
    return new Map(
      [...this.loaded].filter(([index]) => this.tree.shards.isSame(index, next.shards)),
    )
  }

  /** Returns the indexes of loaded shards that differ in another tree, those in use first. */
  private changedShards(next: Tree): number[] {
    if (this.tree.shards.length !== next.shards.length) return []
    return [...this.loaded]
      .filter(([index]) => !this.tree.shards.isSame(index, next.shards))
      .sort(([, a], [, b]) => Number(b.isUsed) - Number(a.isUsed))
      .map(([index]) => index)
  }

  private async loadShard(index: number): Promise<Snapshot | undefined> {
    const { shards } = this.tree
    if (index >= shards.length || this.loaded.has(index)) return this.snapshot
    const shard = await this.follower.shardOrNewer(shards.sha256(index))
    // A newer manifest may have arrived meanwhile, and may list this shard too.
    const isListed = shards.isSame(index, this.tree.shards)
    if (shard !== undefined && isListed) this.setShard(index, shard)
    return shard !== undefined || !isListed ? this.snapshot : undefined
  }

  private setShard(index: number, shard: Shard | undefined): void {
    if (this.snapshot === undefined) return
    const shards = this.snapshot.shards.with(index, shard)
    if (shard === undefined) this.loaded.delete(index)
    else this.loaded.set(index, shard)
    if (shard !== undefined) shard.facts = this.facts
    this.snapshot = new Snapshot(this.snapshot.info, shards)
    if (shard !== undefined) this.options.memory.enforce()
  }
}

function infoOf(manifest: OpenManifest, { ttlSeconds }: Tree): SnapshotInfo {
  const { generation, time, confirmed = time } = manifest
  const timeMs = Date.parse(time)
  const origins = manifest.origins.map(nameOf)
  const info = { generation, ttlSeconds, timeMs, origins }
  const confirmedMs = Math.min(timeMs, Date.parse(confirmed))
  const seconds = Math.max(0, Math.floor(confirmedMs / 1000))
  return { ...info, limited: { ...info, generation: seconds, timeMs: confirmedMs } }
}

function labelShardsOf({ trees }: OpenManifest): ShardList {
  return trees?.[LABELS_TREE]?.shards ?? NO_TREE.shards
}

/** Returns whether a manifest has a later generation, or confirms the same one later. */
function isNewer(a: OpenManifest, b: OpenManifest): boolean {
  if (a.generation !== b.generation) return a.generation > b.generation
  return Date.parse(a.time) > Date.parse(b.time)
}
