/**
 * Publishes snapshots: only the shards that the gateway lacks, then the manifest that lists them.
 * @module
 */
import { formatManifest, MANIFEST_VERSION, type Manifest } from '../snapshot/format/manifest.ts'
import { type PrivateKey, sha256Hex, signBytes } from '../snapshot/format/signature.ts'
import { sleep } from './backoff.ts'
import { type GatewayClient, GatewayError, type PublishedState } from './gateway-client.ts'
import { type BuiltSnapshot, nextGeneration } from './snapshot-builder.ts'

/** Most parallel uploads of shards. */
const UPLOADS_MAX = 16
/** Most attempts if another exporter publishes in between or a shard is missing. */
const ATTEMPTS_MAX = 16
/**
 * Bounds of the random wait after another exporter published, which doubles each time. Most of
 * thirty exporters that retry at once would fail.
 */
const WAIT_MS = 50
const WAIT_MS_MAX = 2000

/** Options of a publisher. */
export type PublisherOptions = {
  readonly cluster: string
  readonly gateway: GatewayClient
  readonly key: PrivateKey
  /** Returns whether this process may publish: of several exporters, only the elected one. */
  readonly isLeader?: () => boolean
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Waits between attempts; default: by the runtime's clock. */
  readonly wait?: (delayMs: number) => Promise<void>
  /** Returns numbers from 0 to 1, default: `Math.random`. */
  readonly random?: () => number
}

/** The source of a snapshot. */
export type SnapshotFacts = {
  /** Resource versions of the source's collections. */
  readonly sources: Readonly<Record<string, string>>
  /** When the source was last known to be current, in milliseconds since 1970. */
  readonly confirmedMs: number
  /** The same at the last scheduled confirmation, whatever has changed since; or just now. */
  readonly scheduledMs?: number
}

/** The report of a publication. */
export type PublishReport = {
  readonly generation: number
  /** Records of the snapshot. */
  readonly records: number
  /** Whether the names were only confirmed, without a change. */
  readonly isConfirmation: boolean
  /** Shards uploaded, and their bytes. */
  readonly shards: number
  readonly shardBytes: number
  readonly manifestBytes: number
}

type HashedShard = { readonly sha256: string; readonly bytes: Uint8Array }
type Published = Omit<PublishedState, 'timeMs'> & {
  readonly content: string
  readonly confirmedMs: number
  /** The shards, if this publisher published them. */
  readonly shards: ReadonlySet<string>
}

const NEVER = new AbortController().signal
const NO_SHARDS: ReadonlySet<string> = new Set()

/** Publishes one cluster to one gateway. */
export class Publisher {
  private readonly options: PublisherOptions
  private state: Published | undefined
  private hasState = false
  private hashes: ReadonlyMap<Uint8Array, string> = new Map()

  constructor(options: PublisherOptions) {
    this.options = options
  }

  /**
   * Publishes a snapshot. One with the same names as the previous one keeps its generation, and
   * only confirms it.
   * @returns `undefined` if the gateway has all of it
   * @throws {GatewayError} if the gateway refuses it; the next call starts from its present state
   */
  async publish(snapshot: BuiltSnapshot, facts: SnapshotFacts): Promise<PublishReport | undefined> {
    const trees = Object.values(snapshot.trees ?? {})
    const shards = await this.hash([...snapshot.shards, ...trees.flatMap((tree) => tree.shards)])
    const content = describeContent(snapshot, shards)
    try {
      return await this.attempt(snapshot, facts, { shards, content })
    } catch (error) {
      this.hasState = false
      throw error
    }
  }

  /** Forgets what the gateway has: another exporter may have published since. */
  forget(): void {
    this.hasState = false
  }

  /** Hashes shards, with a cache for those of the last call. */
  private async hash(shards: readonly Uint8Array[]): Promise<HashedShard[]> {
    const known = this.hashes
    const hashed = await Promise.all(
      shards.map(async (bytes) => ({
        sha256: known.get(bytes) ?? (await sha256Hex(bytes)),
        bytes,
      })),
    )
    this.hashes = new Map(hashed.map(({ sha256, bytes }) => [bytes, sha256]))
    return hashed
  }

  private async attempt(
    snapshot: BuiltSnapshot,
    facts: SnapshotFacts,
    { shards, content }: { readonly shards: readonly HashedShard[]; readonly content: string },
  ): Promise<PublishReport | undefined> {
    const { gateway, key, isLeader = () => true } = this.options
    // New shards go first: otherwise the gateway would refuse the manifest.
    let uploaded = await this.upload(shards, this.newShards(shards))
    let conflicts = 0
    let { confirmedMs } = facts
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const before = await this.readState()
      const isSame = before?.content === content
      if (isSame && confirmedMs === before.confirmedMs) return undefined
      // An earlier time means that a clock was set back; only a new generation may have that.
      const isConfirmation = isSame && confirmedMs > before.confirmedMs
      const generation = isConfirmation
        ? before.generation
        : nextGeneration(before?.generation ?? 0, this.options.now())
      const dated = { ...facts, confirmedMs }
      const manifest = formatManifest(this.manifest(snapshot, dated, { shards, generation }))
      const signature = await signBytes(key, manifest)
      if (!isLeader()) throw new GatewayError('another exporter was elected in the meantime')
      const result = await gateway.putManifest(manifest, signature, before?.etag)
      switch (result.kind) {
        case 'stored':
          this.state = {
            etag: result.etag,
            generation,
            content,
            confirmedMs,
            shards: new Set(shards.map(({ sha256 }) => sha256)),
          }
          return {
            generation,
            records: snapshot.records,
            isConfirmation,
            shards: uploaded.length,
            shardBytes: uploaded.reduce((sum, { bytes }) => sum + bytes.length, 0),
            manifestBytes: manifest.length,
          }
        case 'missing':
          uploaded = [...uploaded, ...(await this.upload(shards, new Set(result.sha256s)))]
          break
        case 'changed':
          this.hasState = false
          await this.waitAfter(conflicts++)
          break
        case 'older':
          if (before === undefined || isSame) throw new GatewayError(result.message)
          // Changes continue; the gateway's time of the last confirmation stays.
          confirmedMs = before.confirmedMs
          break
      }
    }
    const why = `other exporters publish cluster "${this.options.cluster}" too`
    throw new GatewayError(`Gave up after ${ATTEMPTS_MAX} attempts: ${why}`)
  }

  private async waitAfter(conflicts: number): Promise<void> {
    const { wait = (ms) => sleep(ms, NEVER), random = Math.random } = this.options
    await wait(random() * Math.min(WAIT_MS_MAX, WAIT_MS * 2 ** conflicts))
  }

  /** Returns the gateway's manifest; fetches it once, and again after anything unexpected. */
  private async readState(): Promise<Published | undefined> {
    if (!this.hasState) {
      const state = await this.options.gateway.state()
      const confirmedMs = state?.timeMs ?? 0
      this.state = state && { ...state, content: '', confirmedMs, shards: NO_SHARDS }
      this.hasState = true
    }
    return this.state
  }

  /** Returns the shards that the gateway lacks, as far as known. */
  private newShards(shards: readonly HashedShard[]): ReadonlySet<string> {
    const known = this.state?.shards ?? NO_SHARDS
    if (!this.hasState || known.size === 0) return NO_SHARDS
    return new Set(shards.flatMap(({ sha256 }) => (known.has(sha256) ? [] : [sha256])))
  }

  private manifest(
    { origins, ttlSeconds, records, ...built }: BuiltSnapshot,
    { sources, confirmedMs, scheduledMs = confirmedMs }: SnapshotFacts,
    { shards, generation }: { shards: readonly HashedShard[]; generation: number },
  ): Manifest {
    // The order of the hashes: the main shards, then those of each tree.
    const listed = shards.map(({ sha256, bytes }) => ({ sha256, bytes: bytes.length }))
    const rest = listed.splice(built.shards.length)
    const trees = Object.entries(built.trees ?? {}).map(([name, tree]) => {
      const own = rest.splice(0, tree.shards.length)
      return [name, { ttlSeconds: tree.ttlSeconds, records: tree.records, shards: own }]
    })
    return {
      version: MANIFEST_VERSION,
      cluster: this.options.cluster,
      generation,
      time: new Date(confirmedMs).toISOString(),
      confirmed: new Date(scheduledMs).toISOString(),
      origins,
      ttlSeconds,
      records,
      sources,
      shards: listed,
      ...(trees.length > 0 && { trees: Object.fromEntries(trees) }),
    }
  }

  private async upload(
    shards: readonly HashedShard[],
    missing: ReadonlySet<string>,
  ): Promise<readonly HashedShard[]> {
    const wanted = [...new Map(shards.map((shard) => [shard.sha256, shard])).values()].filter(
      ({ sha256 }) => missing.has(sha256),
    )
    const waiting = wanted.values()
    const uploadAll = async (): Promise<void> => {
      for (const { sha256, bytes } of waiting) await this.options.gateway.putShard(sha256, bytes)
    }
    await Promise.all(Array.from({ length: UPLOADS_MAX }, uploadAll))
    return wanted
  }
}

/** Returns the parts of a manifest that are equal for snapshots with the same names. */
function describeContent(
  { origins, ttlSeconds, trees = {} }: BuiltSnapshot,
  shards: readonly HashedShard[],
): string {
  const of = Object.entries(trees).map(([name, tree]) => [
    name,
    tree.ttlSeconds,
    tree.shards.length,
  ])
  return JSON.stringify([origins, ttlSeconds, of, shards.map(({ sha256 }) => sha256)])
}
