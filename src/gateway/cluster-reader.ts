/**
 * A cluster's snapshot in the memory of one process or isolate, kept fresh from a store.
 *
 * What is here is answered from; the manifest is looked at again in the background, and before an
 * answer only when nobody has looked for long.
 * @module
 */
import { nameOf } from '../dns/name.ts'
import type { SnapshotSource } from '../plugins/host.ts'
import { type Manifest, parseManifest } from '../snapshot/manifest.ts'
import { openShard } from '../snapshot/open-shard.ts'
import type { Shard } from '../snapshot/shard.ts'
import { isSignedBy, type PublicKey, sha256Hex } from '../snapshot/signature.ts'
import { Snapshot } from '../snapshot/snapshot.ts'
import { Refresher } from './refresher.ts'
import type { SignedManifest } from './store.ts'

/** Where a reader reads. */
export type SnapshotOrigin = {
  readonly readManifest: () => Promise<SignedManifest | undefined>
  readonly readShard: (sha256: string) => Promise<Uint8Array | undefined>
}

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
export type ReaderOptions = {
  readonly cluster: string
  readonly publicKey: PublicKey
  readonly origin: SnapshotOrigin
  readonly times: ReaderTimes
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Gets what went wrong in the background. */
  readonly onError: (message: string) => void
}

/** Reads one cluster. */
export class ClusterReader implements SnapshotSource {
  private readonly options: ReaderOptions
  private snapshot: Snapshot | undefined
  private manifest: Manifest | undefined
  private readonly refresher: Refresher

  constructor(options: ReaderOptions) {
    this.options = options
    const look = (): Promise<void> => this.checkManifest()
    const { refreshMs } = options.times
    this.refresher = new Refresher({ ...options, look, refreshMs })
  }

  /** The snapshot to answer from; `undefined` when there is none, or nobody has looked for long. */
  current(): Snapshot | undefined {
    return this.refresher.sinceCheckMs() < this.options.times.blockMs ? this.snapshot : undefined
  }

  /** Loads the newest manifest, or a shard of the snapshot that is here. */
  async load(shard?: number): Promise<Snapshot | undefined> {
    if (shard === undefined || this.snapshot === undefined) {
      await this.checkManifest()
      return this.snapshot
    }
    return this.loadShard(this.snapshot, shard)
  }

  /** Begins to look for a newer manifest, when it is time; gives the promise to keep alive. */
  refreshIfDue(): Promise<void> | undefined {
    return this.refresher.refreshIfDue()
  }

  /** How old the newest snapshot is held to be, by when its source last confirmed it. */
  freshness(): 'fresh' | 'stale' | 'expired' {
    const { staleMs, expireMs } = this.options.times
    const ageMs = this.ageMs()
    if (ageMs >= expireMs) return 'expired'
    return ageMs >= staleMs ? 'stale' : 'fresh'
  }

  /** Milliseconds since the source last confirmed its names; infinite when there are none. */
  ageMs(): number {
    if (this.snapshot === undefined) return Number.POSITIVE_INFINITY
    return Math.max(0, this.options.now() - this.snapshot.info.timeMs)
  }

  /** What the newest manifest says; `undefined` when there is none. */
  describe(): Manifest | undefined {
    return this.manifest
  }

  /**
   * Refuses what does not verify, belongs to another cluster or is older; what was here then stays.
   */
  private async checkManifest(): Promise<void> {
    const { cluster, publicKey, origin } = this.options
    const signed = await origin.readManifest()
    this.refresher.noteCheck()
    if (signed === undefined) return
    if (!(await isSignedBy(publicKey, signed.bytes, signed.signature))) {
      throw new TypeError(`The stored manifest of cluster "${cluster}" has a wrong signature`)
    }
    const manifest = parseManifest(signed.bytes)
    if (manifest.cluster !== cluster) {
      throw new TypeError(`The stored manifest is of cluster "${manifest.cluster}"`)
    }
    if (this.manifest === undefined || isNewer(manifest, this.manifest)) this.take(manifest)
  }

  /** Shards that both snapshots have stay loaded. */
  private take(manifest: Manifest): void {
    const known = new Map<string, Shard>()
    this.manifest?.shards.forEach(({ sha256 }, i) => {
      const shard = this.snapshot?.shards[i]
      if (shard !== undefined) known.set(sha256, shard)
    })
    const { generation, ttlSeconds, records } = manifest
    const info = {
      generation,
      ttlSeconds,
      records,
      timeMs: Date.parse(manifest.time),
      origins: manifest.origins.map(nameOf),
    }
    this.snapshot = new Snapshot(
      info,
      manifest.shards.map(({ sha256 }) => known.get(sha256)),
    )
    this.manifest = manifest
  }

  private async loadShard(snapshot: Snapshot, index: number): Promise<Snapshot | undefined> {
    const entry = this.manifest?.shards[index]
    if (entry === undefined || snapshot.shards[index] !== undefined) return this.snapshot
    const bytes = await this.options.origin.readShard(entry.sha256)
    if (bytes === undefined || (await sha256Hex(bytes)) !== entry.sha256) return undefined
    const shard = openShard(bytes)
    const current = this.snapshot
    // A newer manifest may have come meanwhile; the shard is good for whichever lists it.
    if (current === undefined || this.manifest?.shards[index]?.sha256 !== entry.sha256) {
      return current
    }
    const shards = current.shards.map((one, i) => (i === index ? shard : one))
    this.snapshot = new Snapshot(current.info, shards)
    return this.snapshot
  }
}

/** Two looks at the store may end in the other order than they began. */
function isNewer(next: Manifest, before: Manifest): boolean {
  if (next.generation !== before.generation) return next.generation > before.generation
  return Date.parse(next.time) > Date.parse(before.time)
}
