/**
 * Publishes snapshots: only the shards that the gateway lacks, then the manifest that lists them.
 * @module
 */

import { sleep } from '../cluster/api/backoff.ts'
import { type BuiltSnapshot, nextGeneration } from '../cluster/follow/snapshot-builder.ts'
import { formatManifest, type Manifest } from '../snapshot/format/manifest.ts'
import { PUBLICATION_SHARDS_MAX } from '../snapshot/format/publication.ts'
import { type PrivateKey, sha256Hex, signBytes } from '../snapshot/format/signature.ts'
import type { TokenIssuer } from '../snapshot/format/token-issuer.ts'
import { describeMismatch, newestOfBoth, VERSIONS_WRITTEN } from '../snapshot/format/versions.ts'
import { BatchSize } from './batch-size.ts'
import {
  type GatewayClient,
  GatewayError,
  type ManifestResult,
  type PublishedState,
} from './gateway-client.ts'

/** Most parallel uploads of shards, to a gateway that takes them one by one. */
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
  /** Versions of snapshots to write, of which the newest is chosen that the gateway reads. */
  readonly versions?: readonly number[]
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Milliseconds since some moment, by a monotonic clock; default: the runtime's. */
  readonly elapsed?: () => number
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
  /** Issuer of the cluster's ServiceAccount tokens, as far as it is known. */
  readonly tokenIssuer?: TokenIssuer | undefined
  /** Table of the rights of users and groups, if it is published. */
  readonly rights?: Uint8Array | undefined
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

type SignedManifest = {
  readonly manifest: Uint8Array
  readonly signature: string
  /** Entity tag of the manifest to replace. */
  readonly expected: string | undefined
}
type HashedShard = { readonly sha256: string; readonly bytes: Uint8Array }
type Published = Omit<PublishedState, 'timeMs'> & {
  readonly content: string
  readonly version: number
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
  /** A request for the state that is under way. */
  private reading: Promise<void> | undefined
  private hashes: ReadonlyMap<Uint8Array, string> = new Map()
  /** Whether the gateway takes shards and manifest in one request, as far as known. */
  private canBatch = true
  private readonly size = new BatchSize()

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
    const listed = [...snapshot.shards, ...trees.flatMap((tree) => tree.shards)]
    const { rights } = facts
    const shards = await this.hash(rights === undefined ? listed : [...listed, rights])
    const content = describeContent(snapshot, shards, facts)
    try {
      return await this.attempt(snapshot, facts, { shards, content })
    } catch (error) {
      this.hasState = false
      this.size.failed()
      throw error
    }
  }

  /**
   * Reads the gateway's state while nothing is to be published yet: the first request also loads
   * the HTTP client, which takes a tenth of a second. A failure shows when publishing.
   * @param signal ends it: a silent gateway must not delay the end of the process
   */
  async prepare(signal: AbortSignal): Promise<void> {
    await this.readState(signal).catch(() => undefined)
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
    const { key, isLeader = () => true } = this.options
    const uploaded: HashedShard[] = []
    let waiting = this.newShards(shards)
    let conflicts = 0
    let { confirmedMs } = facts
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const before = await this.readState()
      const version = this.version()
      const isSame = before?.content === content && before.version === version
      if (isSame && confirmedMs === before.confirmedMs) return undefined
      // An earlier time means that a clock was set back; only a new generation may have that.
      const isConfirmation = isSame && confirmedMs > before.confirmedMs
      const generation = isConfirmation
        ? before.generation
        : nextGeneration(before?.generation ?? 0, this.options.now())
      const dated = { ...facts, confirmedMs }
      const numbers = { version, generation }
      const manifest = formatManifest(this.manifest(snapshot, dated, { shards, ...numbers }))
      const signature = await signBytes(key, manifest)
      if (!isLeader()) throw new GatewayError('another exporter was elected in the meantime')
      const signed = { manifest, signature, expected: before?.etag }
      const { result, sent } = await this.send(signed, waiting)
      if (result.kind !== 'changed') uploaded.push(...sent)
      switch (result.kind) {
        case 'stored':
          this.state = {
            etag: result.etag,
            ...numbers,
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
          // What one request could not carry follows; only a failure to store counts.
          if (result.sha256s.length < waiting.length) attempt--
          waiting = listedIn(result.sha256s, shards)
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

  /** @throws {GatewayError} if the gateway reads no version that this build writes */
  private version(): number {
    const { gateway, versions = VERSIONS_WRITTEN } = this.options
    const read = gateway.reads()
    const version = newestOfBoth(versions, read)
    if (version === undefined) throw new GatewayError(describeMismatch(versions, read))
    return version
  }

  private async waitAfter(conflicts: number): Promise<void> {
    const { wait = (ms) => sleep(ms, NEVER), random = Math.random } = this.options
    await wait(random() * Math.min(WAIT_MS_MAX, WAIT_MS * 2 ** conflicts))
  }

  /** Returns the gateway's manifest; fetches it once, and again after anything unexpected. */
  private async readState(signal?: AbortSignal): Promise<Published | undefined> {
    if (!this.hasState) {
      this.reading ??= this.requestState(signal).finally(() => {
        this.reading = undefined
      })
      await this.reading
    }
    return this.state
  }

  private async requestState(signal?: AbortSignal): Promise<void> {
    const state = await this.options.gateway.state(signal)
    const confirmedMs = state?.timeMs ?? 0
    this.state = state && { ...state, content: '', version: 0, confirmedMs, shards: NO_SHARDS }
    this.hasState = true
  }

  /** Returns the shards that the gateway lacks, as far as known. */
  private newShards(shards: readonly HashedShard[]): readonly HashedShard[] {
    const known = this.state?.shards ?? NO_SHARDS
    if (!this.hasState || known.size === 0) return []
    const hashes = shards.flatMap(({ sha256 }) => (known.has(sha256) ? [] : [sha256]))
    return listedIn(hashes, shards)
  }

  /**
   * Sends a manifest with shards that the gateway lacks, as many as one request carries; to a
   * gateway that does not take them so, first all of these, one by one.
   */
  private async send(
    { manifest, signature, expected }: SignedManifest,
    waiting: readonly HashedShard[],
  ): Promise<{ readonly result: ManifestResult; readonly sent: readonly HashedShard[] }> {
    const { gateway, elapsed = () => performance.now() } = this.options
    while (waiting.length > 0 && this.canBatch) {
      const sent = firstOf(waiting, this.size.bytes)
      const shards = sent.map(({ bytes }) => bytes)
      const begunMs = elapsed()
      const result = await gateway.putPublication({ manifest, shards }, signature, expected)
      if (result !== undefined) {
        if (sent.length < waiting.length) this.size.took(elapsed() - begunMs)
        return { result, sent }
      }
      this.canBatch = this.size.refused()
    }
    await this.upload(waiting)
    return { result: await gateway.putManifest(manifest, signature, expected), sent: waiting }
  }

  private manifest(
    { origins, ttlSeconds, records, ...built }: BuiltSnapshot,
    { sources, confirmedMs, scheduledMs = confirmedMs, tokenIssuer, ...facts }: SnapshotFacts,
    { shards, ...numbers }: { shards: readonly HashedShard[]; version: number; generation: number },
  ): Manifest {
    // The order of the hashes: the main shards, those of each tree, the rights.
    const listed = shards.map(({ sha256, bytes }) => ({ sha256, bytes: bytes.length }))
    const rest = listed.splice(built.shards.length)
    const trees = Object.entries(built.trees ?? {}).map(([name, tree]) => {
      const own = rest.splice(0, tree.shards.length)
      return [name, { ttlSeconds: tree.ttlSeconds, records: tree.records, shards: own }]
    })
    const rights = facts.rights && rest[0]
    return {
      ...numbers,
      cluster: this.options.cluster,
      time: new Date(confirmedMs).toISOString(),
      confirmed: new Date(scheduledMs).toISOString(),
      origins,
      ttlSeconds,
      records,
      sources,
      shards: listed,
      ...(trees.length > 0 && { trees: Object.fromEntries(trees) }),
      ...(tokenIssuer && { tokenIssuer }),
      ...(rights && { rights }),
    }
  }

  private async upload(shards: readonly HashedShard[]): Promise<void> {
    const waiting = shards.values()
    const uploadAll = async (): Promise<void> => {
      for (const { sha256, bytes } of waiting) await this.options.gateway.putShard(sha256, bytes)
    }
    await Promise.all(Array.from({ length: UPLOADS_MAX }, uploadAll))
  }
}

/** Returns the shards with these hashes, each once. */
function listedIn(
  sha256s: readonly string[],
  shards: readonly HashedShard[],
): readonly HashedShard[] {
  const wanted = new Set(sha256s)
  const found = shards.filter(({ sha256 }) => wanted.has(sha256))
  return [...new Map(found.map((shard) => [shard.sha256, shard])).values()]
}

/** Returns as many shards as one request carries, at least one. */
function firstOf(shards: readonly HashedShard[], bytesMax: number): readonly HashedShard[] {
  let size = 0
  const over = shards.findIndex(({ bytes }, i) => {
    size += bytes.length
    return i > 0 && (size > bytesMax || i >= PUBLICATION_SHARDS_MAX)
  })
  return over < 0 ? shards : shards.slice(0, over)
}

/** Returns the parts of a manifest that are equal for snapshots with the same names. */
function describeContent(
  { origins, ttlSeconds, trees = {} }: BuiltSnapshot,
  shards: readonly HashedShard[],
  { tokenIssuer, rights }: SnapshotFacts,
): string {
  const of = Object.entries(trees).map(([name, tree]) => [
    name,
    tree.ttlSeconds,
    tree.shards.length,
  ])
  return JSON.stringify([
    origins,
    ttlSeconds,
    of,
    shards.map(({ sha256 }) => sha256),
    tokenIssuer ?? null,
    // The last hash is theirs.
    rights !== undefined,
  ])
}
