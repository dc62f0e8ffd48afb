import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { EMPTY } from '../../../src/dns/bytes/bytes.ts'
import type { ServedManifest } from '../../../src/gateway/snapshots/store.ts'
import { openManifest } from '../../../src/snapshot/format/manifest.ts'
import { Visibility } from '../../../src/snapshot/read/visibility.ts'
import { keys } from '../../cluster/follow/memory-gateway.ts'
import { namesIn } from '../../cluster/follow/snapshots.ts'
import { settle } from '../../fake-host.ts'
import { type Published, snapshotOf, WEB } from '../publishing.ts'
import { Reading, START_MS, signingKey, TIMES } from '../reading.ts'

const first = await snapshotOf(signingKey, [WEB])
const second = await snapshotOf(signingKey, [WEB.replace('web', 'api')], { generation: 2 })

describe('a reader', () => {
  test('has nothing until it loads', async () => {
    const { reader, reads } = new Reading(first)
    assert.equal(reader.current(), undefined)
    assert.equal(reader.freshness(), 'expired')
    assert.equal(reader.ageMs(), Number.POSITIVE_INFINITY)
    assert.equal(reader.describe(), undefined)
    assert.deepEqual(reads, [])
  })

  test('loads the manifest, then a shard on demand', async () => {
    const reading = new Reading(first)
    const hollow = await reading.reader.load()
    assert.deepEqual(namesIn(hollow, ['web.shop.svc']), [])
    const snapshot = await reading.reader.load(0)
    assert.deepEqual(namesIn(snapshot, ['web.shop.svc', 'api.shop.svc']), ['web.shop.svc'])
    assert.equal(reading.reader.current(), snapshot)
    assert.deepEqual(reading.reader.describe(), openManifest(first.signed.bytes))
    assert.equal(reading.reads.length, 2)
  })

  test('reads a shard once', async () => {
    const reading = new Reading(first)
    await reading.load()
    await reading.reader.load(0)
    assert.equal(reading.reads.length, 2)
  })

  test('has nothing where nothing is published', async () => {
    const reading = new Reading()
    assert.equal(await reading.load(), undefined)
    assert.equal(reading.reader.current(), undefined)
    assert.equal(reading.reader.freshness(), 'expired')
  })

  test('goes over to what is newer, and leaves what was given out as it was', async () => {
    const reading = new Reading(first)
    const before = await reading.load()
    reading.published = second
    const after = await reading.load()
    assert.deepEqual(namesIn(after, ['web.shop.svc', 'api.shop.svc']), ['api.shop.svc'])
    assert.deepEqual(namesIn(before, ['web.shop.svc', 'api.shop.svc']), ['web.shop.svc'])
  })

  test('keeps shards that both snapshots have', async () => {
    const reading = new Reading(first)
    await reading.load()
    reading.published = await snapshotOf(signingKey, [WEB], { time: '2026-01-01T00:00:10.000Z' })
    await reading.load()
    assert.deepEqual(reading.reads.filter((what) => what !== 'manifest').length, 1)
    assert.equal(reading.reader.describe()?.time, '2026-01-01T00:00:10.000Z')
  })

  test('does not go back to what is older', async () => {
    const reading = new Reading(second)
    await reading.load()
    reading.published = first
    assert.deepEqual(namesIn(await reading.load(), ['api.shop.svc']), ['api.shop.svc'])
  })

  test('takes no shard whose bytes have another hash', async () => {
    const shards = new Map([...first.shards].map(([sha256]) => [sha256, new Uint8Array(200)]))
    const reading = new Reading({ ...first, shards })
    await reading.reader.load()
    assert.equal(await reading.reader.load(0), undefined)
  })

  test('accepts no shard that does not exist', async () => {
    const reading = new Reading({ ...first, shards: new Map() })
    await reading.reader.load()
    assert.equal(await reading.reader.load(0), undefined)
  })

  test('puts a shard that comes late into no snapshot that does not list it', async () => {
    const reading = new Reading(first)
    await reading.reader.load()
    const opened = Promise.withResolvers<void>()
    reading.gate = opened.promise
    const late = reading.reader.load(0)
    const { gate } = reading
    reading.gate = Promise.resolve()
    const manifest = second.signed
    reading.published = { ...first, signed: manifest, manifest: second.manifest }
    await reading.reader.reload()
    opened.resolve()
    await gate
    assert.deepEqual(namesIn(await late, ['web.shop.svc', 'api.shop.svc']), [])
    assert.equal(reading.reader.describe()?.generation, 2)
  })
})

describe('a manifest that is not right is refused by readers too, and what was here stays:', () => {
  const stranger = keys()
  const cases: { name: string; signed: () => Promise<ServedManifest>; message: RegExp }[] = [
    {
      name: 'signed by a stranger',
      signed: async () => {
        const { privateKey: key } = await stranger
        return (await snapshotOf(key, [WEB], { generation: 9 })).signed
      },
      message: /manifest of cluster "shop" has a wrong signature/,
    },
    {
      name: 'of another cluster',
      signed: async () =>
        (await snapshotOf(signingKey, [WEB], { generation: 9, cluster: 'depot' })).signed,
      message: /is of cluster "depot"/,
    },
    {
      name: 'of a version to come',
      signed: async () => (await snapshotOf(signingKey, [WEB], { version: 2 })).signed,
      message: /version is 2/,
    },
  ]
  for (const { name, signed, message } of cases) {
    test(name, async () => {
      const reading = new Reading(first)
      const before = await reading.load()
      reading.published = { ...second, signed: await signed() }
      assert.equal(await reading.reader.reload(), before)
      assert.match(reading.errors.join(), message)
      reading.errors.length = 0
      assert.equal(reading.reader.current(), before)
      reading.nowMs += 1000
      await reading.reader.follow()
      assert.match(reading.errors.join(), message)
    })
  }
})

describe('refreshing', () => {
  test('begins a second after the last look, and never twice at once', async () => {
    const reading = new Reading(first)
    await reading.load()
    assert.equal(reading.reader.follow(), undefined)
    reading.nowMs += 999
    assert.equal(reading.reader.follow(), undefined)
    reading.nowMs += 1
    const running = reading.reader.follow()
    assert.ok(running)
    assert.equal(reading.reader.follow(), undefined)
    await running
    assert.equal(reading.reader.follow(), undefined)
    reading.nowMs += 1000
    await reading.reader.follow()
    assert.equal(reading.reads.filter((what) => what === 'manifest').length, 3)
  })

  test('starts again when the last one does not end', async () => {
    const reading = new Reading(first)
    reading.gate = new Promise(() => undefined)
    assert.ok(reading.reader.follow())
    reading.nowMs += 2999
    assert.equal(reading.reader.follow(), undefined)
    reading.nowMs += 1
    assert.ok(reading.reader.follow())
  })

  test('reports errors, and keeps answering', async () => {
    const reading = new Reading(first)
    const before = await reading.load()
    reading.failure = new Error('the store is away')
    reading.nowMs += 1000
    await reading.reader.follow()
    assert.deepEqual(reading.errors, ['the store is away'])
    assert.equal(reading.reader.current(), before)
  })

  test('is waited for when the names are stale, but not while the origin is away', async () => {
    const reading = new Reading(first)
    await reading.load()
    reading.nowMs += TIMES.staleMs - 1
    assert.ok(reading.reader.current())
    reading.nowMs += 1
    assert.equal(reading.reader.current(), undefined)
    assert.ok(await reading.reader.load())
    assert.ok(reading.reader.current())
    reading.nowMs += TIMES.staleMs
    reading.failure = new Error('the store is away')
    assert.ok(await reading.reader.load())
    assert.ok(reading.reader.current())
    assert.equal(reading.reader.freshness(), 'stale')
  })

  test('goes on while answers are given from what is here', async () => {
    const reading = new Reading(first)
    const before = await reading.load()
    const opened = Promise.withResolvers<void>()
    reading.gate = opened.promise
    reading.published = second
    reading.nowMs += 1000
    const running = reading.reader.follow()
    await settle()
    assert.equal(reading.reader.current(), before)
    opened.resolve()
    await running
    assert.equal(reading.reader.current()?.info.generation, 2)
  })
})

describe('freshness goes by when the source confirmed its names:', () => {
  const cases = [
    { afterMs: 0, freshness: 'fresh' },
    { afterMs: TIMES.staleMs - 1, freshness: 'fresh' },
    { afterMs: TIMES.staleMs, freshness: 'stale' },
    { afterMs: TIMES.expireMs - 1, freshness: 'stale' },
    { afterMs: TIMES.expireMs, freshness: 'expired' },
  ]
  for (const { afterMs, freshness } of cases) {
    test(`${freshness} after ${afterMs} ms`, async () => {
      const reading = new Reading(first)
      await reading.load()
      reading.nowMs = START_MS + afterMs
      assert.equal(reading.reader.freshness(), freshness)
      assert.equal(reading.reader.ageMs(), afterMs)
    })

    test(`for a limited client, by the clock's last confirmation: ${freshness}`, async () => {
      const sooner = new Date(START_MS).toISOString()
      const time = new Date(START_MS + 900).toISOString()
      const reading = new Reading(await snapshotOf(signingKey, [WEB], { time, confirmed: sooner }))
      const snapshot = await reading.load()
      reading.nowMs = START_MS + afterMs
      const namespaces = new Visibility(() => true)
      assert.equal(reading.reader.freshness(namespaces), freshness)
      assert.equal(reading.reader.ageMs(namespaces), afterMs)
      const limited = snapshot?.info.limited
      assert.deepEqual([limited?.generation, limited?.timeMs], [START_MS / 1000, START_MS])
    })
  }

  test('a slow clock makes no snapshot younger than new', async () => {
    const reading = new Reading(first)
    reading.nowMs = START_MS - 5000
    await reading.load()
    assert.equal(reading.reader.ageMs(), 0)
  })
})

test('a store that answers nonsense does no harm', async () => {
  const reading = new Reading({ ...first, signed: { bytes: EMPTY, signature: '' } })
  assert.equal(await reading.reader.load(), undefined)
  assert.match(reading.errors.join(), /wrong signature/)
  assert.equal(reading.reader.current(), undefined)
})

const MANY = 'web api db cart mail auth feed shop'.split(' ')

/** A snapshot of several shards. */
function manyShards(generation: number, changed = ''): Promise<Published> {
  const sets = MANY.map(
    (name, i) => `${name}.shop.svc.cluster.local. 5 IN A 10.0.${name === changed ? 1 : 0}.${i}`,
  )
  return snapshotOf(signingKey, sets, { generation, shardCount: 8 })
}

describe('shards', () => {
  test('that were loaded and have changed are loaded with the newer snapshot', async () => {
    const reading = new Reading(await manyShards(1))
    const before = await reading.load()
    reading.published = await manyShards(2, 'db')
    reading.nowMs += 1000
    reading.reads.length = 0
    await reading.reader.follow()
    const after = reading.reader.current()
    assert.equal(after?.info.generation, 2)
    assert.deepEqual(namesIn(after, ['db.shop.svc', 'web.shop.svc']), [
      'db.shop.svc',
      'web.shop.svc',
    ])
    assert.equal(reading.reads.length, 2)
    assert.notEqual(after, before)
  })

  test('that cannot be loaded keep the previous snapshot in use', async () => {
    const [one, two] = [await manyShards(1), await manyShards(2, 'db')]
    const reading = new Reading(one)
    const before = await reading.load()
    const fresh = [...two.shards.keys()].find((hash) => !one.shards.has(hash)) ?? ''
    reading.published = { ...two, shards: new Map([...one.shards, [fresh, new Uint8Array(9)]]) }
    reading.nowMs += 1000
    await reading.reader.follow()
    assert.equal(reading.reader.current(), before)
    assert.match(reading.errors.join(), /another hash/)
  })

  test('are let go of when they are too many, those that are in use last', async () => {
    const reading = new Reading(await manyShards(1), 700)
    await reading.reader.load()
    for (let index = 0; index < 8; index++) await reading.reader.load(index)
    const { reader } = reading
    assert.ok(reader.heldBytes() > 0 && reader.heldBytes() <= 700)
    const loaded = reader.current()?.shards.filter((shard) => shard !== undefined) ?? []
    assert.ok(loaded.length < 8)
    for (const shard of loaded) shard.isUsed = shard === loaded[0]
    reader.release()
    assert.ok(reader.current()?.shards.includes(loaded[0]))
  })

  test('are gone when a newer manifest exists, which replaces the current one', async () => {
    const reading = new Reading(await manyShards(1))
    await reading.reader.load()
    reading.published = await manyShards(2, 'db')
    const changed = reading.reader
      .describe()
      ?.shards.entries()
      .findIndex(({ sha256 }) => reading.published?.shards.has(sha256) === false)
    const snapshot = await reading.reader.load(changed)
    assert.equal(snapshot?.info.generation, 2)
  })
})
