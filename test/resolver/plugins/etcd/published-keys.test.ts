import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { KeyTree } from '../../../../src/cluster/follow/key-tree.ts'
import type { SnapshotSource } from '../../../../src/resolver/contract/host.ts'
import { PublishedKeys } from '../../../../src/resolver/plugins/etcd/published-keys.ts'
import { openShard } from '../../../../src/snapshot/read/open-shard.ts'
import { Snapshot } from '../../../../src/snapshot/read/snapshot.ts'

const COUNT = 4000
const FACTS = { timeMs: 0, ttlSeconds: 0, origins: [] }

/** Snapshots of a tree of keys, whose shards are loaded one by one. */
class Scene {
  readonly tree = new KeyTree(assert.fail)
  readonly loads: number[] = []
  readonly keys: PublishedKeys
  /** Whether no shard can be loaded. */
  isBroken = false
  private bytes: readonly Uint8Array[] = []
  private snapshot: Snapshot | undefined

  constructor() {
    for (let i = 0; i < COUNT; i++) this.set(`k${i}`, `192.0.2.${i % 250}`)
    this.tree.complete()
    const source: SnapshotSource = {
      current: () => this.snapshot,
      freshness: () => 'fresh',
      load: async (shard = 0) => {
        this.loads.push(shard)
        const { snapshot } = this
        const bytes = this.bytes[shard]
        if (this.isBroken || snapshot === undefined || bytes === undefined) return undefined
        this.snapshot = new Snapshot(snapshot.info, snapshot.shards.with(shard, openShard(bytes)))
        return this.snapshot
      },
    }
    this.keys = new PublishedKeys(source)
  }

  set(key: string, host: string): void {
    this.tree.set({ key: `/skydns/${key}`, value: JSON.stringify({ host }), lease: '' })
  }

  /** Publishes the keys; unchanged shards stay loaded. */
  publish(generation: number): Snapshot {
    const before = this.snapshot?.shards ?? []
    const { shards = [] } = this.tree.build() ?? {}
    const next = shards.map((bytes, i) => (bytes === this.bytes[i] ? before[i] : undefined))
    this.bytes = shards
    this.snapshot = new Snapshot({ ...FACTS, generation }, next)
    return this.snapshot
  }

  async hostOf(snapshot: Snapshot, key: string): Promise<string | undefined> {
    const table = await this.keys.tableOf(snapshot)
    const entry = table?.find(`/skydns/${key}`)
    return typeof entry === 'string' ? entry : entry?.host
  }
}

describe('published keys', () => {
  test('are read once for each generation, from the shards that changed', async () => {
    const scene = new Scene()
    const first = scene.publish(1)
    assert.equal(await scene.hostOf(first, 'k3'), '192.0.2.3')
    assert.equal(scene.loads.length, first.shards.length)
    assert.equal((await scene.keys.tableOf(first))?.size, COUNT)
    scene.set('k3', '192.0.2.77')
    scene.tree.delete('/skydns/k4')
    scene.set('new', '192.0.2.78')
    scene.loads.length = 0
    const second = scene.publish(2)
    assert.equal(await scene.hostOf(second, 'k3'), '192.0.2.77')
    assert.equal(await scene.hostOf(second, 'k4'), undefined)
    assert.equal(await scene.hostOf(second, 'new'), '192.0.2.78')
    assert.ok(scene.loads.length <= 3)
    assert.ok(!(scene.keys.tableOf(second) instanceof Promise))
    assert.equal((await scene.keys.tableOf(second))?.size, COUNT)
    assert.equal(await scene.hostOf(scene.publish(3), 'k5'), '192.0.2.5')
    assert.ok(scene.loads.length <= 3)
  })

  test('are all read again when they have another number of shards', async () => {
    const scene = new Scene()
    await scene.keys.tableOf(scene.publish(1))
    for (let i = 10; i < COUNT; i++) scene.tree.delete(`/skydns/k${i}`)
    const few = scene.publish(2)
    assert.equal((await scene.keys.tableOf(few))?.size, 10)
    assert.equal(few.shards.length, 1)
  })

  test('stay as they were while a shard is unavailable', async () => {
    const scene = new Scene()
    scene.isBroken = true
    assert.equal(await scene.keys.tableOf(scene.publish(1)), undefined)
    scene.isBroken = false
    await scene.keys.tableOf(scene.publish(1))
    scene.isBroken = true
    scene.set('k3', '192.0.2.77')
    const second = scene.publish(2)
    assert.equal(await scene.hostOf(second, 'k3'), '192.0.2.3')
    scene.isBroken = false
    assert.equal(await scene.hostOf(second, 'k3'), '192.0.2.77')
  })
})
