/**
 * The single writer of a cluster's snapshots within one process.
 * @module
 */
import { parseManifest } from '../snapshot/format/manifest.ts'
import {
  type IngestResult,
  ingestManifest,
  ingestShard,
  manifestEtag,
  type Publisher,
} from './ingest.ts'
import { Mutex } from './mutex.ts'
import type { ClusterHistory, ClusterWriter } from './publish-routes.ts'
import type { ClusterStore } from './store.ts'
import { UnlistedShards } from './unlisted-shards.ts'

/** Runs writes one at a time: other requests run while a signature is checked. */
export class LocalWriter implements ClusterWriter {
  private readonly publisher: Publisher
  private readonly mutex = new Mutex()

  constructor(publisher: Omit<Publisher, 'unlisted'>) {
    const { store, now } = publisher
    this.publisher = { ...publisher, unlisted: new UnlistedShards(store, now) }
  }

  readonly putShard = (sha256: string, bytes: Uint8Array): Promise<IngestResult> =>
    this.mutex.run(() => ingestShard(this.publisher, sha256, bytes))

  readonly putManifest = (
    bytes: Uint8Array,
    signature: string,
    expected: string | undefined,
  ): Promise<IngestResult> =>
    this.mutex.run(() => ingestManifest(this.publisher, { bytes, signature }, expected))

  readonly state: ClusterWriter['state'] = async () => {
    const [signed] = await this.publisher.store.readManifests()
    if (signed === undefined) return undefined
    return { manifest: parseManifest(signed.bytes), etag: await manifestEtag(signed.bytes) }
  }

  readonly history: ClusterWriter['history'] = () => readHistory(this.publisher.store)

  readonly pin: ClusterWriter['pin'] = (generation) =>
    this.mutex.run(() => this.publisher.store.pin(generation))
}

/** Returns the generations that a store keeps. */
export async function readHistory(store: ClusterStore): Promise<ClusterHistory> {
  const [kept, served] = await Promise.all([store.readManifests(), store.readManifest()])
  return {
    manifests: kept.map(({ bytes }) => parseManifest(bytes)),
    pinned: served?.isPinned === true ? served.generation : undefined,
    served: served?.generation,
  }
}
