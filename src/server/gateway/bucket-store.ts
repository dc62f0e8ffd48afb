/**
 * A cluster's snapshots in a bucket: `head`, which writers compare and swap; `manifests/…`, each
 * with its signature in the first line; and `shards/HASH`.
 *
 * No process waits for another one. A publication reads the head, checks, stores what is new, and
 * swaps the head if nobody else has meanwhile; else it starts again. A process that dies leaves
 * objects behind that no head names, and later publications remove them.
 * @module
 */
import {
  type ClusterStore,
  type KeptGenerations,
  manifestOf,
  type SignedManifest,
  type StoredManifest,
  StoreError,
} from '../../gateway/snapshots/store.ts'
import { UNLISTED_MS } from '../../gateway/snapshots/unlisted-shards.ts'
import { allShards } from '../../snapshot/format/manifest.ts'
import { type Bucket, forEachOf, type ListedObject } from './bucket.ts'
import { type ClusterHead, type HeadGeneration, NO_HEAD } from './cluster-head.ts'
import { busy, HeadSwaps, LostRace } from './head-swaps.ts'
import { joinManifest, splitManifest } from './manifest-file.ts'
import { ShardRemovals } from './shard-removals.ts'

/** Shards that are looked for one by one; to list a thousand costs as much. */
const LOOKED_FOR_MAX = 16
const SHARD_NAME = /^[0-9a-f]{64}$/

/** What the store needs beside the bucket. */
export type BucketStoreOptions = {
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Returns 16 hexadecimal digits that no other object has. */
  readonly newName: () => string
}

/**
 * Creates the store; the first publication writes the first object.
 * @param prefix of the keys, with a slash at its end
 */
export function createBucketStore(
  bucket: Bucket,
  prefix: string,
  options: BucketStoreOptions,
): ClusterStore {
  const store = new BucketStore(bucket, prefix, options)
  return {
    exclusive: (step) => store.head.exclusive(step),
    readManifest: () => store.readManifest(),
    readManifests: (countMax) => store.readManifests(countMax),
    readShard: (sha256) => store.readShard(sha256),
    missingShards: (sha256s) => store.missingShards(sha256s),
    writeShard: (sha256, bytes, nowMs) => store.writeShard(sha256, bytes, nowMs),
    unlistedShards: (listed) => store.unlistedShards(listed),
    dropShards: (sha256s) => store.dropShards(sha256s),
    writeManifest: (generation, manifest, kept) => store.writeManifest(generation, manifest, kept),
    pin: (generation) => store.pin(generation),
  }
}

/** Removes all of a cluster; resolves with whether there was anything. */
export async function removeFromBucket(bucket: Bucket, prefix: string): Promise<boolean> {
  // Without a head, readers find nothing at once.
  await bucket.remove(`${prefix}head`)
  const listed = await bucket.list(prefix)
  await forEachOf(listed, ({ key }) => bucket.remove(key))
  return listed.length > 0
}

class BucketStore {
  readonly head: HeadSwaps
  private readonly bucket: Bucket
  private readonly prefix: string
  private readonly options: BucketStoreOptions
  private readonly removals: ShardRemovals
  /** Manifests of the last head, by their objects. */
  private readonly manifests = new Map<string, StoredManifest>()
  /** Objects of manifests that the head names and somebody removed by hand. */
  private readonly lost = new Set<string>()
  /** Listed shards that are corrupt: they count as missing until they are written again. */
  private readonly corrupt = new Set<string>()

  constructor(bucket: Bucket, prefix: string, options: BucketStoreOptions) {
    const { now } = options
    this.bucket = bucket
    this.prefix = prefix
    this.options = options
    this.removals = new ShardRemovals(now)
    const cleaned = (head: ClusterHead): ClusterHead => this.removals.cleaned(head)
    this.head = new HeadSwaps(bucket, `${prefix}head`, { now, cleaned })
  }

  async readManifest(): Promise<StoredManifest | undefined> {
    return this.reading(async ({ pinned, generations }) => {
      const [newest] = generations
      const served =
        pinned === undefined ? newest : generations.find((one) => one.generation === pinned)
      const manifest = served && (await this.load(served))
      return manifest && pinned !== undefined ? { ...manifest, isPinned: true } : manifest
    })
  }

  async readManifests(countMax?: number): Promise<readonly StoredManifest[]> {
    return this.reading(({ generations }) => this.loadAll(generations, countMax))
  }

  async readShard(sha256: string): Promise<Uint8Array | undefined> {
    if (!SHARD_NAME.test(sha256)) return undefined
    return (await this.bucket.get(this.shardKey(sha256)))?.bytes
  }

  async missingShards(sha256s: readonly string[]): Promise<readonly string[]> {
    if (sha256s.length === 0) return []
    const [{ removed }, present] = await Promise.all([this.head.read(), this.present(sha256s)])
    return sha256s.filter(
      (sha256) => !present.has(sha256) || removed.has(sha256) || this.corrupt.has(sha256),
    )
  }

  async writeShard(sha256: string, bytes: Uint8Array, nowMs: number): Promise<void> {
    const head = await this.head.read()
    if (this.removals.isUnderway(head, sha256)) throw busy()
    // A swap leaves out what nobody removes any more.
    if (head.removed.has(sha256)) await this.head.change((one) => one)
    await this.bucket.put(this.shardKey(sha256), bytes, nowMs)
    this.corrupt.delete(sha256)
  }

  async unlistedShards(listed: ReadonlySet<string>): ReturnType<ClusterStore['unlistedShards']> {
    const all = await this.bucket.list(this.prefix)
    await this.removeOrphans(all)
    const folder = this.shardKey('')
    const unlisted = all
      .filter(({ key }) => key.startsWith(folder))
      .map(({ key, size }) => ({ sha256: key.slice(folder.length), bytes: size }))
      .filter(({ sha256 }) => SHARD_NAME.test(sha256) && !listed.has(sha256))
    const found = await forEachOf(unlisted, async (one) => {
      const writtenMs = await this.bucket.writtenMs(this.shardKey(one.sha256))
      return writtenMs === undefined ? [] : [{ ...one, writtenMs }]
    })
    return found.flat()
  }

  async dropShards(sha256s: readonly string[]): Promise<void> {
    const { generations, manifests } = await this.reading(async (head) => ({
      generations: head.generations,
      manifests: await this.loadAll(head.generations),
    }))
    const listed = new Set(manifests.flatMap(hashesOf))
    for (const sha256 of sha256s) if (listed.has(sha256)) this.corrupt.add(sha256)
    const due = sha256s.filter((sha256) => !listed.has(sha256))
    const { removals } = this
    const undecided = due.filter((sha256) => !removals.isDecided(this.head.known, sha256))
    try {
      // The manifest of another process may list them by now.
      const edit = (head: ClusterHead): ClusterHead | undefined =>
        head.generations === generations ? removals.decide(head, undecided) : undefined
      if (undecided.length > 0) await this.head.change(edit)
    } catch (error) {
      // The next publication removes what is still unlisted then.
      if (error instanceof LostRace) return
      throw error
    }
    await forEachOf(due, async (sha256) => {
      if (!removals.maySend(this.head.known, sha256)) return
      await this.bucket.remove(this.shardKey(sha256))
      removals.note(sha256)
    })
  }

  async writeManifest(
    generation: number,
    manifest: SignedManifest,
    kept?: KeptGenerations,
  ): Promise<void> {
    const object = `${generation}-${this.options.newName()}`
    const isKept = (one: number): boolean =>
      one !== generation && (kept?.generations.has(one) ?? true) && kept?.broken?.has(one) !== true
    await this.bucket.put(this.manifestKey(object), joinManifest(manifest), this.options.now())
    let [before, after] = [NO_HEAD, NO_HEAD]
    try {
      await this.head.change((head) => {
        before = head
        const others = head.generations.filter((one) => isKept(one.generation))
        const generations = [...others, { generation, object }]
        generations.sort((a, b) => b.generation - a.generation)
        after = this.removals.decide({ ...head, generations }, kept?.delisted ?? [])
        return after
      })
    } catch (error) {
      // After an error of the bucket, the head may name it.
      if (!(error instanceof StoreError)) await this.removeQuietly([object])
      throw error
    }
    const named = new Set(after.generations.map((one) => one.object))
    await this.removeQuietly(
      before.generations.map((one) => one.object).filter((one) => !named.has(one)),
    )
  }

  async pin(generation: number | undefined): Promise<boolean> {
    let isKept = true
    await this.head.change((head) => {
      isKept =
        generation === undefined || head.generations.some((one) => one.generation === generation)
      return isKept && head.pinned !== generation ? { ...head, pinned: generation } : undefined
    })
    return isKept
  }

  /** Removes manifests of processes that died before they swapped the head. */
  private async removeOrphans(all: readonly ListedObject[]): Promise<void> {
    const { generations } = await this.head.read()
    const named = new Set(generations.map(({ object }) => this.manifestKey(object)))
    const nowMs = this.options.now()
    const orphans = all.filter(
      ({ key, modifiedMs }) =>
        key.startsWith(this.manifestKey('')) &&
        !named.has(key) &&
        Math.abs(nowMs - modifiedMs) >= UNLISTED_MS,
    )
    await forEachOf(orphans, ({ key }) => this.bucket.remove(key))
  }

  /** Removes manifests that no head names; what stays is an orphan. */
  private async removeQuietly(objects: readonly string[]): Promise<void> {
    await forEachOf(objects, (one) =>
      this.bucket.remove(this.manifestKey(one)).catch(() => undefined),
    )
  }

  private async present(sha256s: readonly string[]): Promise<ReadonlySet<string>> {
    if (sha256s.length > LOOKED_FOR_MAX) {
      const folder = this.shardKey('')
      const listed = await this.bucket.list(folder)
      return new Set(listed.map(({ key }) => key.slice(folder.length)))
    }
    const written = await forEachOf(sha256s, (sha256) =>
      this.bucket.writtenMs(this.shardKey(sha256)),
    )
    return new Set(sha256s.filter((_, i) => written[i] !== undefined))
  }

  private reading<T>(read: (head: ClusterHead) => Promise<T>): Promise<T> {
    return this.head.reading(read, (object) => this.lost.add(object))
  }

  private async loadAll(
    generations: readonly HeadGeneration[],
    countMax?: number,
  ): Promise<readonly StoredManifest[]> {
    const present = generations.filter(({ object }) => !this.lost.has(object))
    const all = await forEachOf(present.slice(0, countMax), (one) => this.load(one))
    return all.filter((one) => one !== undefined)
  }

  /** Reads a manifest, which never changes. @throws {LostRace} when it was removed */
  private async load({ generation, object }: HeadGeneration): Promise<StoredManifest | undefined> {
    if (this.lost.has(object)) return undefined
    const known = this.manifests.get(object)
    if (known !== undefined) return known
    const read = await this.bucket.get(this.manifestKey(object))
    if (read === undefined) throw new LostRace(object)
    const manifest = splitManifest(generation, read.bytes)
    this.manifests.set(object, manifest)
    const named = new Set(this.head.known.generations.map((one) => one.object))
    for (const one of this.manifests.keys()) if (!named.has(one)) this.manifests.delete(one)
    return manifest
  }

  private manifestKey(object: string): string {
    return `${this.prefix}manifests/${object}`
  }

  private shardKey(sha256: string): string {
    return `${this.prefix}shards/${sha256}`
  }
}

/** Lists the shards of a manifest; none of a broken one. */
function hashesOf(manifest: StoredManifest): readonly string[] {
  try {
    return allShards(manifestOf(manifest)).map(({ sha256 }) => sha256)
  } catch {
    return []
  }
}
