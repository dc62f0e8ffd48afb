import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { FairQueue } from '../../../src/server/sockets/fair-queue.ts'

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** A queue whose tasks take 1 ms each, and the networks whose tasks have run. */
function fixture(): { queue: FairQueue; done: string[]; take: (network: string) => void } {
  let nowMs = 0
  const queue = new FairQueue(() => nowMs)
  const done: string[] = []
  const take = (network: string): void => {
    queue.run(network, () => {
      done.push(network)
      nowMs++
    })
  }
  return { queue, done, take }
}

describe('FairQueue', () => {
  test('runs a task at once while the slice has time', async () => {
    const { done, take } = fixture()
    take('a')
    take('b')
    assert.deepEqual(done, ['a', 'b'])
    take('c')
    assert.deepEqual(done, ['a', 'b'])
    await nextTurn()
    assert.deepEqual(done, ['a', 'b', 'c'])
  })

  test('runs one task per network, round-robin', async () => {
    const { done, take } = fixture()
    for (let i = 0; i < 6; i++) take('many')
    take('one')
    take('other')
    done.length = 0
    await nextTurn()
    assert.deepEqual(done, ['many', 'one'])
    await nextTurn()
    assert.deepEqual(done, ['many', 'one', 'other', 'many'])
    await nextTurn()
    assert.deepEqual(done.slice(4), ['many', 'many'])
  })

  test('returns what a task returns while the slice has time', async () => {
    const { queue, take } = fixture()
    assert.equal(
      queue.runNow(() => 'answer', 0),
      'answer',
    )
    assert.equal(queue.hasTime, true)
    take('a')
    take('b')
    assert.equal(queue.hasTime, false)
    await nextTurn()
    assert.equal(queue.hasTime, true)
  })

  test('continues after a task that exceeds the slice, and after a pause', async () => {
    let nowMs = 0
    const queue = new FairQueue(() => nowMs)
    let count = 0
    const slow = (): void => {
      count++
      nowMs += 100
    }
    for (let i = 0; i < 3; i++) queue.run('a', slow)
    assert.equal(count, 1)
    for (let i = 0; i < 3; i++) await nextTurn()
    assert.equal(count, 3)
    queue.run('a', slow)
    assert.equal(count, 4)
  })

  test('counts the work that a task causes after its end', async () => {
    const queue = new FairQueue(() => 0)
    const done: number[] = []
    for (let i = 0; i < 5; i++) queue.run('a', () => done.push(i), 1)
    assert.deepEqual(done, [0, 1])
    await nextTurn()
    assert.deepEqual(done, [0, 1, 2, 3])
  })
})
