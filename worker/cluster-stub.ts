/**
 * A cluster's Durable Object as the Worker calls it. A stub belongs to one request, so each call
 * gets a stub of its own.
 * @module
 */
import { errorText, recordOf } from '../src/dns/bytes/unknown.ts'
import type { ClusterWriter } from '../src/gateway/snapshots/publish-routes.ts'
import {
  OriginOverloadError,
  type SnapshotOrigin,
} from '../src/gateway/snapshots/snapshot-loader.ts'

/** A cluster that the caller has authorized, and the keys that its manifests may be signed with. */
export type ClusterIdentity = {
  readonly cluster: string
  /** The first key: the only one that objects of an earlier version read. */
  readonly publicKey: string
  /** All keys. Workers of an earlier version, which run until a deployment ends, send none. */
  readonly publicKeys?: readonly string[]
}

type Calls = ClusterWriter & SnapshotOrigin

/** The methods of a cluster's Durable Object: those of its stub, for an authorized caller. */
export type ClusterCalls = {
  readonly [Name in keyof Calls]: (
    identity: ClusterIdentity,
    ...values: Parameters<Calls[Name]>
  ) => ReturnType<Calls[Name]>
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

  readonly readManifest: SnapshotOrigin['readManifest'] = () =>
    read(() => this.object().readManifest(this.identity))

  readonly readShard: SnapshotOrigin['readShard'] = (sha256) =>
    read(() => this.object().readShard(this.identity, sha256))

  readonly putShard: ClusterWriter['putShard'] = async (sha256, bytes) =>
    this.object().putShard(this.identity, sha256, bytes)

  readonly putManifest: ClusterWriter['putManifest'] = async (bytes, signature, expected) =>
    this.object().putManifest(this.identity, bytes, signature, expected)

  readonly putPublication: ClusterWriter['putPublication'] = async (bytes, signature, expected) =>
    this.object().putPublication(this.identity, bytes, signature, expected)

  readonly history: ClusterWriter['history'] = async () => this.object().history(this.identity)

  readonly pin: ClusterWriter['pin'] = async (generation) =>
    this.object().pin(this.identity, generation)

  readonly state: ClusterWriter['state'] = async () => this.object().state(this.identity)

  private object(): ClusterCalls {
    return this.objects.getByName(this.identity.cluster)
  }
}

/**
 * Runs a call that only reads.
 * @throws {OriginOverloadError} for an error with `overloaded`, which Cloudflare says not to retry
 *   (developers.cloudflare.com/durable-objects/best-practices/error-handling), also if it has
 *   `retryable`
 */
async function read<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (recordOf(error).overloaded !== true) throw error
    throw new OriginOverloadError(errorText(error), { cause: error })
  }
}
