/**
 * The Durable Object of a cluster: the single writer of its snapshots.
 * @module
 */
import { DurableObject } from 'cloudflare:workers'
import { blobPrefix } from '../src/gateway/snapshots/blob-store.ts'
import { CheckedStore } from '../src/gateway/snapshots/checked-store.ts'
import { BEING_REMOVED, type IngestResult } from '../src/gateway/snapshots/ingest.ts'
import { LocalWriter } from '../src/gateway/snapshots/local-writer.ts'
import type {
  ClusterHistory,
  ClusterWriter,
  WriterState,
} from '../src/gateway/snapshots/publish-routes.ts'
import { changedShards, versionOf } from '../src/gateway/snapshots/snapshot-update.ts'
import {
  type ClusterStore,
  Mutex,
  type ServedManifest,
  StoreError,
} from '../src/gateway/snapshots/store.ts'
import { createWebHost } from '../src/library/web-host.ts'
import { formatPublication } from '../src/snapshot/format/publication.ts'
import { importPublicKey } from '../src/snapshot/format/signature.ts'
import { blobsOf } from './blob-stores.ts'
import {
  type ClusterCalls,
  type ClusterIdentity,
  formatHead,
  readIdentity,
} from './cluster-stub.ts'
import type { Env } from './env.ts'
import { Followers, type FollowerUpdate } from './followers.ts'
import { SqlStore } from './sql-store.ts'

/** Has the name of a cluster that was removed, until its alarm. */
const REMOVED = 'removed'
/**
 * How long a removed cluster refuses publications: other isolates trust the directory that they
 * have for a minute.
 */
const REMOVAL_MS = 120_000
/** When to go on with shards in KV or R2, and when to try again after a failure. */
const MORE_MS = 1000
const RETRY_MS = 60_000

type Bound = Pick<Env, 'SHARDS_KV' | 'SHARDS_R2'>
type Opened = { readonly store: ClusterStore; readonly writer: LocalWriter }

/** Holds one cluster's manifest and shards. */
export class ClusterObject extends DurableObject<Bound> implements ClusterCalls {
  /** Created when it is first used: it creates tables. */
  private sql: ClusterStore | undefined
  /** Whether the cluster was removed; `undefined` before a look. */
  private isRemoved: boolean | undefined
  private readonly log = createWebHost({ runtime: 'workerd' }).log
  /** Serializes writes, whichever public keys they are for. */
  private readonly mutex = new Mutex()
  /** By public keys, because an object outlives a change of the configuration. */
  private readonly opened = new Map<string, Promise<Opened>>()
  private readonly followers: Followers

  constructor(state: DurableObjectState, env: Bound) {
    super(state, env)
    this.followers = new Followers(state, ({ subject, version }) =>
      this.updateFor(subject, version),
    )
  }

  /** Answers an isolate that follows: see {@link Followers}. */
  override fetch(request: Request): Promise<Response> {
    return this.followers.accept(request)
  }

  putShard(identity: ClusterIdentity, sha256: string, bytes: Uint8Array): Promise<IngestResult> {
    return this.write(identity, ({ writer }) => writer.putShard(sha256, bytes))
  }

  putManifest(
    identity: ClusterIdentity,
    ...values: Parameters<ClusterWriter['putManifest']>
  ): Promise<IngestResult> {
    return this.write(identity, ({ writer }) => writer.putManifest(...values))
  }

  putPublication(
    identity: ClusterIdentity,
    ...values: Parameters<ClusterWriter['putPublication']>
  ): Promise<IngestResult> {
    return this.write(identity, ({ writer }) => writer.putPublication(...values))
  }

  async readManifest(identity: ClusterIdentity): Promise<ServedManifest | undefined> {
    return (await this.open(identity)).store.readManifest()
  }

  async readShard(identity: ClusterIdentity, sha256: string): Promise<Uint8Array | undefined> {
    return (await this.open(identity)).store.readShard(sha256)
  }

  async state(identity: ClusterIdentity): Promise<WriterState | undefined> {
    return (await this.open(identity)).writer.state()
  }

  async history(identity: ClusterIdentity): Promise<ClusterHistory> {
    const history = await (await this.open(identity)).writer.history()
    return { ...history, followers: this.followers.count() }
  }

  pin(identity: ClusterIdentity, generation: number | undefined): Promise<boolean> {
    return this.mutex.run(async () => {
      const isKept = await (await this.open(identity)).writer.pin(generation)
      this.notify()
      return isKept
    })
  }

  /**
   * Removes all that the cluster has published, and ends the watches of it. Publications are
   * refused until the alarm, because another isolate may not know yet that the cluster is gone.
   * @returns whether there was anything
   */
  removeCluster(cluster: string): Promise<boolean> {
    return this.mutex.run(async () => {
      const { storage } = this.ctx
      const had = await this.store.readManifests(1)
      await this.clear()
      await storage.put(REMOVED, cluster)
      await storage.setAlarm(Date.now() + REMOVAL_MS)
      this.isRemoved = true
      return had.length > 0
    })
  }

  /** Ends a removal: empties KV or R2, some shards each time, then the storage once more. */
  override alarm(): Promise<void> {
    return this.mutex.run(async () => {
      const { storage } = this.ctx
      const cluster = await storage.get(REMOVED)
      if (typeof cluster !== 'string') return
      try {
        const isMore = await blobsOf(this.env)?.removeSome(blobPrefix(cluster))
        if (isMore === true) await storage.setAlarm(Date.now() + MORE_MS)
        else await this.clear()
      } catch (error) {
        const message = 'cannot remove the shards of a removed cluster'
        this.log({ level: 'error', message, cluster, error: String(error) })
        await storage.setAlarm(Date.now() + RETRY_MS)
      }
    })
  }

  private async clear(): Promise<void> {
    this.followers.close()
    await this.ctx.storage.deleteAll()
    this.opened.clear()
    this.sql = undefined
    this.isRemoved = false
  }

  private get store(): ClusterStore {
    this.sql ??= new SqlStore(this.ctx.storage)
    return this.sql
  }

  private notify(): void {
    this.ctx.waitUntil(this.followers.notify())
  }

  /** Returns the served manifest and the shards that changed since a version. */
  private async updateFor(subject: string, known: string): Promise<FollowerUpdate> {
    const identity = readIdentity(subject)
    const { store } = await this.open(identity)
    const served = await store.readManifest()
    const version = versionOf(served, served?.generation ?? 0)
    if (served === undefined || version === known) return { version, messages: [] }
    const shards = await changedShards(store, served, known)
    const publication = formatPublication({ manifest: served.bytes, shards })
    return { version, messages: [formatHead(served), publication] }
  }

  /** Errors lose their class on the way to the Worker, so a failing store becomes a refusal. */
  private write(
    identity: ClusterIdentity,
    act: (opened: Opened) => Promise<IngestResult>,
  ): Promise<IngestResult> {
    return this.mutex.run(async () => {
      try {
        this.isRemoved ??= (await this.ctx.storage.get(REMOVED)) !== undefined
        if (this.isRemoved) return BEING_REMOVED
        const result = await act(await this.open(identity))
        if (result.kind === 'stored') this.notify()
        return result
      } catch (error) {
        if (!(error instanceof StoreError)) throw error
        const { status, code, message, cause } = error
        this.log({ level: 'error', message, cluster: identity.cluster, error: String(cause) })
        return { kind: 'refused', status, code, message }
      }
    })
  }

  private open(identity: ClusterIdentity): Promise<Opened> {
    const { publicKeys = [identity.publicKey] } = identity
    const keys = publicKeys.join(' ')
    const known = this.opened.get(keys) ?? this.openWith(identity.cluster, publicKeys)
    this.opened.set(keys, known)
    return known
  }

  private async openWith(cluster: string, publicKeys: readonly string[]): Promise<Opened> {
    const keys = await Promise.all(publicKeys.map(importPublicKey))
    const publicKey = keys.filter((key) => key !== undefined)
    if (publicKey.length === 0) throw new TypeError(`Cluster "${cluster}" has no public key`)
    const warn = (message: string): void => this.log({ level: 'warning', message, cluster })
    const store = new CheckedStore({ cluster, publicKey, store: this.store, warn })
    return { store, writer: new LocalWriter({ cluster, publicKey, store, now: Date.now }) }
  }
}
