import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { type Group, WaitingRequests } from '../../../../src/resolver/plugins/forward/waiting.ts'

const FOREVER = Number.POSITIVE_INFINITY
let nowMs = 0

function waitingRequests(): WaitingRequests<string> {
  nowMs = 0
  return new WaitingRequests({
    now: () => nowMs,
    drop: () => 'dropped',
    giveUp: () => 'given up',
  })
}

describe('WaitingRequests', () => {
  test('gives all of a group its result, and nobody else', async () => {
    const waiting = waitingRequests()
    const [a, b]: Group<string>[] = [new Set(), new Set()]
    assert.ok(a && b)
    const results = Promise.all([
      waiting.join(a, FOREVER),
      waiting.join(b, FOREVER),
      waiting.join(a, FOREVER),
    ])
    waiting.settle(a, 'a')
    waiting.settle(b, 'b')
    assert.deepEqual(await results, ['a', 'b', 'a'])
  })

  test('drops the oldest beyond 4,096, counted over all groups, without those settled', async () => {
    const dropped: number[] = []
    const waiting = waitingRequests()
    const groups: Group<string>[] = Array.from({ length: 64 }, () => new Set())
    const join = (i: number): void => {
      const group = groups[i % 64] ?? assert.fail()
      void waiting.join(group, FOREVER).then((result) => {
        if (result === 'dropped') dropped.push(i)
      })
    }
    for (let i = 0; i < 4096; i++) join(i)
    const [first] = groups
    assert.ok(first)
    waiting.settle(first, 'done')
    for (let i = 4096; i < 4096 + 64; i++) join(i)
    await Promise.resolve()
    assert.deepEqual(dropped, [])
    for (let i = 1; i <= 3; i++) join(i)
    await Promise.resolve()
    assert.deepEqual(dropped, [1, 2, 3])
  })

  test('gives up requests whose clients do not wait any more', async () => {
    const waiting = waitingRequests()
    const group: Group<string> = new Set()
    const results = Promise.all([10, 20, 30].map((untilMs) => waiting.join(group, untilMs)))
    nowMs = 20
    assert.equal(waiting.isAwaited(group), true)
    waiting.settle(group, 'result')
    assert.deepEqual(await results, ['given up', 'result', 'result'])
    assert.equal(waiting.isAwaited(group), false)
  })

  test('gives the oldest up rather than to drop it, if its client does not wait any more', async () => {
    const waiting = waitingRequests()
    const group: Group<string> = new Set()
    const oldest = waiting.join(group, 10)
    for (let i = 1; i < 4096; i++) void waiting.join(group, FOREVER)
    nowMs = 11
    assert.equal(waiting.isAwaited(group), true)
    void waiting.join(group, FOREVER)
    assert.equal(await oldest, 'given up')
  })
})
