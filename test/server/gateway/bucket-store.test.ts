import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'vitest'
import { LocalWriter } from '../../../src/gateway/snapshots/local-writer.ts'
import type { ClusterStore } from '../../../src/gateway/snapshots/store.ts'
import { UNLISTED_MS } from '../../../src/gateway/snapshots/unlisted-shards.ts'
import { createBucketStore, removeFromBucket } from '../../../src/server/gateway/bucket-store.ts'
import { REMOVAL_MS } from '../../../src/server/gateway/shard-removals.ts'
import { keys } from '../../cluster/follow/memory-gateway.ts'
import { checkFaults, playOn, RUNS } from '../../gateway/fault-runs.ts'
import { flip } from '../../gateway/faulty-media.ts'
import { type Published, snapshotOf } from '../../gateway/publishing.ts'
import { STORE_PROMISES } from '../../gateway/store-contract.ts'
import type { Medium } from '../../gateway/store-faults.ts'
import { FakeBucket } from './fake-bucket.ts'

const PREFIX = 'gateways/clusters/shop/'
const START_MS = Date.UTC(2026, 0, 2)
const { privateKey, publicKey } = await keys()

function newName(): string {
  return randomBytes(8).toString('hex')
}

/** The store of another process. */
function open(bucket: FakeBucket): ClusterStore {
  return createBucketStore(bucket, PREFIX, { now: () => bucket.nowMs, newName })
}

/** What publishes through one gateway. */
function writer(bucket: FakeBucket, generationsMax?: number): LocalWriter {
  const now = (): number => bucket.nowMs
  const kept = generationsMax === undefined ? {} : { generationsMax }
  return new LocalWriter({ cluster: 'shop', publicKey, store: open(bucket), now, ...kept })
}

function snapshot(generation: number, address = generation): Promise<Published> {
  const time = new Date(START_MS + generation).toISOString()
  const sets = [`web.shop.svc.cluster.local. 5 IN A 10.96.0.${address}`]
  return snapshotOf(privateKey, sets, { generation, time })
}

/** Publishes, and returns what came of it: `stored`, `missing`, or the status of a refusal. */
async function publish(by: LocalWriter, one: Published, sends = true): Promise<string> {
  const etag = (await by.state())?.etag
  for (const [sha256, bytes] of sends ? one.shards : []) await by.putShard(sha256, bytes)
  const result = await by.putManifest(one.signed.bytes, one.signed.signature, etag)
  return result.kind === 'refused' ? String(result.status) : result.kind
}

function newBucket(): FakeBucket {
  const bucket = new FakeBucket()
  bucket.nowMs = START_MS
  return bucket
}

describe('the store in a bucket', () => {
  for (const { name, hold } of STORE_PROMISES) {
    test(name, () => hold(open(newBucket())))
    test(`${name}, two processes in turn`, () => {
      const bucket = newBucket()
      return hold(byTurns(open(bucket), open(bucket)))
    })
  }

  test('lets one of two publications win that begin with the same manifest', async () => {
    const bucket = newBucket()
    const [one, other] = [writer(bucket), writer(bucket)]
    assert.equal(await publish(one, await snapshot(1)), 'stored')
    const etag = (await one.state())?.etag
    const results = await Promise.all(
      [one, other].map(async (by, i) => {
        const { signed, shards } = await snapshot(2 + i)
        for (const [sha256, bytes] of shards) await by.putShard(sha256, bytes)
        return by.putManifest(signed.bytes, signed.signature, etag)
      }),
    )
    assert.deepEqual(results.map(({ kind }) => kind).sort(), ['refused', 'stored'])
    const refused = results.find((one) => one.kind === 'refused')
    assert.deepEqual(refused?.kind === 'refused' && refused.status, 412)
    // The loser's manifest stays nowhere.
    assert.equal([...bucket.objects.keys()].filter((key) => key.includes('/manifests/')).length, 2)
  })

  test('refuses a shard while another process removes it, and never loses a listed one', async () => {
    const bucket = newBucket()
    const [one, other] = [writer(bucket, 2), writer(bucket, 2)]
    const first = await snapshot(1, 1)
    assert.equal(await publish(one, first), 'stored')
    assert.equal(await publish(one, await snapshot(2)), 'stored')
    // The third generation delists the shard of the first one; its removal hangs.
    const hangs = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    bucket.before = (method, key) => {
      if (method !== 'remove' || !key.includes('/shards/')) return undefined
      begun.resolve()
      return hangs.promise
    }
    const third = publish(one, await snapshot(3))
    await begun.promise
    // Names as in the first generation come back at that moment, through another gateway.
    const again = await snapshot(4, 1)
    assert.deepEqual([...again.shards.keys()], [...first.shards.keys()])
    await assert.rejects(publish(other, again), { status: 503, code: 'busy' })
    hangs.resolve()
    assert.equal(await third, 'stored')
    bucket.nowMs += REMOVAL_MS
    assert.equal(await publish(other, again), 'stored')
    const [sha256 = ''] = again.shards.keys()
    assert.ok(await open(bucket).readShard(sha256))
    assert.deepEqual(await open(bucket).missingShards([sha256]), [])
  })

  test('reads the newest head while a publication of the same process takes long', async () => {
    const bucket = newBucket()
    const store = open(bucket)
    const by = writer(bucket, 2)
    assert.equal(await publish(by, await snapshot(1)), 'stored')
    const [began, ends] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const seen: unknown[] = []
    const long = store.exclusive?.(async () => {
      began.resolve()
      await ends.promise
      seen.push((await store.readManifest())?.generation)
    })
    await began.promise
    // Another gateway publishes, and removes the generation that this one begins with.
    for (const generation of [2, 3]) {
      assert.equal(await publish(by, await snapshot(generation)), 'stored')
    }
    assert.equal((await store.readManifest())?.generation, 3)
    ends.resolve()
    await long
    // The publication starts again, because what it began with is gone.
    assert.deepEqual(seen, [3])
  })

  test('removes no old shard that another process lists at that moment', async () => {
    const bucket = newBucket()
    const [one, other] = [writer(bucket), writer(bucket)]
    assert.equal(await publish(one, await snapshot(1)), 'stored')
    const next = await snapshot(2)
    // An exporter uploaded it, and ended before it published.
    for (const [sha256, bytes] of next.shards) await one.putShard(sha256, bytes)
    bucket.nowMs += UNLISTED_MS
    const third = await snapshot(3)
    let isFirst = true
    bucket.before = async (method, key) => {
      if (method !== 'swap' || !key.endsWith('/head') || !isFirst) return
      isFirst = false
      assert.equal(await publish(other, next, false), 'stored')
    }
    const [[sha256, bytes] = ['', new Uint8Array()]] = [...third.shards]
    assert.equal((await writer(bucket).putShard(sha256, bytes)).kind, 'stored')
    assert.equal(isFirst, false)
    for (const listed of next.shards.keys()) assert.ok(await open(bucket).readShard(listed))
  })

  test('removes the manifest that a killed process left, after ten minutes', async () => {
    const bucket = newBucket()
    bucket.set(`${PREFIX}manifests/9-0123456789abcdef`, new Uint8Array(3))
    const by = writer(bucket)
    assert.equal(await publish(by, await snapshot(1)), 'stored')
    assert.ok(bucket.objects.has(`${PREFIX}manifests/9-0123456789abcdef`))
    bucket.nowMs += UNLISTED_MS
    assert.equal(await publish(by, await snapshot(2)), 'stored')
    assert.equal(bucket.objects.has(`${PREFIX}manifests/9-0123456789abcdef`), false)
  })

  test('publishes again after somebody removed the object of a manifest', async () => {
    const bucket = newBucket()
    const by = writer(bucket)
    assert.equal(await publish(by, await snapshot(1)), 'stored')
    assert.equal(await publish(by, await snapshot(2)), 'stored')
    for (const key of bucket.objects.keys())
      if (key.includes('/manifests/2-')) await bucket.remove(key)
    const next = writer(bucket)
    assert.equal((await next.state())?.manifest.generation, 1)
    assert.equal(await publish(next, await snapshot(3)), 'stored')
    assert.deepEqual((await open(bucket).readManifest())?.generation, 3)
  })

  test('changes nothing when its head is broken', async () => {
    const bucket = newBucket()
    bucket.set(`${PREFIX}head`, new TextEncoder().encode('{"version":2}'))
    await assert.rejects(publish(writer(bucket), await snapshot(1)), { code: 'storage_failed' })
    assert.equal(bucket.objects.get(`${PREFIX}head`)?.bytes.length, 13)
  })

  test('costs one read while nothing changes', async () => {
    const bucket = newBucket()
    assert.equal(await publish(writer(bucket), await snapshot(1)), 'stored')
    const reader = open(bucket)
    const first = await reader.readManifest()
    bucket.calls.length = 0
    const second = await reader.readManifest()
    assert.deepEqual(bucket.calls, ['get'])
    assert.equal(second?.bytes, first?.bytes)
  })

  test('loses all of a cluster that is removed, and nothing else', async () => {
    const bucket = newBucket()
    bucket.set('gateways/clusters/shop2/head', new Uint8Array(1))
    assert.equal(await publish(writer(bucket), await snapshot(1)), 'stored')
    assert.equal(await removeFromBucket(bucket, PREFIX), true)
    assert.equal(await removeFromBucket(bucket, PREFIX), false)
    assert.deepEqual([...bucket.objects.keys()], ['gateways/clusters/shop2/head'])
    assert.equal(await publish(writer(bucket), await snapshot(1)), 'stored')
  })
})

test('a gateway on a bucket that fails never answers wrongly, and mostly answers', async (t) => {
  const runs = Math.round(RUNS.files / 4)
  await checkFaults(t, { name: 'bucket', runs, play: playOn(bucketMedium) })
})

/** A bucket checks what it keeps, so its objects rot only where a manifest or hash shows it. */
function bucketMedium(): Medium {
  const bucket = newBucket()
  const { gate } = bucket
  return {
    open: () => createBucketStore(bucket, PREFIX, { now: () => bucket.nowMs, newName }),
    isOneProcess: true,
    fail: (fault, after) => gate.fail(fault, after),
    mayHang: () => gate.mayHang(),
    hangs: () => gate.hung > 0,
    heal: () => gate.heal(),
    rot: async (random) => {
      const paths = [...bucket.objects.keys()].filter((key) => !key.endsWith('/head'))
      const key = paths[random(paths.length)] ?? ''
      bucket.set(key, flip(bucket.objects.get(key)?.bytes.slice(), random))
    },
  }
}

/** A store each of whose calls goes to the one or the other. */
function byTurns(one: ClusterStore, other: ClusterStore): ClusterStore {
  let calls = 0
  const next = (): ClusterStore => (calls++ % 2 === 0 ? one : other)
  return {
    readManifest: () => next().readManifest(),
    readManifests: (countMax) => next().readManifests(countMax),
    readShard: (sha256) => next().readShard(sha256),
    missingShards: (sha256s) => next().missingShards(sha256s),
    writeShard: (...shard) => next().writeShard(...shard),
    unlistedShards: (listed) => next().unlistedShards(listed),
    dropShards: (sha256s) => next().dropShards(sha256s),
    writeManifest: (...manifest) => next().writeManifest(...manifest),
    pin: (generation) => next().pin(generation),
  }
}
