import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { CheckedStore } from '../../../src/gateway/snapshots/checked-store.ts'
import { LocalWriter } from '../../../src/gateway/snapshots/local-writer.ts'
import {
  type ClusterStore,
  createMemoryStore,
  type StoredManifest,
  StoreError,
} from '../../../src/gateway/snapshots/store.ts'
import { keys } from '../../cluster/follow/memory-gateway.ts'
import { START_MS } from '../../fake-host.ts'
import { type Published, snapshotOf, WEB } from '../publishing.ts'

const { privateKey, publicKey } = await keys()
const stranger = await keys()

/** Three generations in memory, and what checks them after a restart. */
class Fixture {
  readonly memory = createMemoryStore()
  readonly warnings: string[] = []
  readonly published: Published[] = []
  store: CheckedStore = this.open()
  etag: string | undefined

  static async start(): Promise<Fixture> {
    const fixture = new Fixture()
    for (const generation of [1, 2, 3]) assert.equal(await fixture.publish(generation), 'stored')
    return fixture
  }

  open(memory: ClusterStore = this.memory): CheckedStore {
    const warn = (message: string): void => void this.warnings.push(message)
    this.store = new CheckedStore({ cluster: 'shop', publicKey, store: memory, warn })
    this.store.start()
    return this.store
  }

  /** Publishes as an exporter does: what is missing comes when the gateway says so. */
  async publish(generation: number, seconds = generation): Promise<string> {
    const now = (): number => START_MS
    const writer = new LocalWriter({ cluster: 'shop', publicKey, store: this.store, now })
    const lines = WEB.replace('0.80', `0.${generation}`)
    const time = new Date(START_MS + seconds).toISOString()
    const one = await snapshotOf(privateKey, [lines], { generation, time })
    this.published[generation] = one
    const { bytes, signature } = one.signed
    for (;;) {
      const result = await writer.putManifest(bytes, signature, this.etag)
      if (result.kind === 'stored') this.etag = result.etag
      if (result.kind !== 'missing') return result.kind
      for (const sha256 of result.sha256s) {
        await writer.putShard(sha256, one.shards.get(sha256) ?? assert.fail(sha256))
      }
    }
  }

  async served(): Promise<number | undefined> {
    return (await this.store.readManifest())?.generation
  }

  /** Flips a bit of a generation's shard where it is stored. */
  async rot(generation: number): Promise<string> {
    const [sha256 = ''] = this.published[generation]?.shards.keys() ?? []
    const bytes = (await this.memory.readShard(sha256)) ?? assert.fail(sha256)
    bytes[9] = (bytes[9] ?? 0) ^ 4
    return sha256
  }
}

describe('a store that is checked', () => {
  test('forgets which generation was pinned', async () => {
    const { memory } = await Fixture.start()
    await memory.pin(2)
    const options = { cluster: 'shop', publicKey, warn: assert.fail }
    const store = new CheckedStore({ ...options, store: memory })
    assert.equal((await store.readManifest())?.isPinned, true)
    await store.pin(undefined)
    const flags = (await store.readManifests()).map(({ isPinned }) => isPinned)
    assert.deepEqual(flags, [undefined, undefined, undefined])
  })

  test('holds only the last manifest of a gateway that never publishes', async () => {
    const { memory } = await Fixture.start()
    const copy = (one: StoredManifest): StoredManifest => ({ ...one, bytes: one.bytes.slice() })
    const copies: ClusterStore = {
      ...memory,
      readManifest: async () => copy((await memory.readManifest()) ?? assert.fail()),
      readManifests: async () => (await memory.readManifests()).map(copy),
    }
    const store = new CheckedStore({ cluster: 'shop', publicKey, store: copies, warn: assert.fail })
    const read: (Uint8Array | undefined)[] = []
    for (const generation of [1, 2]) {
      await memory.pin(generation)
      read[generation] = (await store.readManifest())?.bytes
    }
    const held = (await store.readManifests()).filter(({ bytes }) => read.includes(bytes))
    assert.deepEqual(
      held.map(({ generation }) => generation),
      [2],
    )
  })

  const broken: Readonly<Record<string, (fixture: Fixture) => Promise<unknown>>> = {
    'is truncated': async ({ memory, published }) => {
      const { bytes, signature } = published[3]?.signed ?? assert.fail()
      const signed = { bytes: bytes.slice(0, -7), signature }
      await memory.writeManifest(3, signed, { generations: new Set([1, 2]) })
    },
    'has a flipped bit': async ({ memory }) => {
      const [newest] = await memory.readManifests()
      if (newest?.bytes[5] !== undefined) newest.bytes[5] ^= 1
    },
    'is signed by a stranger': async ({ memory }) => {
      const { signed } = await snapshotOf(stranger.privateKey, [WEB], { generation: 3 })
      await memory.writeManifest(3, signed, { generations: new Set([1, 2]) })
    },
    'is of another cluster': async ({ memory }) => {
      const { signed } = await snapshotOf(privateKey, [WEB], { generation: 3, cluster: 'depot' })
      await memory.writeManifest(3, signed, { generations: new Set([1, 2]) })
    },
    'is an older one under a newer number': async ({ memory, published }) => {
      const { signed } = published[1] ?? assert.fail()
      await memory.writeManifest(3, signed, { generations: new Set([1, 2]) })
    },
  }
  for (const [name, spoil] of Object.entries(broken)) {
    test(`serves the generation before one whose manifest ${name}, and is published to`, async () => {
      const fixture = await Fixture.start()
      await spoil(fixture)
      fixture.open()
      assert.equal(await fixture.served(), 2)
      assert.deepEqual(
        (await fixture.store.readManifests()).map(({ generation }) => generation),
        [2, 1],
      )
      assert.equal(fixture.warnings.length, 1)
      assert.match(fixture.warnings[0] ?? '', /^ignored the manifest of generation 3: /)
      const writer = new LocalWriter({
        cluster: 'shop',
        publicKey,
        store: fixture.store,
        now: () => START_MS,
      })
      const state = await writer.state()
      assert.equal(state?.manifest.generation, 2)
      assert.equal((await writer.history()).served, 2)
      fixture.etag = state?.etag
      assert.equal(await fixture.publish(4), 'stored')
      assert.equal(await fixture.served(), 4)
      assert.deepEqual(
        (await fixture.memory.readManifests()).map(({ generation }) => generation),
        [4, 2, 1],
      )
    })
  }

  test('serves the newest generation with all its shards after a restart', async () => {
    const fixture = await Fixture.start()
    const sha256 = await fixture.rot(3)
    fixture.open()
    assert.equal(await fixture.served(), 2)
    assert.deepEqual(fixture.warnings, [
      `shard ${sha256.slice(0, 12)}… is corrupt and counts as missing`,
      'generation 3 lacks 1 of 1 shards; an older one is served until it is published again',
    ])
    // The exporter confirms what it published: the shard is asked for and replaced.
    assert.equal(await fixture.publish(3, 60), 'stored')
    assert.equal(await fixture.served(), 3)
    assert.notEqual(await fixture.store.readShard(sha256), undefined)
  })

  test('serves the newest generation if none has all its shards', async () => {
    const fixture = await Fixture.start()
    for (const generation of [1, 2, 3]) await fixture.rot(generation)
    fixture.open()
    assert.equal(await fixture.served(), 3)
  })

  test('serves what an operator pinned although it lacks shards, but not if it is broken', async () => {
    const fixture = await Fixture.start()
    await fixture.rot(2)
    assert.equal(await fixture.store.pin(2), true)
    fixture.open()
    assert.equal(await fixture.served(), 2)
    const pinned = await fixture.memory.readManifest()
    if (pinned?.bytes[0] !== undefined) pinned.bytes[0] ^= 1
    fixture.open()
    assert.equal(await fixture.served(), 3)
    assert.equal(await fixture.store.pin(2), false)
    assert.equal(await fixture.store.pin(undefined), true)
  })

  test('serves the newest generation if the pin cannot be read', async () => {
    const fixture = await Fixture.start()
    fixture.open({ ...fixture.memory, readManifest: async () => undefined })
    assert.deepEqual([await fixture.served(), await fixture.served()], [3, 3])
    assert.deepEqual(fixture.warnings, [
      'the pinned generation cannot be read; the newest one is served',
    ])
  })

  test('counts a corrupt shard as missing while it runs, and takes it again', async () => {
    const fixture = await Fixture.start()
    assert.equal(await fixture.served(), 3)
    const sha256 = await fixture.rot(3)
    assert.equal(await fixture.store.readShard(sha256), undefined)
    assert.deepEqual(await fixture.store.missingShards([sha256]), [sha256])
    assert.equal(await fixture.served(), 3)
    assert.equal(await fixture.publish(3, 60), 'stored')
    assert.notEqual(await fixture.store.readShard(sha256), undefined)
  })

  test('never gives a corrupt shard that it cannot remove', async () => {
    const fixture = await Fixture.start()
    const sha256 = await fixture.rot(3)
    const dropShards = (): never => {
      throw new StoreError('EROFS', new Error('read-only'))
    }
    fixture.open({ ...fixture.memory, dropShards })
    assert.equal(await fixture.served(), 2)
    assert.equal(await fixture.store.readShard(sha256), undefined)
    assert.match(fixture.warnings.join(), /cannot remove shards: .*EROFS/)
  })

  test('keeps a shard that was read wrongly once', async () => {
    const fixture = await Fixture.start()
    const [[sha256 = '', bytes] = []] = fixture.published[3]?.shards ?? []
    let reads = 0
    const readShard: ClusterStore['readShard'] = async (one) =>
      reads++ === 0 ? new Uint8Array(3) : fixture.memory.readShard(one)
    const store = new CheckedStore({
      cluster: 'shop',
      publicKey,
      store: { ...fixture.memory, readShard },
      warn: assert.fail,
    })
    assert.deepEqual(await store.readShard(sha256), bytes)
  })
})
