import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import {
  createPause,
  createSharedPause,
  finish,
  inSlices,
  mapInSteps,
  type Steps,
  sortSteps,
  withPauses,
} from '../../../src/dns/bytes/steps.ts'

/** A clock that each step moves on, and turns that are counted. */
class FakeTurns {
  nowMs = 0
  turns = 0
  readonly elapsed = (): number => this.nowMs
  readonly nextTurn = async (): Promise<void> => {
    this.turns++
    await Promise.resolve()
  }
}

function* count(to: number, turns: FakeTurns): Steps<string> {
  for (let i = 0; i < to; i++) {
    turns.nowMs++
    yield
  }
  return `${to} steps`
}

describe('finish', () => {
  test('takes all steps and returns the result', () => {
    const turns = new FakeTurns()
    assert.deepEqual([finish(count(9, turns)), turns.nowMs], ['9 steps', 9])
  })
})

describe('inSlices', () => {
  const CASES = [
    { name: 'does not pause in 4 ms', steps: 3, expected: 0 },
    { name: 'pauses after each 4 ms', steps: 9, expected: 2 },
    { name: 'does not pause while it is urgent', steps: 9, isUrgent: () => true, expected: 0 },
  ]
  test.for(CASES)('$name', async ({ steps, expected, isUrgent }) => {
    const turns = new FakeTurns()
    const result = await inSlices(count(steps, turns), turns, isUrgent)
    assert.deepEqual([result, turns.turns], [`${steps} steps`, expected])
  })

  test('rejects at the pause whose turn does not come', async () => {
    const turns = new FakeTurns()
    const nextTurn = (): Promise<void> => Promise.reject(new Error('aborted'))
    await assert.rejects(inSlices(count(99, turns), { ...turns, nextTurn }), new Error('aborted'))
    assert.equal(turns.nowMs, 4)
  })

  test('rejects with what a step throws', async () => {
    const turns = new FakeTurns()
    // biome-ignore lint/correctness/useYield: the first step fails
    const failing = (function* (): Steps<void> {
      throw new RangeError('no')
    })()
    await assert.rejects(inSlices(failing, turns), new RangeError('no'))
  })
})

describe('withPauses', () => {
  test('waits for each pause that is due, and returns the result', async () => {
    const turns = new FakeTurns()
    const result = await withPauses(count(9, turns), createPause(turns))
    assert.deepEqual([result, turns.turns], ['9 steps', 2])
  })
})

describe('createPause', () => {
  test('pauses once its time is over, and counts from there', async () => {
    const turns = new FakeTurns()
    const pause = createPause(turns)
    turns.nowMs = 3
    assert.equal(pause(), undefined)
    turns.nowMs = 4
    await pause()
    assert.deepEqual([turns.turns, pause()], [1, undefined])
  })

  test('of one of many tasks waits at first, too', async () => {
    const turns = new FakeTurns()
    const pause = createSharedPause(turns)
    await pause()
    assert.deepEqual([turns.turns, pause()], [1, undefined])
  })
})

describe('sortSteps', () => {
  const compare = (a: number, b: number): number => Math.trunc(a) - Math.trunc(b)
  for (const count of [0, 1, 2, 1000, 1024, 1025, 5000, 100_000]) {
    test(`sorts ${count} items as sort does, in short steps`, () => {
      const items = Array.from({ length: count }, (_, i) => ((i * 7919) % 1009) + i / 1e6)
      const steps = sortSteps(items, compare)
      let compared = 0
      let next = steps.next()
      for (; next.done !== true; next = steps.next()) compared++
      assert.deepEqual(next.value, items.toSorted(compare))
      assert.ok(compared >= Math.floor(count / 1024))
    })
  }
})

describe('mapInSteps', () => {
  test('pauses before each 100 items', () => {
    const items = Array.from({ length: 250 }, (_, i) => i)
    const steps = mapInSteps(items, (item) => item * 2)
    const pauses: number[] = []
    for (let next = steps.next(); ; next = steps.next()) {
      if (next.done === true) {
        assert.deepEqual([next.value.length, next.value[249], pauses.length], [250, 498, 3])
        break
      }
      pauses.push(1)
    }
  })

  test('maps nothing to nothing', () => {
    assert.deepEqual(finish(mapInSteps([], String)), [])
  })
})
