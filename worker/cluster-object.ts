/**
 * The Durable Object of a cluster: the single writer of its snapshots.
 * @module
 */
import { DurableObject } from 'cloudflare:workers'
import { CheckedStore } from '../src/gateway/checked-store.ts'
import {
  type IngestResult,
  ingestManifest,
  ingestShard,
  manifestEtag,
  type Publisher,
} from '../src/gateway/ingest.ts'
import { readHistory } from '../src/gateway/local-writer.ts'
import { Mutex } from '../src/gateway/mutex.ts'
import type { ClusterHistory } from '../src/gateway/publish-routes.ts'
import type { ClusterStore, ServedManifest, SignedManifest } from '../src/gateway/store.ts'
import { StoreError } from '../src/gateway/store-error.ts'
import { UnlistedShards } from '../src/gateway/unlisted-shards.ts'
import { importPublicKey } from '../src/snapshot/format/signature.ts'
import type { ClusterCalls, ClusterIdentity } from './cluster-stub.ts'
import type { Env } from './env.ts'
import { SqlStore } from './sql-store.ts'
import { createWorkerHost } from './worker-host.ts'

/** Holds one cluster's manifest and shards. */
export class ClusterObject extends DurableObject<Env> implements ClusterCalls {
  private readonly store: ClusterStore
  private readonly log = createWorkerHost().log
  /** Serializes writes: other calls run while a signature is checked. */
  private readonly mutex = new Mutex()
  /** By public key, because an object outlives a change of the configuration. */
  private readonly publishers = new Map<string, Promise<Publisher>>()

  constructor(state: DurableObjectState, env: Env) {
    super(state, env)
    this.store = new SqlStore(state.storage)
  }

  putShard(identity: ClusterIdentity, sha256: string, bytes: Uint8Array): Promise<IngestResult> {
    return this.write(identity, (publisher) => ingestShard(publisher, sha256, bytes))
  }

  putManifest(
    identity: ClusterIdentity,
    signed: SignedManifest,
    expected: string | undefined,
  ): Promise<IngestResult> {
    return this.write(identity, (publisher) => ingestManifest(publisher, signed, expected))
  }

  async readManifest(identity: ClusterIdentity): Promise<ServedManifest | undefined> {
    return (await this.publisher(identity)).store.readManifest()
  }

  async readShard(identity: ClusterIdentity, sha256: string): Promise<Uint8Array | undefined> {
    return (await this.publisher(identity)).store.readShard(sha256)
  }

  async state(
    identity: ClusterIdentity,
  ): Promise<{ readonly bytes: Uint8Array; readonly etag: string } | undefined> {
    const [signed] = await (await this.publisher(identity)).store.readManifests()
    return signed && { bytes: signed.bytes, etag: await manifestEtag(signed.bytes) }
  }

  async history(identity: ClusterIdentity): Promise<ClusterHistory> {
    return readHistory((await this.publisher(identity)).store)
  }

  pin(identity: ClusterIdentity, generation: number | undefined): Promise<boolean> {
    return this.mutex.run(async () => (await this.publisher(identity)).store.pin(generation))
  }

  /** Errors lose their class on the way to the Worker, so a failing store becomes a refusal. */
  private write(
    identity: ClusterIdentity,
    act: (publisher: Publisher) => Promise<IngestResult>,
  ): Promise<IngestResult> {
    return this.mutex.run(async () => {
      try {
        return await act(await this.publisher(identity))
      } catch (error) {
        if (!(error instanceof StoreError)) throw error
        const { status, code, message, cause } = error
        this.log({ level: 'error', message, cluster: identity.cluster, error: String(cause) })
        return { kind: 'refused', status, code, message }
      }
    })
  }

  private publisher(identity: ClusterIdentity): Promise<Publisher> {
    const { publicKey } = identity
    const known = this.publishers.get(publicKey) ?? this.createPublisher(identity)
    this.publishers.set(publicKey, known)
    return known
  }

  private async createPublisher(identity: ClusterIdentity): Promise<Publisher> {
    const { cluster } = identity
    const publicKey = await importPublicKey(identity.publicKey)
    if (publicKey === undefined) throw new TypeError(`Cluster "${cluster}" has no public key`)
    const warn = (message: string): void => {
      this.log({ level: 'warning', message, cluster })
    }
    const store = new CheckedStore({ cluster, publicKey, store: this.store, warn })
    const unlisted = new UnlistedShards(store, Date.now)
    return { cluster, publicKey, store, unlisted, now: Date.now }
  }
}
