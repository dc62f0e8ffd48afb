import { strict as assert } from 'node:assert'
import { describe, test } from 'vitest'
import { OpenStreams } from '../../../src/server/http/open-streams.ts'

type Fake = { destroyed: boolean }

function fakes(count: number): Fake[] {
  return Array.from({ length: count }, () => ({ destroyed: false }))
}

describe('the open streams of a connection', () => {
  test('are all that have not closed', () => {
    const open = new OpenStreams<Fake>()
    const streams = fakes(100)
    for (const stream of streams) open.add(stream, 0)
    for (const [i, stream] of streams.entries()) stream.destroyed = i % 3 > 0
    const left = new Set(open.all().map(({ stream }) => stream))
    assert.deepEqual(left, new Set(streams.filter((_, i) => i % 3 === 0)))
  })

  test('are forgotten without a check, however long the oldest stays open', () => {
    const open = new OpenStreams<Fake>()
    const [oldest = { destroyed: false }] = fakes(1)
    open.add(oldest, 0)
    let atOnce: Fake[] = []
    for (let round = 0; round < 200; round++) {
      for (const stream of atOnce) stream.destroyed = true
      atOnce = fakes(20)
      for (const stream of atOnce) open.add(stream, round)
    }
    assert.ok(open.size <= 100, `${open.size} streams are in memory`)
    assert.equal(open.all().length, 21)
  })

  test('count the bytes that they hold, until they close', () => {
    const open = new OpenStreams<Fake>()
    const [a = { destroyed: false }, b = { destroyed: false }] = fakes(2)
    open.add(a, 0).heldBytes = 5
    open.add(b, 0).heldBytes = 7
    assert.equal(open.heldBytes(), 12)
    a.destroyed = true
    assert.equal(open.heldBytes(), 7)
  })
})
