/**
 * A store that verifies what it reads. It ignores a manifest with a wrong signature, of another
 * cluster or under another generation, and treats a corrupt shard as missing, so that publishers
 * send it again.
 * @module
 */
import { equalBytes } from '../../dns/bytes/bytes.ts'
import { mapConcurrently } from '../../dns/bytes/concurrent.ts'
import { SnapshotError } from '../../snapshot/format/layout.ts'
import { allShards } from '../../snapshot/format/manifest.ts'
import { isSignedBy, type PublicKey, sha256Hex } from '../../snapshot/format/signature.ts'
import {
  type ClusterStore,
  type KeptGenerations,
  Mutex,
  manifestOf,
  type SignedManifest,
  type StoredManifest,
} from './store.ts'

/** Shards that the start-up check reads at a time. */
const READS_MAX = 16

/** What a checked store needs. */
export type CheckedStoreOptions = {
  readonly cluster: string
  readonly publicKey: PublicKey
  readonly store: ClusterStore
  /** Gets a warning once for each broken manifest, and each time a broken shard is read. */
  readonly warn: (message: string) => void
}

/** The checked store. */
export class CheckedStore implements ClusterStore {
  private readonly options: CheckedStoreOptions
  private readonly store: ClusterStore
  /** Writes and removals of shards, so that a removal never meets a shard's replacement. */
  private readonly mutex = new Mutex()
  /** The manifest that was served last, and those that were read last: they are verified. */
  private served: StoredManifest | undefined
  private kept: readonly StoredManifest[] = []
  /** Generations with a broken manifest; the next `writeManifest` sets them aside. */
  private broken = new Set<number>()
  /** Generations that lacked shards at start-up. */
  private readonly incomplete = new Set<number>()
  private hasWarnedOfPin = false
  private started: Promise<void> = Promise.resolve()

  constructor(options: CheckedStoreOptions) {
    this.options = options
    this.store = options.store
  }

  /**
   * Finds the newest generation with all its shards. Reads wait for the result. If no generation is
   * complete, the newest is served.
   */
  start(): void {
    this.started = this.findIncomplete().catch((error: unknown) => {
      this.options.warn(`cannot check the stored shards: ${String(error)}`)
    })
  }

  /** As the store below does. */
  readonly exclusive = <T>(step: () => Promise<T>): Promise<T> => {
    const { exclusive } = this.store
    return exclusive === undefined ? step() : exclusive(step)
  }

  readonly readManifest: ClusterStore['readManifest'] = async () => {
    await this.started
    const served = await this.store.readManifest()
    if (served !== undefined && (await this.isServable(served))) return served
    const [newest, ...older] = await this.readManifests()
    if (newest !== undefined && served === undefined && !this.hasWarnedOfPin) {
      this.hasWarnedOfPin = true
      this.options.warn('the pinned generation cannot be read; the newest one is served')
    }
    return [newest, ...older].find((one) => one && !this.incomplete.has(one.generation)) ?? newest
  }

  readonly readManifests: ClusterStore['readManifests'] = async (countMax) => {
    const good: StoredManifest[] = []
    const stored = await this.store.readManifests(countMax)
    for (const one of stored) {
      const opened = await this.open(one)
      if (opened !== undefined) good.push(opened)
    }
    // A broken manifest leaves its place to an older one.
    if (countMax !== undefined && good.length < stored.length) {
      return (await this.readManifests()).slice(0, countMax)
    }
    const isRead = new Set(good.map(({ generation }) => generation))
    const others = countMax === undefined ? [] : this.kept
    this.kept = [...good, ...others.filter(({ generation }) => !isRead.has(generation))]
    return good
  }

  readonly readShard: ClusterStore['readShard'] = async (sha256) => {
    const bytes = await this.store.readShard(sha256)
    if (bytes === undefined || (await sha256Hex(bytes)) === sha256) return bytes
    return this.mutex.run(async () => {
      const again = await this.store.readShard(sha256)
      if (again === undefined || (await sha256Hex(again)) === sha256) return again
      this.options.warn(`shard ${sha256.slice(0, 12)}… is corrupt and counts as missing`)
      await this.remove([sha256])
      return undefined
    })
  }

  /** Waits for the start-up check, which finds corrupt shards. */
  readonly missingShards: ClusterStore['missingShards'] = async (sha256s) => {
    await this.started
    return this.store.missingShards(sha256s)
  }

  readonly writeShard: ClusterStore['writeShard'] = (sha256, bytes, nowMs) =>
    this.mutex.run(() => this.store.writeShard(sha256, bytes, nowMs))

  readonly unlistedShards: ClusterStore['unlistedShards'] = (listed) =>
    this.store.unlistedShards(listed)

  readonly dropShards: ClusterStore['dropShards'] = (sha256s) =>
    this.mutex.run(() => this.remove(sha256s))

  readonly writeManifest = async (
    generation: number,
    manifest: SignedManifest,
    kept?: KeptGenerations,
  ): Promise<void> => {
    const all = kept && { ...kept, broken: this.broken }
    await this.store.writeManifest(generation, manifest, all)
    if (kept !== undefined) this.broken = new Set()
    this.incomplete.delete(generation)
  }

  readonly pin: ClusterStore['pin'] = async (generation) => {
    const known = generation === undefined ? [] : await this.readManifests()
    const isKept = known.some((one) => one.generation === generation)
    if (generation !== undefined && !isKept) return false
    return this.store.pin(generation)
  }

  /** Returns whether to serve a manifest. An operator may pin a generation that lacks shards. */
  private async isServable(one: StoredManifest): Promise<boolean> {
    if (this.incomplete.has(one.generation) && one.isPinned !== true) return false
    this.served = await this.open(one)
    return this.served !== undefined
  }

  /**
   * Verifies a manifest; returns `undefined` and warns if it is broken. Of one that was verified
   * before, returns the bytes of that time, which are parsed already.
   */
  private async open(one: StoredManifest): Promise<StoredManifest | undefined> {
    const { publicKey, cluster } = this.options
    const { generation } = one
    const known = [this.served, ...this.kept].find((before) => before?.generation === generation)
    if (known?.signature === one.signature && equalBytes(known.bytes, one.bytes)) {
      return { ...one, bytes: known.bytes }
    }
    if (!(await isSignedBy(publicKey, one.bytes, one.signature))) {
      return this.refuse(generation, 'has a wrong signature')
    }
    try {
      const manifest = manifestOf(one)
      if (manifest.cluster !== cluster) return this.refuse(generation, 'is of another cluster')
      if (manifest.generation !== generation) {
        return this.refuse(generation, `is of generation ${manifest.generation}`)
      }
      return one
    } catch (error) {
      if (error instanceof SnapshotError)
        return this.refuse(generation, `is broken: ${error.message}`)
      throw error
    }
  }

  private refuse(generation: number, why: string): undefined {
    if (this.broken.has(generation)) return
    this.broken.add(generation)
    this.options.warn(`ignored the manifest of generation ${generation}: it ${why}`)
  }

  /** Removes shards; a failure is only a warning because nothing refers to them. */
  private async remove(sha256s: readonly string[]): Promise<void> {
    try {
      await this.store.dropShards(sha256s)
    } catch (error) {
      this.options.warn(`cannot remove shards: ${String(error)}`)
    }
  }

  private async findIncomplete(): Promise<void> {
    for (const one of await this.readManifests()) {
      const listed = allShards(manifestOf(one)).map(({ sha256 }) => sha256)
      const missing = await this.countMissing(listed)
      if (missing === 0) return
      this.incomplete.add(one.generation)
      const lacks = `generation ${one.generation} lacks ${missing} of ${listed.length} shards`
      this.options.warn(`${lacks}; an older one is served until it is published again`)
    }
    this.incomplete.clear()
  }

  private async countMissing(listed: readonly string[]): Promise<number> {
    const read = async (sha256: string): Promise<boolean> =>
      (await this.readShard(sha256)) !== undefined
    const found = await mapConcurrently([...new Set(listed)], READS_MAX, read)
    return found.filter((isFound) => !isFound).length
  }
}
