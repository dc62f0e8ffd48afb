/**
 * A reader of one cluster's snapshots, the clock it goes by, and a scripted store.
 * @module
 */
import type { ReaderTimes } from '../../src/gateway/config/reader-times.ts'
import { ClusterReader, type ReaderOptions } from '../../src/gateway/snapshots/cluster-reader.ts'
import { ShardMemory } from '../../src/gateway/snapshots/shard-memory.ts'
import {
  SnapshotFollower,
  type SnapshotFollowerOptions,
  type SnapshotOrigin,
} from '../../src/gateway/snapshots/snapshot-follower.ts'
import type { ServedManifest } from '../../src/gateway/snapshots/store.ts'
import type { PrivateKey, PublicKey } from '../../src/snapshot/format/signature.ts'
import type { Snapshot } from '../../src/snapshot/read/snapshot.ts'
import { keys } from '../cluster/follow/memory-gateway.ts'
import type { Published } from './publishing.ts'

/** When it begins. */
export const START_MS: number = Date.parse('2026-01-01T00:00:00Z')
/** Its times. */
export const TIMES: ReaderTimes = {
  refreshMs: 1000,
  staleMs: 60_000,
  expireMs: 3_600_000,
}
const { privateKey, publicKey } = await keys()
/** With what snapshots for it are signed. */
export const signingKey: PrivateKey = privateKey
/** The public half. */
export const verifyingKey: PublicKey = publicKey

/** Makes a reader with a follower of its own. */
export function newReader(
  options: Omit<ReaderOptions, 'follower'> & Omit<SnapshotFollowerOptions, 'elapsed' | 'refreshMs'>,
): ClusterReader {
  const { elapsed } = options.clock
  const { refreshMs } = options.times
  return new ClusterReader({
    ...options,
    follower: new SnapshotFollower({ ...options, elapsed, refreshMs }),
  })
}

/** A reader, the clock it goes by, and a scripted store. */
export class Reading {
  nowMs: number = START_MS
  /** What the wall clock was set by. */
  steppedMs = 0
  /** What the store has. */
  published: Published | undefined
  /** What befalls those who read. */
  failure: Error | undefined
  /** Waited for by those who read. */
  gate: Promise<void> = Promise.resolve()
  readonly timers: Set<{ readonly dueMs: number; readonly task: () => void }> = new Set()
  readonly reads: string[] = []
  readonly errors: string[] = []
  /** Whether somebody goes by labels. */
  needsFacts = false
  readonly reader: ClusterReader

  constructor(published?: Published, bytesMax?: number) {
    this.published = published
    const origin: SnapshotOrigin = {
      readManifest: () => this.read('manifest', ({ signed }): ServedManifest => signed),
      readShard: (sha256) => this.read(sha256.slice(0, 8), ({ shards }) => shards.get(sha256)),
    }
    this.reader = newReader({
      cluster: 'shop',
      publicKey,
      origin,
      times: TIMES,
      memory: new ShardMemory(bytesMax),
      after: (delayMs, task) => {
        const timer = { dueMs: this.nowMs + delayMs, task }
        this.timers.add(timer)
        return () => this.timers.delete(timer)
      },
      clock: {
        now: () => this.nowMs + this.steppedMs,
        elapsed: () => this.nowMs - START_MS + 777,
      },
      needsFacts: () => this.needsFacts,
      onError: (message) => this.errors.push(message),
    })
  }

  /** Loads all that there is by now. */
  async load(): Promise<Snapshot | undefined> {
    let snapshot = await this.reader.reload()
    for (const index of snapshot?.shards.keys() ?? []) snapshot = await this.reader.load(index)
    return snapshot
  }

  private async read<T>(what: string, from: (published: Published) => T): Promise<T | undefined> {
    this.reads.push(what)
    await this.gate
    if (this.failure !== undefined) throw this.failure
    return this.published && from(this.published)
  }
}
