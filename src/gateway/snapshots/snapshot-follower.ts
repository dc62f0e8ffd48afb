/**
 * Follows the snapshots of one cluster, for the readers of its trees. Verifies what the origin
 * sends: rejects manifests with a wrong signature or of another cluster, and shards with another
 * hash.
 * @module
 */
import { equalBytes } from '../../dns/bytes/bytes.ts'
import { errorText } from '../../dns/bytes/unknown.ts'
import { SnapshotError } from '../../snapshot/format/layout.ts'
import { type OpenManifest, openManifest } from '../../snapshot/format/manifest.ts'
import { isRights, openRights, type RightsTable } from '../../snapshot/format/rights-table.ts'
import { isSignedBy, type PublicKey, sha256Hex } from '../../snapshot/format/signature.ts'
import { openShard } from '../../snapshot/read/open-shard.ts'
import { Shard } from '../../snapshot/read/shard.ts'
import { Changes } from '../timing/changes.ts'
import { Follower } from '../timing/follower.ts'
import type { After } from '../timing/within.ts'
import { type SnapshotUpdate, versionOf } from './snapshot-update.ts'
import type { ServedManifest } from './store.ts'

/** How long one watch of an origin lasts: a Worker may go on for 30 s after its response. */
const WAIT_MS = 25_000

/** A source of snapshots. */
export type SnapshotOrigin = {
  readonly readManifest: () => Promise<ServedManifest | undefined>
  readonly readShard: (sha256: string) => Promise<Uint8Array | undefined>
  /**
   * Calls `take` at once, and again with each change for `waitMs`, one call after the other. May
   * call it without a manifest whenever the connection was seen to be there.
   * Absent where changes are noticed by reading again.
   * @param known what {@link versionOf} says of the follower's manifest; '' without one
   */
  readonly follow?: (
    known: string,
    waitMs: number,
    take: (update: SnapshotUpdate) => Promise<void>,
  ) => Promise<void>
}

/** A verified manifest, and whether an operator pinned it. */
export type LoadedManifest = { readonly manifest: OpenManifest; readonly isPinned: boolean }

/** Takes over a manifest, once the shards that it needs are loaded. */
type Take = (loaded: LoadedManifest) => Promise<void>

/** What a follower of snapshots needs. */
export type SnapshotFollowerOptions = {
  readonly cluster: string
  readonly publicKey: PublicKey
  readonly origin: SnapshotOrigin
  readonly after: After
  /** Milliseconds since some moment, by a monotonic clock. */
  readonly elapsed: () => number
  /** Time after which an origin that cannot be followed is read again. */
  readonly refreshMs: number
  /** Gets the text of an error. */
  readonly onError: (message: string) => void
}

/** What a manifest lists: a shard, or the bytes of a table of rights. */
type Part = Shard | Uint8Array

/** A part on its way. */
type PartLoad = {
  readonly follower: Follower
  part: Part | undefined
  /** Whether the origin has said that it has no such shard. */
  isLacking: boolean
}

/** Follows one cluster. */
export class SnapshotFollower {
  private readonly options: SnapshotFollowerOptions
  private readonly follower: Follower
  private readonly readers: Take[] = []
  /** The last verified manifest, and its bytes. */
  private last: { readonly served: ServedManifest; readonly loaded: LoadedManifest } | undefined
  /** The version that all readers have. */
  private known = ''
  private readonly changes = new Changes()
  /** What came with an update, by hash, until the readers have it. */
  private readonly arrived = new Map<string, Part>()
  private readonly loads = new Map<string, PartLoad>()
  /** The last table of rights, for all readers; one that cannot be read shows nothing. */
  private lastRights: { readonly sha256: string; readonly table: RightsTable | undefined } = {
    sha256: '',
    table: undefined,
  }

  constructor(options: SnapshotFollowerOptions) {
    this.options = options
    const waitMs = options.origin.follow === undefined ? 0 : WAIT_MS
    const watch = (ms: number, seen: () => void): Promise<void> => this.watch(ms, seen)
    this.follower = new Follower({ ...options, watch, waitMs })
  }

  /** Adds a reader, which gets each manifest. */
  add(take: Take): void {
    this.readers.push(take)
  }

  /** Opens a watch when it is time; returns the promise to keep alive. */
  follow(): Promise<void> | undefined {
    return this.follower.follow()
  }

  /** The last verified manifest: a reader that is added late begins with it. */
  get loaded(): LoadedManifest | undefined {
    return this.last?.loaded
  }

  /** The last verified manifest as the origin serves it, and its version. */
  get served(): { readonly manifest: ServedManifest; readonly version: string } | undefined {
    if (this.last === undefined) return undefined
    const { served: manifest, loaded } = this.last
    return { manifest, version: versionOf(manifest, loaded.manifest.generation) }
  }

  /** Whether the origin has never answered. */
  get isEmpty(): boolean {
    return this.follower.sinceSeenMs() === Number.POSITIVE_INFINITY
  }

  /**
   * Looks, and returns whether the origin has ever answered: by a manifest, or that there is none.
   * A manifest counts without its shards: if these are lost, only a publication brings them back.
   * Never rejects.
   */
  async hasAnswered(): Promise<boolean> {
    const has = (): boolean => this.last !== undefined || !this.isEmpty
    return has() || (await this.look()) || has()
  }

  /** Resolves once all readers have another version, or after `limitMs`. */
  changed(limitMs: number): Promise<void> {
    return this.changes.next(this.options.after, limitMs)
  }

  /** As the method of {@link Follower}. */
  look(): Promise<boolean> {
    return this.follower.look()
  }

  /** As the method of {@link Follower}. */
  relook(): Promise<boolean> {
    return this.follower.relook()
  }

  /**
   * Returns whether an answer from memory need not wait: the origin answered less than `limitMs`
   * ago, is being watched, or is away.
   */
  mayAnswer(limitMs: number): boolean {
    return this.follower.sinceSeenMs() < limitMs || this.follower.state() !== 'due'
  }

  /** Loads a shard by its hash; `undefined` when the origin lacks it or is away. Never rejects. */
  async shard(sha256: string): Promise<Shard | undefined> {
    const part = await this.part(sha256)
    return part instanceof Shard ? part : undefined
  }

  /**
   * Loads a table of rights by its hash; `undefined` for one that this build cannot read.
   * @throws {SnapshotError} when the origin lacks it or is away
   */
  async rights(sha256: string): Promise<RightsTable | undefined> {
    const isKnown = (): boolean => this.lastRights.sha256 === sha256
    const part = isKnown() ? undefined : await this.part(sha256)
    if (isKnown()) return this.lastRights.table
    if (part === undefined) throw new SnapshotError('Cannot load the table of rights')
    this.lastRights = { sha256, table: this.tableOf(part) }
    return this.lastRights.table
  }

  private tableOf(part: Part): RightsTable | undefined {
    try {
      return openRights(part instanceof Shard ? part.bytes : part)
    } catch (error) {
      this.options.onError(errorText(error))
      return undefined
    }
  }

  private async part(sha256: string): Promise<Part | undefined> {
    const arrived = this.arrived.get(sha256)
    if (arrived !== undefined) return arrived
    const load = this.loads.get(sha256) ?? this.newLoad(sha256)
    if (!(await load.follower.look())) return undefined
    this.loads.delete(sha256)
    return load.part
  }

  /** As {@link shard}; looks for a newer manifest when the origin lacks the shard. */
  async shardOrNewer(sha256: string): Promise<Shard | undefined> {
    const shard = await this.shard(sha256)
    const load = this.loads.get(sha256)
    if (shard !== undefined || load?.isLacking !== true) return shard
    // Shards of older manifests are removed. One look is enough for all who wait.
    load.isLacking = false
    await this.follower.relook()
    return undefined
  }

  private newLoad(sha256: string): PartLoad {
    const load: PartLoad = {
      follower: new Follower({
        ...this.options,
        refreshMs: Number.POSITIVE_INFINITY,
        watch: async (_, seen) => {
          load.isLacking = false
          const bytes = await this.options.origin.readShard(sha256)
          load.isLacking = bytes === undefined
          load.part = await opened(sha256, bytes)
          seen()
        },
      }),
      part: undefined,
      isLacking: false,
    }
    this.loads.set(sha256, load)
    return load
  }

  private async watch(waitMs: number, seen: () => void): Promise<void> {
    const { origin } = this.options
    const take = async (update: SnapshotUpdate): Promise<void> => {
      await this.take(update)
      seen()
    }
    if (origin.follow !== undefined) return origin.follow(this.known, waitMs, take)
    const manifest = await origin.readManifest()
    await take(manifest === undefined ? {} : { manifest })
  }

  /** Hands a manifest to the readers. @throws {Error} when it, or a shard, cannot be used */
  private async take({
    manifest: served = this.last?.served,
    shards,
  }: SnapshotUpdate): Promise<void> {
    if (served === undefined) return
    const loaded = await this.open(served)
    try {
      for (const bytes of shards ?? []) this.arrived.set(await sha256Hex(bytes), openPart(bytes))
      await Promise.all(this.readers.map((take) => take(loaded)))
    } finally {
      this.arrived.clear()
    }
    const version = versionOf(served, loaded.manifest.generation)
    if (this.known === version) return
    this.known = version
    this.loads.clear()
    this.changes.note()
  }

  private async open(served: ServedManifest): Promise<LoadedManifest> {
    const { cluster, publicKey } = this.options
    if (this.last !== undefined && isSame(served, this.last.served)) {
      // A pin changes no byte.
      return this.noteLast(served, this.last.loaded.manifest)
    }
    if (!(await isSignedBy(publicKey, served.bytes, served.signature))) {
      throw new SnapshotError(`The stored manifest of cluster "${cluster}" has a wrong signature`)
    }
    const manifest = openManifest(served.bytes)
    if (manifest.cluster !== cluster) {
      throw new SnapshotError(`The stored manifest is of cluster "${manifest.cluster}"`)
    }
    return this.noteLast(served, manifest)
  }

  private noteLast(served: ServedManifest, manifest: OpenManifest): LoadedManifest {
    const loaded = { manifest, isPinned: served.isPinned === true }
    this.last = { served, loaded }
    return loaded
  }
}

/** @throws {SnapshotError} for an invalid shard */
function openPart(bytes: Uint8Array): Part {
  return isRights(bytes) ? bytes : openShard(bytes)
}

/** @throws {SnapshotError} without bytes, and for those of another shard */
async function opened(sha256: string, bytes: Uint8Array | undefined): Promise<Part> {
  const what = `shard ${sha256.slice(0, 12)}…`
  if (bytes === undefined) throw new SnapshotError(`The store lacks the ${what}`)
  if ((await sha256Hex(bytes)) === sha256) return openPart(bytes)
  throw new SnapshotError(`The stored ${what} has another hash`)
}

/** Compares the bytes too, because the store is not trusted. */
function isSame(a: ServedManifest, b: ServedManifest): boolean {
  return a.signature === b.signature && equalBytes(a.bytes, b.bytes)
}
