import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { SnapshotSource } from '../../src/chain/host.ts'
import { CLUSTER_TREE } from '../../src/corefile/cluster-tree.ts'
import { defaultKubernetes } from '../../src/corefile/kubernetes-options.ts'
import { nameOf } from '../../src/dns/name.ts'
import { hostRecords } from '../../src/kubernetes/rules/host-names.ts'
import { keyOf } from '../../src/server/cluster-sources.ts'
import {
  SharedClusters,
  type SharedSnapshot,
  SnapshotSharer,
} from '../../src/server/shared-snapshots.ts'
import { openShard } from '../../src/snapshot/read/open-shard.ts'
import type { Shard } from '../../src/snapshot/read/shard.ts'
import { Snapshot } from '../../src/snapshot/read/snapshot.ts'
import { buildShards } from '../../src/snapshot/write/build-shards.ts'
import { hostsIn } from '../exporter/snapshots.ts'
import { claimOf } from '../kubernetes/naming.ts'

const DIRECTIVE = defaultKubernetes({ file: 'Corefile', line: 1, column: 1 }, [nameOf('a.test')])
const KEY = keyOf({ directive: DIRECTIVE, tree: CLUSTER_TREE })

function shardOf(name: string): Shard {
  const [bytes] = buildShards(hostRecords(name, claimOf({ hosts: ['192.0.2.1'] }), 60))
  assert.ok(bytes)
  return openShard(bytes)
}

function snapshotOf(generation: number, ...shards: readonly Shard[]): Snapshot {
  const facts = { timeMs: 0, ttlSeconds: 5, records: 1, origins: [nameOf('a.test')] }
  return new Snapshot({ generation, ...facts }, shards)
}

function sourceOf(
  snapshot: Snapshot | undefined,
  freshness: SharedSnapshot['freshness'] = 'fresh',
): SnapshotSource {
  return {
    current: () => snapshot,
    load: () => Promise.resolve(snapshot),
    freshness: () => freshness,
  }
}

describe('SnapshotSharer', () => {
  test('copies a shard into shared memory once', () => {
    const sharer = new SnapshotSharer()
    const [a, b, c] = [shardOf('a'), shardOf('b'), shardOf('c')]
    const first = sharer.share(sourceOf(snapshotOf(1, a, b))).snapshot?.shards ?? []
    const second = sharer.share(sourceOf(snapshotOf(2, a, c))).snapshot?.shards ?? []
    assert.ok(first.every(({ bytes }) => bytes.buffer instanceof SharedArrayBuffer))
    assert.deepEqual(
      first.map(({ bytes }) => Buffer.from(bytes)),
      [a, b].map(({ bytes }) => Buffer.from(bytes)),
    )
    assert.equal(second[0], first[0])
    assert.notEqual(second[1]?.id, first[1]?.id)
  })

  test('reports that there is no snapshot', () => {
    const shared = new SnapshotSharer().share(sourceOf(undefined, 'partial'))
    assert.deepEqual(shared, { freshness: 'partial' })
  })
})

describe('SharedClusters', () => {
  test('have no snapshot before an update, then the latest one', async () => {
    const [sharer, clusters] = [new SnapshotSharer(), new SharedClusters()]
    await clusters.prepare()
    assert.equal(await clusters.ready(), true)
    const source = clusters.open(DIRECTIVE)
    assert.deepEqual([source.current(), source.freshness()], [undefined, 'partial'])
    clusters.update(KEY, { freshness: 'partial' })
    assert.equal(source.current(), undefined)
    const [a, b, c] = [shardOf('a'), shardOf('b'), shardOf('c')]
    const take = (snapshot: Snapshot, freshness: SharedSnapshot['freshness'] = 'fresh'): void => {
      // Cloned, as between threads.
      clusters.update(KEY, structuredClone(sharer.share(sourceOf(snapshot, freshness))))
    }
    take(snapshotOf(1, a, b))
    const first = source.current()
    assert.deepEqual([first?.info.generation, source.freshness()], [1, 'fresh'])
    assert.deepEqual(first?.info.origins, [nameOf('a.test')])
    assert.equal(await source.load(), first)
    take(snapshotOf(2, a, c), 'stale')
    const second = source.current()
    assert.equal(second?.shards[0], first?.shards[0])
    assert.notEqual(second?.shards[1], first?.shards[1])
    assert.equal(source.freshness(), 'stale')
    take(snapshotOf(2, a, c))
    assert.equal(source.current(), second)
  })

  test('read the shared bytes', () => {
    const [sharer, clusters] = [new SnapshotSharer(), new SharedClusters()]
    clusters.update(KEY, structuredClone(sharer.share(sourceOf(snapshotOf(1, shardOf('web'))))))
    assert.deepEqual(hostsIn(clusters.open(DIRECTIVE).current(), ['web', 'db']), ['web'])
  })

  test('are dropped when no directive needs them', () => {
    const [sharer, clusters] = [new SnapshotSharer(), new SharedClusters()]
    clusters.update(KEY, sharer.share(sourceOf(snapshotOf(1, shardOf('web')))))
    clusters.keep([{ directive: DIRECTIVE, tree: CLUSTER_TREE }])
    assert.ok(clusters.open(DIRECTIVE).current())
    clusters.keep([])
    assert.equal(clusters.open(DIRECTIVE).current(), undefined)
  })
})
