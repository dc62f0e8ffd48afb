import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import {
  OriginOverloadError,
  ShardMemory,
  SnapshotLoader,
  type SnapshotOrigin,
} from '../../../src/gateway/snapshots/snapshot-loader.ts'
import { openManifest } from '../../../src/snapshot/format/manifest.ts'
import { keys } from '../../cluster/follow/memory-gateway.ts'
import { snapshotOf, WEB } from '../publishing.ts'

const { privateKey, publicKey } = await keys()
const published = await snapshotOf(privateKey, [WEB])
const [sha256 = ''] = published.shards.keys()

function loaderOf(origin: Partial<SnapshotOrigin>): SnapshotLoader {
  return new SnapshotLoader({
    cluster: 'shop',
    publicKey,
    origin: {
      readManifest: async () => published.signed,
      readShard: async (hash) => published.shards.get(hash),
      ...origin,
    },
    after: () => () => undefined,
  })
}

describe('a loader', () => {
  test('gives the manifest that is stored, and its shards', async () => {
    const loader = loaderOf({})
    const manifest = openManifest(published.signed.bytes)
    assert.deepEqual(await loader.manifest(), { manifest, isPinned: false })
    assert.equal((await loader.shard(sha256))?.bytes.length, published.manifest.shards[0]?.bytes)
    assert.equal(await loader.shard('a'.repeat(64)), undefined)
  })

  test('parses a manifest that has not changed once', async () => {
    const loader = loaderOf({})
    const first = await loader.manifest()
    assert.equal((await loader.manifest())?.manifest, first?.manifest)
  })

  test('checks bytes that come with a signature it has seen', async () => {
    let isForged = false
    const bytes = published.signed.bytes.slice()
    bytes[20] = (bytes[20] ?? 0) ^ 1
    const loader = loaderOf({
      readManifest: async () => (isForged ? { ...published.signed, bytes } : published.signed),
    })
    await loader.manifest()
    isForged = true
    await assert.rejects(loader.manifest(), /wrong signature/)
  })

  test('tries once more what fails, and no more', async () => {
    let fails = 1
    let reads = 0
    const loader = loaderOf({
      readManifest: () => {
        reads++
        return fails-- > 0 ? Promise.reject(new Error('away')) : Promise.resolve(published.signed)
      },
    })
    assert.ok(await loader.manifest())
    fails = 5
    reads = 0
    await assert.rejects(loader.manifest(), /away/)
    assert.equal(reads, 2)
  })

  test('reads once from an origin that has too many calls', async () => {
    let reads = 0
    const overloaded = (): Promise<never> => {
      reads++
      return Promise.reject(new OriginOverloadError('too many calls'))
    }
    const loader = loaderOf({ readManifest: overloaded, readShard: overloaded })
    await assert.rejects(loader.manifest(), /too many calls/)
    await assert.rejects(loader.shard(sha256), /too many calls/)
    assert.equal(reads, 2)
  })

  test('takes no shard with another hash', async () => {
    const loader = loaderOf({ readShard: async () => new Uint8Array(200) })
    await assert.rejects(loader.shard(sha256), /has another hash/)
  })
})

/** Holds shards of ten bytes each. */
class Holder {
  shards: number
  constructor(shards: number) {
    this.shards = shards
  }
  heldBytes(): number {
    return 10 * this.shards
  }
  release(): boolean {
    if (this.shards === 0) return false
    this.shards--
    return true
  }
}

describe('ShardMemory', () => {
  test('has the largest holder let go until all are within the bound', () => {
    const memory = new ShardMemory(65)
    const holders = [new Holder(2), new Holder(7)]
    for (const holder of holders) memory.add(holder)
    memory.enforce()
    assert.deepEqual(
      holders.map(({ shards }) => shards),
      [2, 4],
    )
    assert.equal(memory.heldBytes(), 60)
  })

  test('ends when nobody can let go of more', () => {
    const memory = new ShardMemory(5)
    memory.add({ heldBytes: () => 10, release: () => false })
    memory.enforce()
    assert.equal(memory.heldBytes(), 10)
  })
})
