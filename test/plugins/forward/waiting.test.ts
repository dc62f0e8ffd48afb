import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { type Group, WaitingRequests } from '../../../src/plugins/forward/waiting.ts'

describe('WaitingRequests', () => {
  test('gives all of a group its result, and nobody else', async () => {
    const waiting = new WaitingRequests<string>(() => 'dropped')
    const [a, b]: Group<string>[] = [new Set(), new Set()]
    assert.ok(a && b)
    const results = Promise.all([waiting.join(a), waiting.join(b), waiting.join(a)])
    waiting.settle(a, 'a')
    waiting.settle(b, 'b')
    assert.deepEqual(await results, ['a', 'b', 'a'])
  })

  test('drops the oldest beyond 4,096, counted over all groups, without those settled', async () => {
    const dropped: number[] = []
    const waiting = new WaitingRequests<string>(() => 'dropped')
    const groups: Group<string>[] = Array.from({ length: 64 }, () => new Set())
    const join = (i: number): void => {
      const group = groups[i % 64] ?? assert.fail()
      void waiting.join(group).then((result) => {
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
})
