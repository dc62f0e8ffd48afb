import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { ClusterReader } from '../../../src/gateway/snapshots/cluster-reader.ts'
import { ShardMemory } from '../../../src/gateway/snapshots/shard-memory.ts'
import {
  SnapshotFollower,
  type SnapshotOrigin,
} from '../../../src/gateway/snapshots/snapshot-follower.ts'
import {
  changedShards,
  type SnapshotUpdate,
  versionOf,
} from '../../../src/gateway/snapshots/snapshot-update.ts'
import { createMemoryStore } from '../../../src/gateway/snapshots/store.ts'
import { principalKey } from '../../../src/snapshot/format/rights-table.ts'
import { sha256Hex } from '../../../src/snapshot/format/signature.ts'
import type { NamespaceFacts } from '../../../src/snapshot/read/shard.ts'
import { keys } from '../../cluster/follow/memory-gateway.ts'
import { namesIn } from '../../cluster/follow/snapshots.ts'
import { type Published, snapshotOf } from '../publishing.ts'
import { TIMES } from '../reading.ts'

const { privateKey, publicKey } = await keys()
const CLOCK = { now: () => Date.parse('2026-01-01T00:00:00Z'), elapsed: () => 0 }
const NAMES = 'web api db cart mail auth feed shop'.split(' ')

function generation(number: number, changed = '', time = number): Promise<Published> {
  const sets = NAMES.map(
    (name, i) => `${name}.shop.svc.cluster.local. 5 IN A 10.0.${name === changed ? 1 : 0}.${i}`,
  )
  const at = new Date(Date.parse('2026-01-01T00:00:00Z') + 1000 * time).toISOString()
  return snapshotOf(privateKey, sets, { generation: number, shardCount: 8, time: at })
}

const first = await generation(1)
const confirmed = await generation(1, '', 15)
const second = await generation(2, 'db', 20)
const everywhere = { generations: new Set([1, 2]) }

describe('the shards of an update', () => {
  test('are those that the known generation lacks, whichever of its confirmations is known', async () => {
    const store = createMemoryStore()
    for (const one of [first, second]) {
      for (const [sha256, bytes] of one.shards) await store.writeShard(sha256, bytes, 0)
    }
    await store.writeManifest(1, confirmed.signed, everywhere)
    await store.writeManifest(2, second.signed, everywhere)
    const known = versionOf(first.signed, 1)
    const shards = await changedShards(store, second.signed, known)
    const [hash] = [...second.shards.keys()].filter((sha256) => !first.shards.has(sha256))
    assert.deepEqual(await Promise.all(shards.map(sha256Hex)), [hash])
  })

  test('are none for a confirmation, for which no other manifest is read', async () => {
    const store = {
      readManifests: () => assert.fail('one is enough'),
      readShard: () => assert.fail('none has changed'),
    }
    const known = versionOf(first.signed, 1)
    assert.deepEqual(await changedShards(store, confirmed.signed, known), [])
  })

  test('are none for a generation that is not kept, or for nothing that is one', async () => {
    const store = createMemoryStore()
    for (const [sha256, bytes] of second.shards) await store.writeShard(sha256, bytes, 0)
    await store.writeManifest(2, second.signed, everywhere)
    for (const known of ['', '1 signature', '9999999999 of the future', 'nonsense']) {
      assert.deepEqual(await changedShards(store, second.signed, known), [], known)
    }
  })
})

/** A reader of an origin that is followed, and what the origin was asked. */
function following(): {
  reader: ClusterReader
  follower: SnapshotFollower
  knowns: string[]
  reads: string[]
  send: (update: SnapshotUpdate) => Promise<void>
} {
  const knowns: string[] = []
  const reads: string[] = []
  let take: (update: SnapshotUpdate) => Promise<void> = () => Promise.resolve()
  const origin: SnapshotOrigin = {
    readManifest: () => assert.fail('it is followed'),
    readShard: async (sha256) => {
      reads.push(sha256)
      return first.shards.get(sha256)
    },
    follow: (known, _waitMs, next) => {
      knowns.push(known)
      take = next
      return new Promise(() => undefined)
    },
  }
  const onError = (): undefined => undefined
  const follower = new SnapshotFollower({
    cluster: 'shop',
    publicKey,
    origin,
    after: () => () => undefined,
    elapsed: CLOCK.elapsed,
    refreshMs: TIMES.refreshMs,
    onError,
  })
  const memory = new ShardMemory()
  const reader = new ClusterReader({
    cluster: 'shop',
    follower,
    times: TIMES,
    memory,
    needsRights: true,
    clock: CLOCK,
    onError,
  })
  return { reader, follower, knowns, reads, send: (update) => take(update) }
}

/** What the first shard that is loaded says of its namespaces. */
function factsIn(reader: ClusterReader): NamespaceFacts | undefined {
  const shard = reader.current()?.shards.find((one) => one !== undefined)
  return (shard ?? assert.fail('no shard is loaded')).facts
}

test('a reader that is added while a cluster is followed begins with what there is', async () => {
  const { reader, follower, send } = following()
  void reader.follow()
  await send({ manifest: first.signed })
  const errors: string[] = []
  const options = {
    cluster: 'shop',
    follower,
    times: TIMES,
    memory: new ShardMemory(),
    clock: CLOCK,
    onError: (message: string) => errors.push(message),
  }
  const late = new ClusterReader(options)
  assert.equal(late.current(), undefined)
  assert.equal((await late.load())?.info.generation, 1)
  const other = new ClusterReader({ ...options, tree: 'multicluster' })
  for (let i = 0; i < 3; i++) assert.equal(await other.load(), undefined)
  assert.deepEqual(errors, ['Cluster "shop" publishes no tree "multicluster" of names'])
})

describe('a reader that follows', () => {
  test('gets the manifest and the shards that changed, and reads no other one', async () => {
    const { reader, knowns, reads, send } = following()
    void reader.follow()
    await send({ manifest: first.signed })
    await reader.load()
    for (let index = 0; index < 8; index++) await reader.load(index)
    reads.length = 0
    const shards = [...second.shards].filter(([sha256]) => !first.shards.has(sha256))
    await send({ manifest: second.signed, shards: shards.map(([, bytes]) => bytes) })
    assert.equal(reader.current()?.info.generation, 2)
    assert.deepEqual(namesIn(reader.current(), ['db.shop.svc']), ['db.shop.svc'])
    assert.deepEqual(reads, [])
    assert.deepEqual(knowns, [''])
  })

  test('gets the table of rights with a manifest, as all readers of the cluster do', async () => {
    const { reader, follower, reads, send } = following()
    const other = new ClusterReader({
      ...{ cluster: 'shop', follower, times: TIMES, memory: new ShardMemory(), clock: CLOCK },
      ...{ needsRights: true, onError: assert.fail },
    })
    void reader.follow()
    await send({ manifest: first.signed })
    for (const one of [reader, other]) {
      await one.load()
      await one.load(0)
    }
    assert.equal(factsIn(reader)?.rights, undefined)
    reads.length = 0
    const right = { kind: 'user', name: 'ada', namespaces: ['shop'] } as const
    const third = await snapshotOf(privateKey, [], {
      ...{ generation: 3, rightsOf: [right], shardCount: 8 },
    })
    const { rights } = third.manifest
    const shards = [...third.shards.values()]
    await send({ manifest: third.signed, shards })
    const { rights: table } = factsIn(reader) ?? {}
    const key = await principalKey('user', 'ada')
    assert.deepEqual(table?.namespacesOf([key]), new Set(['shop']))
    assert.equal(factsIn(other)?.rights, table)
    const confirmed = await snapshotOf(privateKey, [], {
      ...{ generation: 3, rightsOf: [right], shardCount: 8, time: '2026-01-01T00:00:10.000Z' },
    })
    const before = factsIn(reader)
    await send({ manifest: confirmed.signed })
    assert.equal(factsIn(reader), before)
    assert.ok(rights !== undefined && !reads.includes(rights.sha256))
  })

  test('takes no shard that the manifest does not list, nor a manifest of a stranger', async () => {
    const { reader, send } = following()
    void reader.follow()
    await send({ manifest: first.signed, shards: [...second.shards.values()] })
    assert.equal(reader.heldBytes(), 0)
    const stranger = await keys()
    const { signed } = await snapshotOf(stranger.privateKey, [], { generation: 9 })
    await assert.rejects(send({ manifest: signed }), /wrong signature/)
    assert.equal(reader.current()?.info.generation, 1)
  })
})
