import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import {
  type BlobStore,
  type ClusterBlobs,
  originWithBlobs,
  writerWithBlobs,
} from '../../../src/gateway/snapshots/blob-store.ts'
import { LocalWriter } from '../../../src/gateway/snapshots/local-writer.ts'
import { createMemoryStore, StoreError } from '../../../src/gateway/snapshots/store.ts'
import { formatPublication } from '../../../src/snapshot/format/publication.ts'
import { keys } from '../../cluster/follow/memory-gateway.ts'
import { FakeHost, START_MS } from '../../fake-host.ts'
import { BLOB_PROMISES } from '../blob-contract.ts'
import { type Published, snapshotOf, WEB } from '../publishing.ts'

const { privateKey, publicKey } = await keys()

/** A store that remembers for good that a key was not there, as KV does for a minute. */
class Forgetful implements BlobStore {
  readonly blobs = new Map<string, Uint8Array>()
  readonly missed = new Set<string>()
  isAway = false
  keepsAll = false
  hangs = false

  /** What befalls those who read. */
  readAs: (bytes: Uint8Array | undefined) => Promise<Uint8Array | undefined> = async (bytes) =>
    bytes

  readonly get = async (key: string): Promise<Uint8Array | undefined> => this.readAs(this.find(key))

  private find(key: string): Uint8Array | undefined {
    if (this.isAway) throw new Error('away')
    if (!this.blobs.has(key)) this.missed.add(key)
    return this.missed.has(key) ? undefined : this.blobs.get(key)?.slice()
  }

  readonly put = async (key: string, bytes: Uint8Array): Promise<void> => {
    if (this.isAway) throw new Error('away')
    if (this.hangs) return new Promise(() => undefined)
    this.blobs.set(key, bytes.slice())
  }

  readonly remove = async (all: readonly string[]): Promise<void> => {
    if (this.keepsAll) throw new Error('cannot remove')
    for (const key of all) this.blobs.delete(key)
  }
}

/** A cluster that publishes, and who reads it. */
class Fixture {
  readonly blobs = new Forgetful()
  readonly store = createMemoryStore()
  reads = 0
  readonly errors: string[] = []
  readonly host = new FakeHost()
  /** Time limits that were set and that no test has waited for. */
  private armed: number[] = []
  private readonly near: ClusterBlobs = {
    cluster: 'shop',
    blobs: this.blobs,
    after: (delayMs, task) => {
      const cancel = this.host.after(delayMs, task)
      this.armed.push(delayMs)
      return cancel
    },
    elapsed: this.host.elapsed,
    onError: (error) => this.errors.push(String(error)),
  }
  readonly writer = writerWithBlobs(
    new LocalWriter({
      cluster: 'shop',
      publicKey,
      store: this.store,
      generationsMax: 2,
      now: () => START_MS,
    }),
    this.near,
  )
  readonly origin = originWithBlobs(
    {
      readManifest: () => this.store.readManifest(),
      readShard: (sha256) => {
        this.reads++
        return this.store.readShard(sha256)
      },
    },
    this.near,
  )
  private etag: string | undefined

  /** Waits until a time limit is set, and lets it pass. */
  async passLimit(limitMs: number): Promise<void> {
    while (!this.armed.includes(limitMs)) await new Promise(setImmediate)
    this.armed = []
    await this.host.advance(limitMs)
  }

  async publish(generation: number): Promise<Published> {
    const lines = WEB.replace('0.80', `0.${generation}`)
    const time = new Date(START_MS).toISOString()
    const published = await snapshotOf(privateKey, [lines], { generation, time })
    for (const [sha256, bytes] of published.shards) await this.writer.putShard(sha256, bytes)
    const { bytes, signature } = published.signed
    const result = await this.writer.putManifest(bytes, signature, this.etag)
    this.etag = result.kind === 'stored' ? result.etag : assert.fail(result.kind)
    return published
  }
}

describe('a store in memory that remembers failed reads', () => {
  const store = new Forgetful()
  for (const { name, hold } of BLOB_PROMISES) test(name, () => hold(store))
})

describe('shards near their readers', () => {
  test('are read there, and nothing reads one before it is stored', async () => {
    const fixture = new Fixture()
    for (const generation of [1, 2, 3]) {
      const { shards } = await fixture.publish(generation)
      for (const [sha256, bytes] of shards) {
        assert.deepEqual(await fixture.origin.readShard(sha256), bytes)
      }
    }
    assert.equal(fixture.reads, 0)
    assert.equal(fixture.blobs.missed.size, 0)
  })

  test('are stored before the manifest of a publication is stored', async () => {
    const fixture = new Fixture()
    const { signed, shards } = await snapshotOf(privateKey, [WEB])
    const { bytes: manifest, signature } = signed
    const body = formatPublication({ manifest, shards: [...shards.values()] })
    const { kind } = await fixture.writer.putPublication(body, signature, undefined)
    assert.equal(kind, 'stored')
    assert.equal(fixture.blobs.blobs.size, shards.size)
    const broken = await fixture.writer.putPublication(body.subarray(1), signature, undefined)
    assert.equal(broken.kind === 'refused' && broken.code, 'bad_publication')
  })

  test('go when no manifest lists them any more', async () => {
    const fixture = new Fixture()
    for (const generation of [1, 2, 3, 4]) await fixture.publish(generation)
    assert.equal(fixture.blobs.blobs.size, 2)
  })

  test('may stay there when they cannot be removed: the manifest is published', async () => {
    const fixture = new Fixture()
    for (const generation of [1, 2]) await fixture.publish(generation)
    fixture.blobs.keepsAll = true
    const { shards } = await fixture.publish(3)
    assert.deepEqual(fixture.errors, ['Error: cannot remove'])
    for (const [sha256, bytes] of shards) {
      assert.deepEqual(await fixture.origin.readShard(sha256), bytes)
    }
  })

  test('are read from the writer when they are missing, or the store is unavailable', async () => {
    const fixture = new Fixture()
    const { shards } = await fixture.publish(1)
    const [[sha256 = '', bytes] = []] = shards
    fixture.blobs.isAway = true
    assert.deepEqual(await fixture.origin.readShard(sha256), bytes)
    fixture.blobs.isAway = false
    fixture.blobs.blobs.clear()
    assert.deepEqual(await fixture.origin.readShard(sha256), bytes)
    assert.equal(fixture.reads, 2)
  })

  const lies: Readonly<Record<string, (bytes: Uint8Array) => Uint8Array>> = {
    corrupt: (bytes) => bytes.map((byte, i) => (i === 9 ? byte ^ 4 : byte)),
    truncated: (bytes) => bytes.slice(0, -1),
    empty: () => new Uint8Array(0),
  }
  for (const [name, spoil] of Object.entries(lies)) {
    test(`that are ${name} there are read from the writer, once each`, async () => {
      const fixture = new Fixture()
      const { shards } = await fixture.publish(1)
      fixture.blobs.readAs = async (bytes) => bytes && spoil(bytes)
      for (const [sha256, bytes] of shards) {
        assert.deepEqual(await fixture.origin.readShard(sha256), bytes)
      }
      assert.equal(fixture.reads, shards.size)
      assert.match(fixture.errors.join(), /^Error: shard [0-9a-f]{12}… is corrupt$/)
    })
  }

  test('are read from the writer within 300 ms when the store hangs, then at once', async () => {
    const fixture = new Fixture()
    const { shards } = await fixture.publish(1)
    const [[sha256 = '', bytes] = []] = shards
    let gets = 0
    fixture.blobs.readAs = () => {
      gets++
      return new Promise(() => undefined)
    }
    const first = fixture.origin.readShard(sha256)
    await fixture.host.advance(300)
    assert.deepEqual(await first, bytes)
    assert.deepEqual(await fixture.origin.readShard(sha256), bytes)
    assert.deepEqual([gets, fixture.reads], [1, 2])
    fixture.blobs.readAs = async (stored) => stored
    await fixture.host.advance(1000)
    assert.deepEqual(await fixture.origin.readShard(sha256), bytes)
    assert.equal(fixture.reads, 2)
  })

  test('hold up a publisher for five seconds when the store hangs, and once', async () => {
    const fixture = new Fixture()
    fixture.blobs.hangs = true
    const first = fixture.publish(1)
    const refused = assert.rejects(first, (error) => isUnavailable(error, /after 5000 ms/))
    await fixture.passLimit(5000)
    await refused
    const second = fixture.publish(1)
    await fixture.passLimit(5000)
    await second
    assert.equal(fixture.errors.length, 1)
  })

  test('are not acknowledged at first when they could not be put there', async () => {
    const fixture = new Fixture()
    fixture.blobs.isAway = true
    await assert.rejects(fixture.publish(1), (error) => isUnavailable(error, /away/))
    assert.equal(await fixture.store.readManifest(), undefined)
    fixture.blobs.isAway = false
    await fixture.publish(1)
    assert.equal(fixture.blobs.blobs.size, 1)
  })

  test('are acknowledged when they come again: their writer has them', async () => {
    const fixture = new Fixture()
    fixture.blobs.isAway = true
    await assert.rejects(fixture.publish(1), (error) => isUnavailable(error, /away/))
    const { shards } = await fixture.publish(1)
    assert.deepEqual(fixture.errors, ['Error: away'])
    for (const [sha256, bytes] of shards) {
      assert.deepEqual(await fixture.origin.readShard(sha256), bytes)
    }
  })
})

/** Whether an error is what the exporter gets, with the store's own error for the log. */
function isUnavailable(error: unknown, cause: RegExp): boolean {
  assert.ok(error instanceof StoreError)
  assert.deepEqual([error.status, error.code], [503, 'shards_unavailable'])
  assert.match(String(error.cause), cause)
  return true
}
