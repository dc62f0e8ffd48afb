/**
 * A cluster of many shards in the database of a Durable Object, and the rows that publishing takes:
 * for tests and benches.
 * @module
 */
import { CheckedStore } from '../../src/gateway/snapshots/checked-store.ts'
import type { IngestResult } from '../../src/gateway/snapshots/ingest.ts'
import { LocalWriter } from '../../src/gateway/snapshots/local-writer.ts'
import { formatManifest, type Manifest } from '../../src/snapshot/format/manifest.ts'
import { formatPublication } from '../../src/snapshot/format/publication.ts'
import type { PrivateKey, PublicKey } from '../../src/snapshot/format/signature.ts'
import { type SqlDatabase, SqlStore } from '../../worker/sql-store.ts'
import { signedBy, snapshotOf } from '../gateway/publishing.ts'
import { countRows, type RowCount } from './counted-rows.ts'

const SECOND_MS = 1000

/** The cluster. Each change replaces two shards. */
export class CountedCluster {
  readonly database: SqlDatabase
  private readonly keys: { readonly privateKey: PrivateKey; readonly publicKey: PublicKey }
  private readonly counted: ReturnType<typeof countRows>
  private nowMs = Date.UTC(2026, 0, 1)
  private changes = 0
  private manifest: Manifest | undefined
  private etag: string | undefined
  private opened: LocalWriter | undefined

  constructor(storage: SqlDatabase, keys: CountedCluster['keys']) {
    this.keys = keys
    this.counted = countRows(storage)
    this.database = this.counted.database
  }

  /** Publishes this many shards for the first time, as many at once as a publication takes. */
  async publish(count: number): Promise<void> {
    const all = await Promise.all(Array.from({ length: count }, () => this.shard()))
    const { manifest } = await snapshotOf(this.keys.privateKey, [])
    this.manifest = { ...manifest, shards: all.map(([entry]) => entry) }
    const shards = all.map(([, bytes]) => bytes)
    for (let i = 0; i < count; i += 256) await this.send(shards.slice(i, i + 256))
  }

  /** Forgets what is in memory, as an object that sleeps does. */
  restart(): void {
    this.opened = undefined
  }

  /** Returns the rows of a change. */
  change(): Promise<RowCount> {
    return this.counted.count(async () => {
      const fresh = [await this.shard(), await this.shard()]
      const { manifest } = this
      if (manifest === undefined) throw new TypeError('Nothing is published')
      const shards = [...manifest.shards]
      const at = (this.changes * 3) % (shards.length - 1)
      shards.splice(at, 2, ...fresh.map(([entry]) => entry))
      this.manifest = { ...manifest, shards, generation: manifest.generation + 1 }
      await this.send(fresh.map(([, bytes]) => bytes))
    })
  }

  /** Returns the rows of a confirmation, and of its result. */
  confirm(): Promise<RowCount> {
    return this.counted.count(() => this.send([]))
  }

  /** Publishes the manifest with a later time. */
  async send(shards: readonly Uint8Array[]): Promise<IngestResult> {
    if (this.manifest === undefined) throw new TypeError('Nothing is published')
    this.nowMs += SECOND_MS
    const manifest = { ...this.manifest, time: new Date(this.nowMs).toISOString() }
    const signed = await signedBy(this.keys.privateKey, formatManifest(manifest))
    const writer = this.writer()
    const result =
      shards.length === 0
        ? await writer.putManifest(signed.bytes, signed.signature, this.etag)
        : await writer.putPublication(
            formatPublication({ manifest: signed.bytes, shards }),
            signed.signature,
            this.etag,
          )
    if (result.kind === 'stored') this.etag = result.etag
    if (result.kind === 'refused') throw new Error(result.message)
    return result
  }

  /** Returns the store that checks what it reads. */
  store(): CheckedStore {
    const { publicKey } = this.keys
    const store = new SqlStore(this.database)
    return new CheckedStore({ cluster: 'shop', publicKey, store, warn: () => undefined })
  }

  private writer(): LocalWriter {
    const { publicKey } = this.keys
    const now = (): number => this.nowMs
    this.opened ??= new LocalWriter({ cluster: 'shop', publicKey, store: this.store(), now })
    return this.opened
  }

  private async shard(): Promise<readonly [Manifest['shards'][number], Uint8Array]> {
    const n = this.changes++
    const line = `web.shop.svc.cluster.local. 5 IN A 10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`
    const { manifest, shards } = await snapshotOf(this.keys.privateKey, [line])
    const [entry] = manifest.shards
    const bytes = entry && shards.get(entry.sha256)
    if (entry === undefined || bytes === undefined) throw new TypeError('No shard')
    return [entry, bytes]
  }
}
