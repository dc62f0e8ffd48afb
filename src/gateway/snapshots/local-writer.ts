/**
 * The writer of a cluster's snapshots within one process, and the single one while it checks and
 * stores a manifest.
 * @module
 */
import {
  BEING_REMOVED,
  type IngestResult,
  type IngestTarget,
  ingestManifest,
  ingestPublication,
  ingestShard,
  manifestEtag,
} from './ingest.ts'
import type { ClusterWriter } from './publish-routes.ts'
import { Mutex, manifestOf } from './store.ts'
import { UnlistedShards } from './unlisted-shards.ts'

/** Runs writes one at a time: other requests run while a signature is checked. */
export class LocalWriter implements ClusterWriter {
  private readonly target: IngestTarget
  private readonly mutex = new Mutex()
  private isClosed = false

  constructor(target: Omit<IngestTarget, 'unlisted'>) {
    const { store, now } = target
    this.target = { ...target, unlisted: new UnlistedShards(store, now) }
  }

  readonly putShard: ClusterWriter['putShard'] = (sha256, bytes) =>
    this.write(() => ingestShard(this.target, sha256, bytes))

  readonly putManifest: ClusterWriter['putManifest'] = (bytes, signature, expected) =>
    this.swap(() => ingestManifest(this.target, { bytes, signature }, expected))

  readonly putPublication: ClusterWriter['putPublication'] = (bytes, signature, expected) =>
    this.swap(() => ingestPublication(this.target, { bytes, signature }, expected))

  readonly state: ClusterWriter['state'] = async () => {
    const [signed] = await this.target.store.readManifests(1)
    if (signed === undefined) return undefined
    return { manifest: manifestOf(signed), etag: await manifestEtag(signed.bytes) }
  }

  readonly history: ClusterWriter['history'] = async () => {
    const { store } = this.target
    const [kept, served] = await Promise.all([store.readManifests(), store.readManifest()])
    return {
      manifests: kept.map(manifestOf),
      pinned: served?.isPinned === true ? served.generation : undefined,
      served: served?.generation,
    }
  }

  readonly pin: ClusterWriter['pin'] = (generation) =>
    this.mutex.run(() => this.exclusively(() => this.target.store.pin(generation)))

  /** Refuses all later writes; resolves when those under way have ended. */
  async close(): Promise<void> {
    this.isClosed = true
    await this.mutex.run(async () => undefined)
  }

  /** Compares with what is newest, and writes, while no other process does either. */
  private swap(step: () => Promise<IngestResult>): Promise<IngestResult> {
    return this.write(() => this.exclusively(step))
  }

  private exclusively<T>(step: () => Promise<T>): Promise<T> {
    const { exclusive } = this.target.store
    return exclusive === undefined ? step() : exclusive(step)
  }

  private write(step: () => Promise<IngestResult>): Promise<IngestResult> {
    return this.mutex.run(async () => (this.isClosed ? BEING_REMOVED : step()))
  }
}
