import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { createMemoryStore, DROPPED_MAX } from '../../../src/gateway/snapshots/store.ts'
import {
  UNLISTED_BYTES_MAX,
  UNLISTED_MS,
  UnlistedShards,
} from '../../../src/gateway/snapshots/unlisted-shards.ts'
import { START_MS } from '../../fake-host.ts'

const NONE: ReadonlySet<string> = new Set()
const SHARDS_MAX = UNLISTED_BYTES_MAX / (32 * 1024)

/** A writer of shards, each of one byte, by a clock that tests set. */
class Fixture {
  nowMs = START_MS
  readonly store = createMemoryStore()
  readonly unlisted = new UnlistedShards(this.store, () => this.nowMs)

  async put(name: string): Promise<readonly string[] | undefined> {
    const dropped = await this.unlisted.admit(1)
    if (dropped !== undefined) await this.store.writeShard(name, Uint8Array.of(1), this.nowMs)
    return dropped
  }

  async names(): Promise<readonly string[]> {
    return (await this.store.unlistedShards(NONE)).map(({ sha256 }) => sha256)
  }
}

describe('shards that no manifest lists', () => {
  test('wait ten minutes for one', async () => {
    const fixture = new Fixture()
    await fixture.put('early')
    fixture.nowMs += 1000
    await fixture.put('late')
    fixture.nowMs += UNLISTED_MS - 1000
    assert.deepEqual(await fixture.unlisted.drop(NONE, NONE), ['early'])
    assert.deepEqual(await fixture.names(), ['late'])
  })

  test('stay while one lists them, and go as soon as none does any more', async () => {
    const fixture = new Fixture()
    await fixture.put('a')
    await fixture.put('b')
    assert.deepEqual(await fixture.unlisted.drop(new Set(['a']), new Set(['a', 'b'])), ['b'])
    fixture.nowMs += 2 * UNLISTED_MS
    assert.deepEqual(await fixture.unlisted.drop(new Set(['a']), NONE), [])
    assert.deepEqual(await fixture.names(), ['a'])
  })

  test('go although the clock was set back', async () => {
    const fixture = new Fixture()
    await fixture.put('a')
    fixture.nowMs -= 3 * UNLISTED_MS
    assert.deepEqual(await fixture.unlisted.drop(NONE, NONE), ['a'])
  })

  test(`are ${SHARDS_MAX} at most, until their time is over, also after a restart`, async () => {
    const fixture = new Fixture()
    for (let i = 0; i < SHARDS_MAX; i++) assert.deepEqual(await fixture.put(`${i}`), [])
    assert.equal(await fixture.put('more'), undefined)
    const next = new UnlistedShards(fixture.store, () => fixture.nowMs)
    assert.equal(await next.admit(1), undefined)
    fixture.nowMs += UNLISTED_MS
    assert.equal((await fixture.put('again'))?.length, DROPPED_MAX)
    assert.equal((await fixture.names()).length, SHARDS_MAX - DROPPED_MAX + 1)
  })

  test('have so many bytes at most', async () => {
    const { unlisted } = new Fixture()
    assert.deepEqual(await unlisted.admit(UNLISTED_BYTES_MAX - 40_000), [])
    assert.equal(await unlisted.admit(40_001), undefined)
    assert.deepEqual(await unlisted.admit(40_000), [])
  })
})
