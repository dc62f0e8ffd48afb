/**
 * A cluster's Durable Object as the Worker calls it. A stub belongs to one request, so each call
 * gets a stub of its own.
 * @module
 */
import { isRecord, isTexts, parseJson } from '../src/dns/bytes/unknown.ts'
import type { ClusterWriter } from '../src/gateway/snapshots/publish-routes.ts'
import type { SnapshotOrigin } from '../src/gateway/snapshots/snapshot-follower.ts'
import type { SnapshotUpdate } from '../src/gateway/snapshots/snapshot-update.ts'
import type { ServedManifest } from '../src/gateway/snapshots/store.ts'
import type { After } from '../src/gateway/timing/within.ts'
import { parsePublication } from '../src/snapshot/format/publication.ts'
import { cannotFollow, type FollowedObject, followObject, NOTHING_NEW } from './follow-object.ts'

/** A cluster that the caller has authorized, and the keys that its manifests may be signed with. */
export type ClusterIdentity = {
  readonly cluster: string
  /** The first key: the only one that objects of an earlier version read. */
  readonly publicKey: string
  /** All keys. Workers of an earlier version, which run until a deployment ends, send none. */
  readonly publicKeys?: readonly string[]
}

/** Reads the JSON of an identity. @throws {TypeError} for anything else */
export function readIdentity(text: string): ClusterIdentity {
  const value = parseJson(text)
  const { cluster, publicKey, publicKeys } = isRecord(value) ? value : {}
  if (typeof cluster === 'string' && typeof publicKey === 'string') {
    return { cluster, publicKey, ...(isTexts(publicKeys) && { publicKeys }) }
  }
  throw new TypeError('a follower has no cluster')
}

type Calls = ClusterWriter & Omit<SnapshotOrigin, 'follow'>

/** The methods of a cluster's Durable Object: those of its stub, for an authorized caller. */
export type ClusterCalls = {
  readonly [Name in keyof Calls]: (
    identity: ClusterIdentity,
    ...values: Parameters<Calls[Name]>
  ) => ReturnType<Calls[Name]>
}

/** The namespace of such objects. */
export type ClusterObjects = { readonly getByName: (name: string) => ClusterCalls & FollowedObject }

/** Reads and writes the snapshots of one cluster. */
export class ClusterStub implements ClusterWriter, SnapshotOrigin {
  private readonly objects: ClusterObjects
  private readonly identityOf: () => ClusterIdentity
  private readonly after: After

  /** @param identityOf returns the identity of the moment: keys may rotate */
  constructor(objects: ClusterObjects, identityOf: () => ClusterIdentity, after: After) {
    this.objects = objects
    this.identityOf = identityOf
    this.after = after
  }

  readonly readManifest: SnapshotOrigin['readManifest'] = async () =>
    this.object().readManifest(this.identity)

  readonly readShard: SnapshotOrigin['readShard'] = async (sha256) =>
    this.object().readShard(this.identity, sha256)

  readonly follow: NonNullable<SnapshotOrigin['follow']> = async (version, waitMs, take) => {
    let head: Head = {}
    const known = { subject: JSON.stringify(this.identity), version }
    const onMessage = async (message: string | Uint8Array): Promise<boolean> => {
      if (typeof message === 'string' && message !== NOTHING_NEW) {
        head = readHead(message)
        return false
      }
      await take(typeof message === 'string' ? {} : readUpdate(head, message))
      return true
    }
    try {
      await followObject(this.object(), known, waitMs, { after: this.after, onMessage })
    } catch (error) {
      if (!cannotFollow(error)) throw error
      const manifest = await this.readManifest()
      await take(manifest === undefined ? {} : { manifest })
    }
  }

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

  private object(): ClusterCalls & FollowedObject {
    return this.objects.getByName(this.identity.cluster)
  }

  private get identity(): ClusterIdentity {
    return this.identityOf()
  }
}

/** The text before the bytes of an update. */
type Head = { readonly signature?: string; readonly isPinned?: true }

/** Writes what {@link ClusterStub.follow} reads, before the bytes of a publication. */
export function formatHead({ signature, isPinned }: ServedManifest): string {
  const head: Head = { signature, ...(isPinned && { isPinned }) }
  return JSON.stringify(head)
}

function readHead(text: string): Head {
  const value = parseJson(text)
  if (!isRecord(value) || typeof value.signature !== 'string') return {}
  return { signature: value.signature, ...(value.isPinned === true && { isPinned: true }) }
}

function readUpdate({ signature, isPinned }: Head, bytes: Uint8Array): SnapshotUpdate {
  const publication = parsePublication(bytes)
  if (publication === undefined || signature === undefined) {
    throw new Error('the object has sent something else than an update')
  }
  const { manifest, shards } = publication
  return { manifest: { bytes: manifest, signature, ...(isPinned && { isPinned }) }, shards }
}
