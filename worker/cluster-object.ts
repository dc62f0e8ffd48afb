/**
 * The Durable Object of a cluster: the single writer of its snapshots.
 * @module
 */
import { DurableObject } from 'cloudflare:workers'
import { CheckedStore } from '../src/gateway/snapshots/checked-store.ts'
import type { IngestResult } from '../src/gateway/snapshots/ingest.ts'
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
import {
  type ClusterCalls,
  type ClusterIdentity,
  formatHead,
  readIdentity,
} from './cluster-stub.ts'
import { Followers, type FollowerUpdate } from './followers.ts'
import { SqlStore } from './sql-store.ts'

type Opened = { readonly store: ClusterStore; readonly writer: LocalWriter }

/** Holds one cluster's manifest and shards. */
export class ClusterObject extends DurableObject<object> implements ClusterCalls {
  private readonly store: ClusterStore
  private readonly log = createWebHost({ runtime: 'workerd' }).log
  /** Serializes writes, whichever public keys they are for. */
  private readonly mutex = new Mutex()
  /** By public keys, because an object outlives a change of the configuration. */
  private readonly opened = new Map<string, Promise<Opened>>()
  private readonly followers: Followers

  constructor(state: DurableObjectState, env: object) {
    super(state, env)
    this.store = new SqlStore(state.storage)
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
