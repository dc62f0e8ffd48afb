import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { TimeSlices } from '../../../src/server/node/time-slices.ts'

/** Returns a task without promises. */
function task(work: () => unknown): () => number {
  return () => {
    work()
    return 0
  }
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('TimeSlices', () => {
  test('does all work of a turn whose time is not used up', async () => {
    const done: string[] = []
    const slices = new TimeSlices(() => 0)
    for (const name of ['a', 'b', 'c']) slices.add(task(() => done.push(name)))
    assert.deepEqual(done, [])
    await nextTurn()
    assert.deepEqual(done, ['a', 'b', 'c'])
  })

  test('continues in the next turn when the time is up', async () => {
    const done: string[] = []
    let nowMs = 0
    const slices = new TimeSlices(() => nowMs)
    for (const name of ['a', 'b', 'c', 'd']) {
      slices.add(
        task(() => {
          done.push(name)
          nowMs += 1
        }),
      )
    }
    await nextTurn()
    assert.deepEqual(done, ['a', 'b'])
    await nextTurn()
    assert.deepEqual(done, ['a', 'b', 'c', 'd'])
  })

  test('continues in the next turn after tasks with 16 promises', async () => {
    const done: string[] = []
    const slices = new TimeSlices(() => 0)
    for (const name of ['a', 'b', 'c']) {
      slices.add(() => {
        done.push(name)
        return 8
      })
    }
    await nextTurn()
    assert.deepEqual(done, ['a', 'b'])
    await nextTurn()
    assert.deepEqual(done, ['a', 'b', 'c'])
  })

  test('runs a task that adds itself after the others', async () => {
    const done: string[] = []
    let left = 3
    const slices = new TimeSlices(() => 0)
    const many = task(() => {
      done.push('many')
      if (--left > 0) slices.add(many)
    })
    slices.add(many)
    slices.add(task(() => done.push('one')))
    await nextTurn()
    assert.deepEqual(done, ['many', 'one', 'many', 'many'])
  })

  test('does first work at once while the turn has time, then before the rest', async () => {
    const done: string[] = []
    let nowMs = 0
    const slices = new TimeSlices(() => nowMs)
    const work = (name: string): (() => number) =>
      task(() => {
        done.push(name)
        nowMs += 1
      })
    slices.add(work('later'))
    for (const name of ['a', 'b', 'c', 'd', 'e']) slices.addFirst(work(name))
    assert.deepEqual(done, ['a', 'b'])
    await nextTurn()
    // One of each kind at least.
    assert.deepEqual(done, ['a', 'b', 'c', 'd', 'later'])
    await nextTurn()
    assert.deepEqual(done, ['a', 'b', 'c', 'd', 'later', 'e'])
    slices.addFirst(work('f'))
    assert.equal(done.at(-1), 'f')
  })
})
