/**
 * The Durable Object of a cluster: the single writer of its snapshots.
 * @module
 */
import { DurableObject } from 'cloudflare:workers'
import {
  type IngestResult,
  ingestManifest,
  ingestShard,
  manifestEtag,
  type Publisher,
} from '../src/gateway/ingest.ts'
import { readHistory } from '../src/gateway/local-writer.ts'
import type { ClusterHistory } from '../src/gateway/publish-routes.ts'
import type { ClusterStore, ServedManifest, SignedManifest } from '../src/gateway/store.ts'
import { Turns } from '../src/gateway/turns.ts'
import { importPublicKey } from '../src/snapshot/signature.ts'
import type { Env } from './env.ts'
import { createSqlStore } from './sql-store.ts'

/** A cluster that the caller has authorized, and the key that its manifests must be signed with. */
export type ClusterIdentity = { readonly cluster: string; readonly publicKey: string }

/** Holds one cluster's manifest and shards. */
export class ClusterObject extends DurableObject<Env> {
  private readonly store: ClusterStore
  /** What is written, one thing after the other: checking a signature lets others in between. */
  private readonly turns = new Turns()

  constructor(state: DurableObjectState, env: Env) {
    super(state, env)
    this.store = createSqlStore(state.storage)
  }

  /** Takes a shard. */
  putShard(identity: ClusterIdentity, sha256: string, bytes: Uint8Array): Promise<IngestResult> {
    return this.turns.take(async () => ingestShard(await this.publisher(identity), sha256, bytes))
  }

  /** Takes a manifest. */
  putManifest(
    identity: ClusterIdentity,
    signed: SignedManifest,
    expected: string | undefined,
  ): Promise<IngestResult> {
    return this.turns.take(async () =>
      ingestManifest(await this.publisher(identity), signed, expected),
    )
  }

  /** Reads the manifest. */
  readManifest(): Promise<ServedManifest | undefined> {
    return this.store.readManifest()
  }

  /** Reads a shard. */
  readShard(sha256: string): Promise<Uint8Array | undefined> {
    return this.store.readShard(sha256)
  }

  /** The manifest's octets and their entity tag. */
  async state(): Promise<{ readonly bytes: Uint8Array; readonly etag: string } | undefined> {
    const [signed] = await this.store.readManifests()
    return signed && { bytes: signed.bytes, etag: await manifestEtag(signed.bytes) }
  }

  /** Reads what is kept. */
  history(): Promise<ClusterHistory> {
    return readHistory(this.store)
  }

  /** Has a generation served, or the newest again. */
  pin(generation: number | undefined): Promise<boolean> {
    return this.turns.take(() => this.store.pin(generation))
  }

  private async publisher({ cluster, publicKey }: ClusterIdentity): Promise<Publisher> {
    const key = await importPublicKey(publicKey)
    if (key === undefined) throw new TypeError(`Cluster "${cluster}" has no public key`)
    return { cluster, publicKey: key, store: this.store, now: Date.now }
  }
}
