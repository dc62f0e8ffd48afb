/**
 * A cluster's Durable Object as the Worker calls it. A stub belongs to one request, so each call
 * gets a stub of its own.
 * @module
 */
import type { IngestResult } from '../src/gateway/ingest.ts'
import type { ClusterHistory, ClusterWriter } from '../src/gateway/publish-routes.ts'
import type { SnapshotOrigin } from '../src/gateway/snapshot-loader.ts'
import type { ServedManifest, SignedManifest } from '../src/gateway/store.ts'
import { parseManifest } from '../src/snapshot/format/manifest.ts'

/** A cluster that the caller has authorized, and the key that its manifests must be signed with. */
export type ClusterIdentity = { readonly cluster: string; readonly publicKey: string }

/** The methods of a cluster's Durable Object. */
export type ClusterCalls = {
  readonly readManifest: (identity: ClusterIdentity) => Promise<ServedManifest | undefined>
  readonly readShard: (identity: ClusterIdentity, sha256: string) => Promise<Uint8Array | undefined>
  readonly putShard: (
    identity: ClusterIdentity,
    sha256: string,
    bytes: Uint8Array,
  ) => Promise<IngestResult>
  readonly putManifest: (
    identity: ClusterIdentity,
    signed: SignedManifest,
    expected: string | undefined,
  ) => Promise<IngestResult>
  /** Returns the newest manifest's bytes and their entity tag. */
  readonly state: (
    identity: ClusterIdentity,
  ) => Promise<{ readonly bytes: Uint8Array; readonly etag: string } | undefined>
  readonly history: (identity: ClusterIdentity) => Promise<ClusterHistory>
  readonly pin: (identity: ClusterIdentity, generation: number | undefined) => Promise<boolean>
}

/** The namespace of such objects. */
export type ClusterObjects = { readonly getByName: (name: string) => ClusterCalls }

/** Reads and writes the snapshots of one cluster. */
export class ClusterStub implements ClusterWriter, SnapshotOrigin {
  private readonly objects: ClusterObjects
  private readonly identity: ClusterIdentity

  constructor(objects: ClusterObjects, identity: ClusterIdentity) {
    this.objects = objects
    this.identity = identity
  }

  readonly readManifest: SnapshotOrigin['readManifest'] = async () =>
    this.object().readManifest(this.identity)

  readonly readShard: SnapshotOrigin['readShard'] = async (sha256) =>
    this.object().readShard(this.identity, sha256)

  readonly putShard: ClusterWriter['putShard'] = async (sha256, bytes) =>
    this.object().putShard(this.identity, sha256, bytes)

  readonly putManifest: ClusterWriter['putManifest'] = async (bytes, signature, expected) =>
    this.object().putManifest(this.identity, { bytes, signature }, expected)

  readonly history: ClusterWriter['history'] = async () => this.object().history(this.identity)

  readonly pin: ClusterWriter['pin'] = async (generation) =>
    this.object().pin(this.identity, generation)

  readonly state: ClusterWriter['state'] = async () => {
    const state = await this.object().state(this.identity)
    return state && { manifest: parseManifest(state.bytes), etag: state.etag }
  }

  private object(): ClusterCalls {
    return this.objects.getByName(this.identity.cluster)
  }
}
