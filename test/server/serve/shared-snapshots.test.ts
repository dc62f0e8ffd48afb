import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { hostRecords } from '../../../src/cluster/rules/host-names.ts'
import { CLUSTER_TREE } from '../../../src/corefile/cluster-tree.ts'
import { defaultKubernetes } from '../../../src/corefile/kubernetes-options.ts'
import { nameOf } from '../../../src/dns/names/name.ts'
import type { SnapshotSource } from '../../../src/resolver/contract/host.ts'
import { keyOf } from '../../../src/server/serve/cluster-wanted.ts'
import { SharedClusters, SnapshotSharer } from '../../../src/server/serve/shared-snapshots.ts'
import { openShard } from '../../../src/snapshot/read/open-shard.ts'
import type { Shard } from '../../../src/snapshot/read/shard.ts'
import { Snapshot } from '../../../src/snapshot/read/snapshot.ts'
import { buildShards } from '../../../src/snapshot/write/build-shards.ts'
import { hostsIn } from '../../cluster/follow/snapshots.ts'
import { claimOf } from '../../cluster/naming.ts'

const DIRECTIVE = defaultKubernetes({ file: 'Corefile', line: 1, column: 1 }, [nameOf('a.test')])
const KEY = keyOf({ directive: DIRECTIVE, tree: CLUSTER_TREE })

function shardOf(name: string): Shard {
  const [bytes] = buildShards(hostRecords(name, claimOf({ hosts: ['192.0.2.1'] }), 60))
  assert.ok(bytes)
  return openShard(bytes)
}

function snapshotOf(generation: number, ...shards: readonly Shard[]): Snapshot {
  const origins = [nameOf('a.test')]
  return new Snapshot({ generation, timeMs: 0, ttlSeconds: 5, origins }, shards)
}

type State = Parameters<SnapshotSharer['share']>[0]

function stateOf(snapshot?: Snapshot, freshness: State['freshness'] = 'fresh'): State {
  return { snapshot, freshness }
}

/** Sends the states of one cluster to a mirror, cloned as between threads. */
class Channel {
  readonly clusters: SharedClusters = new SharedClusters()
  private readonly sharer = new SnapshotSharer()

  /** @returns the number of shards that were sent, `undefined` for no message */
  send(...state: Parameters<typeof stateOf>): number | undefined {
    const { snapshot, freshness } = stateOf(...state)
    const source: SnapshotSource = {
      current: () => snapshot,
      load: () => Promise.resolve(snapshot),
      freshness: () => freshness,
    }
    const wanted = { directive: DIRECTIVE, tree: CLUSTER_TREE, source }
    const [change] = this.sharer.changes([wanted])
    if (change === undefined) return undefined
    const [key, shared] = change
    assert.equal(key, KEY)
    this.clusters.update(key, structuredClone(shared))
    return shared.snapshot?.changed.length ?? 0
  }
}

describe('SnapshotSharer', () => {
  test('copies a shard into shared memory once', () => {
    const sharer = new SnapshotSharer()
    const [a, b, c] = [shardOf('a'), shardOf('b'), shardOf('c')]
    const first = sharer.share(stateOf(snapshotOf(1, a, b))).snapshot?.changed ?? []
    const second = sharer.share(stateOf(snapshotOf(2, a, c))).snapshot?.changed ?? []
    assert.ok(first.every(([, { buffer }]) => buffer instanceof SharedArrayBuffer))
    assert.deepEqual(
      first.map(([, bytes]) => Buffer.from(bytes)),
      [a, b].map(({ bytes }) => Buffer.from(bytes)),
    )
    assert.equal(second[0]?.[1], first[0]?.[1])
    assert.notEqual(second[1]?.[1], first[1]?.[1])
  })

  test('gives one receiver copies of its own', () => {
    const sharer = new SnapshotSharer({ isForOne: true })
    const state = stateOf(snapshotOf(1, shardOf('a')))
    const [first, second] = [sharer.share(state), sharer.share(state)].map(
      ({ snapshot }) => snapshot?.changed[0]?.[1],
    )
    assert.ok(first?.buffer instanceof ArrayBuffer)
    assert.notEqual(first, second)
    assert.deepEqual(first, second)
  })

  test('reports that there is no snapshot', () => {
    const shared = new SnapshotSharer().share(stateOf(undefined, 'partial'))
    assert.deepEqual(shared, { freshness: 'partial' })
  })

  test('sends the shards that have changed, and nothing twice', () => {
    const channel = new Channel()
    const [a, b, c] = [shardOf('a'), shardOf('b'), shardOf('c')]
    const first = snapshotOf(1, a, b)
    assert.equal(channel.send(first), 2)
    assert.equal(channel.send(first), undefined)
    assert.equal(channel.send(first, 'stale'), 0)
    assert.equal(channel.send(snapshotOf(2, a, c)), 1)
    assert.equal(channel.send(snapshotOf(3, a, b, a, c)), 4)
  })
})

describe('SharedClusters', () => {
  test('have no snapshot before an update, then the latest one', async () => {
    const channel = new Channel()
    const { clusters } = channel
    await clusters.prepare()
    assert.equal(await clusters.ready(), true)
    const source = clusters.open(DIRECTIVE)
    assert.deepEqual([source.current(), source.freshness()], [undefined, 'partial'])
    clusters.update(KEY, { freshness: 'partial' })
    assert.equal(source.current(), undefined)
    const [a, b, c] = [shardOf('a'), shardOf('b'), shardOf('c')]
    channel.send(snapshotOf(1, a, b))
    const first = source.current()
    assert.deepEqual([first?.info.generation, source.freshness()], [1, 'fresh'])
    assert.deepEqual(first?.info.origins, [nameOf('a.test')])
    assert.equal(await source.load(), first)
    channel.send(snapshotOf(2, a, c), 'stale')
    const second = source.current()
    assert.equal(second?.shards[0], first?.shards[0])
    assert.notEqual(second?.shards[1], first?.shards[1])
    assert.equal(source.freshness(), 'stale')
    channel.send(second)
    assert.equal(source.freshness(), 'fresh')
  })

  test('read the shared bytes', () => {
    const channel = new Channel()
    channel.send(snapshotOf(1, shardOf('web')))
    const { clusters } = channel
    assert.deepEqual(hostsIn(clusters.open(DIRECTIVE).current(), ['web', 'db']), ['web'])
  })

  test('keep their names while a thread that replaces another one reads them again', () => {
    const channel = new Channel()
    const { clusters } = channel
    const source = clusters.open(DIRECTIVE)
    const [a, b, c] = [shardOf('a'), shardOf('b'), shardOf('c')]
    channel.send(snapshotOf(7, a, b))
    const kept = source.current()
    const next = new SnapshotSharer()
    const send = (snapshot: Snapshot | undefined, freshness: State['freshness']): void =>
      clusters.update(KEY, structuredClone(next.share(stateOf(snapshot, freshness))))
    send(undefined, 'partial')
    assert.deepEqual([source.current(), source.freshness()], [kept, 'stale'])
    send(snapshotOf(5, c), 'partial')
    assert.deepEqual([source.current(), source.freshness()], [kept, 'stale'])
    send(snapshotOf(6, c), 'fresh')
    assert.deepEqual([source.current()?.info.generation, source.freshness()], [6, 'fresh'])
  })

  test('are dropped when no directive needs them', () => {
    const channel = new Channel()
    channel.send(snapshotOf(1, shardOf('web')))
    const { clusters } = channel
    clusters.keep([{ directive: DIRECTIVE, tree: CLUSTER_TREE }])
    assert.ok(clusters.open(DIRECTIVE).current())
    clusters.keep([])
    assert.equal(clusters.open(DIRECTIVE).current(), undefined)
  })
})
