import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { Turns } from '../../src/node/turns.ts'

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('Turns', () => {
  test('does all work of a turn whose time is not used up', async () => {
    const done: string[] = []
    const turns = new Turns(() => 0)
    for (const name of ['a', 'b', 'c']) turns.add(() => done.push(name))
    assert.deepEqual(done, [])
    await nextTurn()
    assert.deepEqual(done, ['a', 'b', 'c'])
  })

  test('continues in the next turn when the time is up', async () => {
    const done: string[] = []
    let nowMs = 0
    const turns = new Turns(() => nowMs)
    for (const name of ['a', 'b', 'c', 'd']) {
      turns.add(() => {
        done.push(name)
        nowMs += 1
      })
    }
    await nextTurn()
    assert.deepEqual(done, ['a', 'b'])
    await nextTurn()
    assert.deepEqual(done, ['a', 'b', 'c', 'd'])
  })

  test('runs a task that adds itself after the others', async () => {
    const done: string[] = []
    let left = 3
    const turns = new Turns(() => 0)
    const many = (): void => {
      done.push('many')
      if (--left > 0) turns.add(many)
    }
    turns.add(many)
    turns.add(() => done.push('one'))
    await nextTurn()
    assert.deepEqual(done, ['many', 'one', 'many', 'many'])
  })

  test('does first work at once while the turn has time, then before the rest', async () => {
    const done: string[] = []
    let nowMs = 0
    const turns = new Turns(() => nowMs)
    const work = (name: string) => (): void => {
      done.push(name)
      nowMs += 1
    }
    turns.add(work('later'))
    for (const name of ['a', 'b', 'c', 'd', 'e']) turns.addFirst(work(name))
    assert.deepEqual(done, ['a', 'b'])
    await nextTurn()
    // One of each kind at least.
    assert.deepEqual(done, ['a', 'b', 'c', 'd', 'later'])
    await nextTurn()
    assert.deepEqual(done, ['a', 'b', 'c', 'd', 'later', 'e'])
    turns.addFirst(work('f'))
    assert.equal(done.at(-1), 'f')
  })
})
