/**
 * A cluster's snapshot in the memory of one process or isolate, kept fresh from a store.
 *
 * What is here is answered from; the manifest is looked at again in the background, and before an
 * answer only when nobody has looked for long. A newer snapshot takes the place of the one before
 * when the shards that were in use are there, so that no answer waits for a change; until then, and
 * whenever the store fails, the one before goes on, and its age tells.
 * @module
 */
import { EMPTY } from '../bytes/bytes.ts'
import { errorText } from '../bytes/unknown.ts'
import type { SnapshotSource } from '../chain/host.ts'
import { nameOf } from '../dns/name.ts'
import { SnapshotError } from '../snapshot/format/errors.ts'
import { LABELS_TREE, type ManifestTree, type OpenManifest } from '../snapshot/format/manifest.ts'
import { ShardList } from '../snapshot/format/shard-list.ts'
import { type NamespaceLabels, NO_LABELS, readLabels } from '../snapshot/read/namespace-labels.ts'
import type { Shard } from '../snapshot/read/shard.ts'
import { infoFor, Snapshot, type SnapshotInfo } from '../snapshot/read/snapshot.ts'
import type { Visibility } from '../snapshot/read/visibility.ts'
import type { GatewayClock } from './held-clock.ts'
import { Refresher } from './refresher.ts'
import type { ShardHolder, ShardMemory } from './shard-memory.ts'
import { type LoadedManifest, type LoaderOptions, SnapshotLoader } from './snapshot-loader.ts'

/** Times after which something is done. */
export type ReaderTimes = {
  /** Look at the manifest again in the background. */
  readonly refreshMs: number
  /** Look at it before answering. */
  readonly blockMs: number
  /** The source has not confirmed its names for so long that answers say it (RFC 8914 §4.4). */
  readonly staleMs: number
  /** The same, and there are no answers any more. */
  readonly expireMs: number
}

/** What a reader needs. */
export type ReaderOptions = LoaderOptions & {
  readonly times: ReaderTimes
  /** What loads for several readers of a cluster; a reader without has its own. */
  readonly loader?: SnapshotLoader
  /** Which tree to read, the main one when left out. */
  readonly tree?: string
  readonly memory: ShardMemory
  /** Whether somebody's view goes by the labels of namespaces; never, when left out. */
  readonly needsLabels?: () => boolean
  readonly clock: GatewayClock
  /** Gets what went wrong. */
  readonly onError: (message: string) => void
}

/** A part of a manifest. */
type Tree = ManifestTree<ShardList>

const NO_TREE: Tree = { ttlSeconds: 0, records: 0, shards: new ShardList(EMPTY) }
/** How long a store that has failed is left alone. */
const RETRY_MS = 1000
/** Changed shards that are loaded before a new snapshot is gone over to. */
const PRELOADS_MAX = 16

/** Reads one cluster. */
export class ClusterReader implements SnapshotSource, ShardHolder {
  private readonly options: ReaderOptions
  private readonly loader: SnapshotLoader
  private readonly refresher: Refresher
  private snapshot: Snapshot | undefined
  /** The shards of the snapshot that are here, by their index. */
  private loaded = new Map<number, Shard>()
  private manifest: OpenManifest | undefined
  /** The part of the manifest that is answered from. */
  private tree: Tree = NO_TREE
  private isPinned = false
  /** Labels of the snapshot's namespaces, once they are needed, and which shards say them. */
  private labels: NamespaceLabels | undefined
  private labelShards = NO_TREE.shards
  /** The newest manifest that was not pinned: nothing older is taken but by a pin. */
  private newest: OpenManifest | undefined
  private failedMs = Number.NEGATIVE_INFINITY
  /** When the source confirmed the snapshot, by the clock that never goes back. */
  private confirmedMs = 0
  /** The same for clients that see some namespaces only. */
  private limitedMs = 0
  /** When shards could not be had, by their hashes. */
  private readonly failedShards = new Map<string, number>()
  /** Where to look for a shard to let go of. */
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
    options.memory.add(this)
  }

  /** The snapshot to answer from; `undefined` when there is none, or nobody has looked for long. */
  current(): Snapshot | undefined {
    const { blockMs } = this.options.times
    const isSeen = this.refresher.sinceCheckMs() < blockMs || this.hasJustFailed()
    return isSeen ? this.usable() : undefined
  }

  /**
   * Loads the newest snapshot, or a shard of the one that is here. Without what was to be loaded
   * resolves with what is here, or for a shard with `undefined`. Never rejects.
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

  /** Begins to look for a newer manifest, when it is time; gives the promise to keep alive. */
  refreshIfDue(): Promise<void> | undefined {
    return this.refresher.refreshIfDue()
  }

  /**
   * How old the snapshot is held to be, by when its source last confirmed it. One that an operator
   * has gone back to stays until the operator says otherwise.
   * @param namespaces what the client sees; all when left out
   */
  freshness(namespaces?: Visibility): 'fresh' | 'stale' | 'expired' {
    const { staleMs, expireMs } = this.options.times
    const ageMs = this.ageMs(namespaces)
    if (ageMs >= expireMs && !this.isPinned) return 'expired'
    return ageMs >= staleMs ? 'stale' : 'fresh'
  }

  /**
   * Milliseconds since the source last confirmed its names; infinite when there are none. When the
   * clock is set back, they are as old as they were, and grow older from there.
   * @param namespaces what the client sees; all when left out
   */
  ageMs(namespaces?: Visibility): number {
    if (this.snapshot === undefined) return Number.POSITIVE_INFINITY
    const { now, elapsed } = this.options.clock
    const info = infoFor(this.snapshot, namespaces)
    const sinceMs = info === this.snapshot.info ? this.confirmedMs : this.limitedMs
    return Math.max(now() - info.timeMs, elapsed() - sinceMs)
  }

  /** What the newest manifest says; `undefined` when there is none. */
  describe(): OpenManifest | undefined {
    return this.manifest
  }

  /** Bytes of the shards that are here. */
  heldBytes(): number {
    let bytes = 0
    for (const shard of this.loaded.values()) bytes += shard.bytes.length
    return bytes
  }

  /** Lets go of a shard: the next one that was not used since it was last looked at. */
  release(): boolean {
    const shards = this.snapshot?.shards ?? []
    for (let step = 0; step < 2 * shards.length; step++) {
      const index = this.hand
      this.hand = (this.hand + 1) % shards.length
      const shard = shards[index]
      if (shard === undefined) continue
      if (!shard.isUsed) {
        this.replace(index, undefined)
        return true
      }
      shard.isUsed = false
    }
    return false
  }

  private hasJustFailed(): boolean {
    return this.options.clock.elapsed() - this.failedMs < RETRY_MS
  }

  /** The snapshot, unless it lacks labels that are needed: else some would be denied their own. */
  private usable(): Snapshot | undefined {
    return this.labels === undefined && this.needsLabels() ? undefined : this.snapshot
  }

  private needsLabels(): boolean {
    return this.options.needsLabels?.() === true
  }

  /** What is older than what is here is not gone back to. */
  private async look(): Promise<void> {
    const loaded = await this.loader.manifest()
    if (loaded !== undefined && this.isNext(loaded)) await this.goOver(loaded)
    else if (this.manifest !== undefined && this.labels === undefined && this.needsLabels()) {
      await this.addLabels(this.manifest)
    }
    this.refresher.noteCheck()
  }

  /** Loads the labels of the snapshot that is here, which nobody needed before. */
  private async addLabels(manifest: OpenManifest): Promise<void> {
    const labels = await this.loadLabels(manifest)
    if (manifest === this.manifest) this.takeLabels(manifest, labels)
  }

  private takeLabels(manifest: OpenManifest, labels: NamespaceLabels | undefined): void {
    this.labels = labels
    this.labelShards = labelShardsOf(manifest)
    for (const shard of this.loaded.values()) shard.labels = labels
  }

  /** Labels of a manifest's namespaces. @throws {Error} when they cannot be had */
  private async loadLabels(manifest: OpenManifest): Promise<NamespaceLabels> {
    const shards = labelShardsOf(manifest)
    if (this.labels !== undefined && shards.equals(this.labelShards)) return this.labels
    const { length } = shards
    const loaded = await Promise.all(
      Array.from({ length }, (_, i) => this.loader.shard(shards.sha256(i))),
    )
    const found = loaded.filter((shard) => shard !== undefined)
    if (found.length < length) throw new SnapshotError('The labels of namespaces are gone')
    return found.length === 0 ? NO_LABELS : readLabels(found)
  }

  /** Whether to go over to a manifest: what is newer, or pinned, or follows when a pin is gone. */
  private isNext({ manifest, isPinned }: LoadedManifest): boolean {
    const { newest } = this
    if (isPinned || this.isPinned) {
      const isOther = manifest.generation !== this.manifest?.generation
      if (isPinned) return isOther || !this.isPinned
      return newest === undefined || !isNewer(newest, manifest)
    }
    return newest === undefined || isNewer(manifest, newest)
  }

  /** Goes over to a newer snapshot; shards that both have stay loaded. */
  private async goOver(next: LoadedManifest): Promise<void> {
    const { manifest, isPinned } = next
    const tree = this.treeOf(manifest)
    const changed = this.changedShards(tree).slice(0, PRELOADS_MAX)
    const labels = this.needsLabels() ? await this.loadLabels(manifest) : undefined
    const preloaded = await Promise.all(
      changed.map(
        async (index) => [index, await this.loader.shard(tree.shards.sha256(index))] as const,
      ),
    )
    // Two looks may end in the other order than they began.
    if (!this.isNext(next)) return
    const loaded = this.keptShards(tree)
    for (const [index, shard] of preloaded) if (shard !== undefined) loaded.set(index, shard)
    const shards = new Array<Shard | undefined>(tree.shards.length).fill(undefined)
    for (const [index, shard] of loaded) shards[index] = shard
    this.snapshot = new Snapshot(this.dated(infoOf(manifest, tree)), shards)
    this.loaded = loaded
    this.manifest = manifest
    this.tree = tree
    this.isPinned = isPinned
    if (!isPinned) this.newest = manifest
    this.takeLabels(manifest, labels)
    this.failedShards.clear()
    this.options.memory.enforce()
  }

  /** Notes how old names are now. What limited clients learn changes only with their own time. */
  private dated(info: SnapshotInfo): SnapshotInfo {
    const { now, elapsed } = this.options.clock
    const sinceMs = (timeMs: number): number => elapsed() - Math.max(0, now() - timeMs)
    const { limited = info } = info
    this.confirmedMs = sinceMs(info.timeMs)
    if (limited.timeMs !== this.snapshot?.info.limited?.timeMs) {
      this.limitedMs = sinceMs(limited.timeMs)
    }
    return info
  }

  /** The part of a manifest that is answered from. @throws {Error} when it has no such tree */
  private treeOf(manifest: OpenManifest): Tree {
    const { cluster, tree: name } = this.options
    const tree = name === undefined ? manifest : manifest.trees?.[name]
    if (tree !== undefined) return tree
    throw new SnapshotError(`Cluster "${cluster}" publishes no tree "${name}" of names`)
  }

  /** The shards that are here and that another tree has too, by their index. */
  private keptShards(next: Tree): Map<number, Shard> {
    return new Map(
      [...this.loaded].filter(([index]) => this.tree.shards.isSame(index, next.shards)),
    )
  }

  /** Indexes of a tree's shards in whose place others are loaded, those in use first. */
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
    // A newer manifest may have come meanwhile; the shard is good for whichever lists it.
    const isListed = shards.isSame(index, this.tree.shards)
    if (shard !== undefined && isListed) this.replace(index, shard)
    if (shard !== undefined || !isListed) return this.snapshot
    // It is gone, as those of older manifests are: there must be a newer one.
    this.failedShards.set(sha256, elapsed())
    await this.look()
    return shards.isSame(index, this.tree.shards) ? undefined : this.snapshot
  }

  private replace(index: number, shard: Shard | undefined): void {
    if (this.snapshot === undefined) return
    const shards = this.snapshot.shards.with(index, shard)
    if (shard === undefined) this.loaded.delete(index)
    else this.loaded.set(index, shard)
    if (shard !== undefined) shard.labels = this.labels
    this.snapshot = new Snapshot(this.snapshot.info, shards)
    if (shard !== undefined) this.options.memory.enforce()
  }
}

function infoOf(manifest: OpenManifest, { ttlSeconds, records }: Tree): SnapshotInfo {
  const { generation, time, confirmed = time } = manifest
  const timeMs = Date.parse(time)
  const origins = manifest.origins.map(nameOf)
  const info = { generation, ttlSeconds, records, timeMs, origins }
  const confirmedMs = Math.min(timeMs, Date.parse(confirmed))
  const seconds = Math.max(0, Math.floor(confirmedMs / 1000))
  return { ...info, limited: { ...info, generation: seconds, timeMs: confirmedMs } }
}

function labelShardsOf({ trees }: OpenManifest): ShardList {
  return trees?.[LABELS_TREE]?.shards ?? NO_TREE.shards
}

/** A later generation, or the same one, confirmed later. */
function isNewer(a: OpenManifest, b: OpenManifest): boolean {
  if (a.generation !== b.generation) return a.generation > b.generation
  return Date.parse(a.time) > Date.parse(b.time)
}
