import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { mapConcurrently } from '../../../src/dns/bytes/concurrent.ts'

describe('steps some at a time', () => {
  test('are as many as may run, and give results in order', async () => {
    let running = 0
    let most = 0
    const results = await mapConcurrently([3, 0, 2, 1, 0], 2, async (turns) => {
      most = Math.max(most, ++running)
      for (let i = 0; i < turns; i++) await Promise.resolve()
      running--
      return turns * 10
    })
    assert.deepEqual(results, [30, 0, 20, 10, 0])
    assert.equal(most, 2)
    assert.deepEqual(await mapConcurrently([], 2, () => assert.fail()), [])
  })

  test('end before the first failure is thrown, and start no more', async () => {
    const slow = Promise.withResolvers<string>()
    const begun: number[] = []
    const all = mapConcurrently([0, 1, 2, 3], 2, (n) => {
      begun.push(n)
      return n === 0 ? slow.promise : Promise.reject(new Error(`step ${n}`))
    })
    let hasEnded = false
    const ended = assert.rejects(all, { message: 'step 1' }).then(() => {
      hasEnded = true
    })
    await new Promise(setImmediate)
    assert.equal(hasEnded, false)
    slow.resolve('')
    await ended
    assert.deepEqual(begun, [0, 1])
  })
})
