/** What a reader does when an operator has gone back to an older generation. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { SnapshotFollower } from '../../src/gateway/snapshots/snapshot-follower.ts'
import type { SnapshotUpdate } from '../../src/gateway/snapshots/snapshot-update.ts'
import type { ServedManifest } from '../../src/gateway/snapshots/store.ts'
import { namesIn } from '../cluster/follow/snapshots.ts'
import { type Published, snapshotOf, WEB } from './publishing.ts'
import { Reading, signingKey, TIMES, verifyingKey } from './reading.ts'

const first = await snapshotOf(signingKey, [WEB])
const second = await snapshotOf(signingKey, [WEB.replace('web', 'api')], { generation: 2 })

/** The same, chosen by an operator. */
function pinned(one: Published): Published {
  const signed: ServedManifest = { ...one.signed, isPinned: true }
  return { ...one, signed }
}

describe('a reader', () => {
  test('goes back to what an operator has pinned, and on when it is released', async () => {
    const reading = new Reading(second)
    await reading.load()
    reading.published = pinned(first)
    assert.deepEqual(namesIn(await reading.load(), ['web.shop.svc']), ['web.shop.svc'])
    reading.published = second
    assert.deepEqual(namesIn(await reading.load(), ['api.shop.svc']), ['api.shop.svc'])
    reading.published = first
    assert.deepEqual(namesIn(await reading.load(), ['api.shop.svc']), ['api.shop.svc'])
  })

  test('accepts no older manifest after a pin is released', async () => {
    const reading = new Reading(second)
    await reading.load()
    reading.published = pinned(first)
    await reading.load()
    reading.published = first
    await reading.load()
    assert.equal(reading.reader.describe()?.generation, 1)
    reading.published = second
    await reading.load()
    assert.equal(reading.reader.describe()?.generation, 2)
  })

  test('keeps the pin of the generation that it had, also when it hears that nothing is new', async () => {
    const errors: string[] = []
    let send: (update: SnapshotUpdate) => Promise<void> = () => assert.fail('nobody follows')
    const follower = new SnapshotFollower({
      cluster: 'shop',
      publicKey: verifyingKey,
      origin: {
        readManifest: async () => first.signed,
        readShard: async (sha256) => first.shards.get(sha256),
        follow: async (_, __, take) => {
          send = take
          await take({ manifest: first.signed })
        },
      },
      after: () => () => undefined,
      elapsed: () => 0,
      refreshMs: 0,
      onError: (message) => errors.push(message),
    })
    const taken: boolean[] = []
    follower.add(async ({ isPinned }) => void taken.push(isPinned))
    await follower.look()
    await send({ manifest: { ...first.signed, isPinned: true } })
    await send({})
    assert.deepEqual(taken, [false, true, true])
    assert.equal(follower.loaded?.isPinned, true)
    await send({ manifest: first.signed })
    await send({})
    assert.deepEqual(taken.slice(3), [false, false])
    assert.deepEqual(errors, [])
  })

  test('says of what is pinned that it is old, and never that it is too old', async () => {
    const reading = new Reading(pinned(first))
    await reading.load()
    assert.equal(reading.reader.freshness(), 'fresh')
    reading.nowMs += TIMES.staleMs
    assert.equal(reading.reader.freshness(), 'stale')
    reading.nowMs += TIMES.expireMs
    assert.equal(reading.reader.freshness(), 'stale')
  })
})
