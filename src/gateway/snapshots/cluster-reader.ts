/**
 * A cluster's snapshot in the memory of one process or isolate, kept fresh from a store.
 *
 * Queries are answered from memory. The reader reads the manifest again in the background; a query
 * waits for that only when the last read is long ago. A newer snapshot replaces the current one
 * once the shards in use are loaded, so that no query waits for a change. Until then, and while the
 * store fails, the reader serves the current snapshot, which grows older.
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
import { ShardList } from '../../snapshot/format/shard-list.ts'
import { NO_LABELS, readLabels } from '../../snapshot/read/namespace-labels.ts'
import type { NamespaceLabels, Shard } from '../../snapshot/read/shard.ts'
import { Snapshot, type SnapshotInfo } from '../../snapshot/read/snapshot.ts'
import type { Visibility } from '../../snapshot/read/visibility.ts'
import type { ReaderTimes } from '../config/reader-times.ts'
import type { GatewayClock } from '../timing/held-clock.ts'
import { Refresher } from '../timing/refresher.ts'
import { SnapshotAge } from './snapshot-age.ts'
import {
  type LoadedManifest,
  type LoaderOptions,
  type ShardHolder,
  type ShardMemory,
  SnapshotLoader,
} from './snapshot-loader.ts'

/** What a reader needs. */
export type ReaderOptions = LoaderOptions & {
  readonly times: ReaderTimes
  /** Shared by the readers of a cluster's trees; a reader creates its own without one. */
  readonly loader?: SnapshotLoader
  /** The tree to read; the cluster's own when left out. */
  readonly tree?: string
  readonly memory: ShardMemory
  /** Whether the visibility of some token depends on namespace labels; never when left out. */
  readonly needsLabels?: () => boolean
  readonly clock: GatewayClock
  /** Runs whenever a query uses the snapshot. */
  readonly onUse?: (reader: ClusterReader) => void
  /** Gets the text of an error. */
  readonly onError: (message: string) => void
}

/** One tree of a manifest. */
type Tree = ManifestTree<ShardList>

const NO_TREE: Tree = { ttlSeconds: 0, records: 0, shards: new ShardList(EMPTY) }
/** How long to wait after a failure of the store. */
const RETRY_MS = 1000
/** Most changed shards that are loaded before a new snapshot replaces the current one. */
const PRELOADS_MAX = 16

/** Reads one tree of a cluster. */
export class ClusterReader implements SnapshotSource, ShardHolder {
  private readonly options: ReaderOptions
  private readonly loader: SnapshotLoader
  private readonly refresher: Refresher
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
  /** The newest manifest that was not pinned: only a pin selects an older one. */
  private newest: OpenManifest | undefined
  private failedMs = Number.NEGATIVE_INFINITY
  /** When shards failed to load, by hash. */
  private readonly failedShards = new Map<string, number>()
  /** Index of the next shard to consider for release. */
  private hand = 0

  constructor(options: ReaderOptions) {
    this.options = options
    this.loader = options.loader ?? new SnapshotLoader(options)
    const look = (): Promise<void> => this.look()
    const { elapsed } = options.clock
    this.refresher = new Refresher({
      ...options,
      elapsed,
      look,
      refreshMs: options.times.refreshMs,
    })
    this.age = new SnapshotAge(options.clock)
    options.memory.add(this)
  }

  /** Returns the snapshot; `undefined` without one, or when the last read is too long ago. */
  current(): Snapshot | undefined {
    this.options.onUse?.(this)
    const { blockMs } = this.options.times
    const isSeen = this.refresher.sinceCheckMs() < blockMs || this.hasJustFailed()
    return isSeen ? this.usable() : undefined
  }

  /**
   * Loads the newest snapshot, or a shard of the current one. On failure resolves with the current
   * snapshot, or for a shard with `undefined`. Never rejects.
   */
  async load(shard?: number): Promise<Snapshot | undefined> {
    try {
      if (shard !== undefined && this.usable() !== undefined) return await this.loadShard(shard)
      if (!this.hasJustFailed()) await this.look()
      return this.usable()
    } catch (error) {
      this.options.onError(errorText(error))
      if (shard !== undefined && this.snapshot !== undefined) return undefined
      this.failedMs = this.options.clock.elapsed()
      return this.usable()
    }
  }

  /** Starts to read the manifest when it is time; returns the promise to keep alive. */
  refreshIfDue(): Promise<void> | undefined {
    return this.refresher.refreshIfDue()
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

  private hasJustFailed(): boolean {
    return this.options.clock.elapsed() - this.failedMs < RETRY_MS
  }

  /** Without needed labels, clients would not see their own namespaces. */
  private usable(): Snapshot | undefined {
    return this.labels === undefined && this.needsLabels() ? undefined : this.snapshot
  }

  private needsLabels(): boolean {
    return this.options.needsLabels?.() === true
  }

  /** Reads the manifest. Never replaces the current snapshot with an older one, unless pinned. */
  private async look(): Promise<void> {
    const loaded = await this.loader.manifest()
    if (loaded !== undefined && this.isNext(loaded)) await this.replaceWith(loaded)
    else if (this.manifest !== undefined && this.labels === undefined && this.needsLabels()) {
      await this.addLabels(this.manifest)
    }
    this.refresher.noteCheck()
  }

  /** Loads the labels of the current snapshot, which no token needed before. */
  private async addLabels(manifest: OpenManifest): Promise<void> {
    const labels = await this.loadLabels(manifest)
    if (manifest === this.manifest) this.takeLabels(manifest, labels)
  }

  private takeLabels(manifest: OpenManifest, labels: NamespaceLabels | undefined): void {
    this.labels = labels
    this.labelShards = labelShardsOf(manifest)
    for (const shard of this.loaded.values()) shard.labels = labels
  }

  /** Loads the labels of a manifest's namespaces. @throws {Error} when that fails */
  private async loadLabels(manifest: OpenManifest): Promise<NamespaceLabels> {
    const shards = labelShardsOf(manifest)
    if (this.labels !== undefined && shards.equals(this.labelShards)) return this.labels
    const { length } = shards
    const loaded = await Promise.all(
      Array.from({ length }, (_, i) => this.loader.shard(shards.sha256(i))),
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
  private async replaceWith(next: LoadedManifest): Promise<void> {
    const { manifest, isPinned } = next
    const tree = this.treeOf(manifest)
    const changed = this.changedShards(tree).slice(0, PRELOADS_MAX)
    const labels = this.needsLabels() ? await this.loadLabels(manifest) : undefined
    const preloaded = await Promise.all(
      changed.map(
        async (index) => [index, await this.loader.shard(tree.shards.sha256(index))] as const,
      ),
    )
    // Two reads may end in another order than they started.
    if (!this.isNext(next)) return
    const loaded = this.keptShards(tree)
    for (const [index, shard] of preloaded) if (shard !== undefined) loaded.set(index, shard)
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
    this.takeLabels(manifest, labels)
    this.failedShards.clear()
    this.options.memory.enforce()
  }

  /** @throws {Error} when the manifest has no such tree */
  private treeOf(manifest: OpenManifest): Tree {
    const { cluster, tree: name } = this.options
    const tree = name === undefined ? manifest : manifest.trees?.[name]
    if (tree !== undefined) return tree
    throw new SnapshotError(`Cluster "${cluster}" publishes no tree "${name}" of names`)
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
    const { elapsed } = this.options.clock
    const sha256 = shards.sha256(index)
    const failedMs = this.failedShards.get(sha256) ?? Number.NEGATIVE_INFINITY
    if (elapsed() - failedMs < RETRY_MS) return undefined
    const shard = await this.loader.shard(sha256).catch((error: unknown) => {
      this.failedShards.set(sha256, elapsed())
      throw error
    })
    // A newer manifest may have arrived meanwhile, and may list this shard too.
    const isListed = shards.isSame(index, this.tree.shards)
    if (shard !== undefined && isListed) this.setShard(index, shard)
    if (shard !== undefined || !isListed) return this.snapshot
    // Shards of older manifests are removed: there must be a newer manifest.
    this.failedShards.set(sha256, elapsed())
    await this.look()
    return shards.isSame(index, this.tree.shards) ? undefined : this.snapshot
  }

  private setShard(index: number, shard: Shard | undefined): void {
    if (this.snapshot === undefined) return
    const shards = this.snapshot.shards.with(index, shard)
    if (shard === undefined) this.loaded.delete(index)
    else this.loaded.set(index, shard)
    if (shard !== undefined) shard.labels = this.labels
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
