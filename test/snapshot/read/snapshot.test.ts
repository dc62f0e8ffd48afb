import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { openShard } from '../../../src/snapshot/read/open-shard.ts'
import type { Shard } from '../../../src/snapshot/read/shard.ts'
import { Snapshot, type SnapshotInfo } from '../../../src/snapshot/read/snapshot.ts'
import { buildShards } from '../../../src/snapshot/write/build-shards.ts'
import { labels, pointer, rrset } from '../entries.ts'

const INFO: SnapshotInfo = { generation: 1, timeMs: 0, ttlSeconds: 5, origins: [] }

describe('Snapshot', () => {
  for (const count of [1, 2, 8, 4096]) {
    test(`takes ${count} shards, loaded or not`, () => {
      const shards: (Shard | undefined)[] = Array(count).fill(undefined)
      const snapshot = new Snapshot(INFO, shards)
      assert.equal(snapshot.shards, shards)
      assert.equal(snapshot.info, INFO)
    })
  }

  for (const count of [0, 3, 6, 4095]) {
    test(`refuses ${count} shards`, () => {
      assert.throws(() => new Snapshot(INFO, Array(count).fill(undefined)), {
        name: 'SnapshotError',
        message: `Cannot open snapshot: ${count} shards, expected a power of two`,
      })
    })
  }

  test('finds the shards that names and addresses were put in', () => {
    const names = Array.from({ length: 50 }, (_, i) => `s${i}.shop.svc`)
    const addresses = names.map((_, i) => [192, 0, i, 1])
    const entries = [
      ...names.map((name) => rrset(`${name} 5 IN A 192.0.2.1`)),
      ...addresses.map((address) => pointer(address, 'a')),
    ]
    const snapshot = new Snapshot(INFO, buildShards(entries, 8).map(openShard))
    for (const name of names.map(labels)) {
      const shard = snapshot.shards[snapshot.shardOfName(name, name.length)]
      assert.notEqual(shard?.findNode(name, name.length), 0)
    }
    for (const address of addresses) {
      const octets = Uint8Array.from(address)
      const table = snapshot.shards[snapshot.shardOfAddress(octets)]?.addresses4
      assert.deepEqual(table?.address(table.firstFrom(octets)), octets)
    }
  })
})
