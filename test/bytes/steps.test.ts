import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import {
  createPause,
  createSharedPause,
  finish,
  inSlices,
  type Steps,
  sortSteps,
  withPauses,
} from '../../src/bytes/steps.ts'

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
  test.for(CASES)('$name', async ({ steps, expected, ...options }) => {
    const turns = new FakeTurns()
    const result = await inSlices(count(steps, turns), turns, options)
    assert.deepEqual([result, turns.turns], [`${steps} steps`, expected])
  })

  test('ends at the pause after its signal', async () => {
    const turns = new FakeTurns()
    const ended = new AbortController()
    const running = inSlices(count(99, turns), turns, { signal: ended.signal })
    ended.abort()
    assert.deepEqual([await running, turns.nowMs], [undefined, 4])
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
})

/** A loop whose turns end when the test ends them. */
class ManualTurns {
  nowMs = 0
  readonly isolatesRequests: boolean = false
  private ends: (() => void)[] = []
  readonly elapsed = (): number => this.nowMs
  readonly nextTurn = (): Promise<void> => new Promise((resolve) => this.ends.push(resolve))

  async endTurn(): Promise<void> {
    for (const end of this.ends.splice(0)) end()
    for (let i = 0; i < 20; i++) await Promise.resolve()
  }
}

/** A task whose steps take a millisecond each. */
async function work(name: string, turns: ManualTurns, done: string[]): Promise<void> {
  const pause = createSharedPause(turns)
  for (let i = 1; i <= 6; i++) {
    await pause()
    turns.nowMs++
    done.push(`${name}${i}`)
  }
}

describe('createSharedPause', () => {
  test('lets one of all tasks run in each turn, in their order', async () => {
    const turns = new ManualTurns()
    const done: string[] = []
    void work('a', turns, done)
    void work('b', turns, done)
    void work('c', turns, done)
    const perTurn: string[][] = []
    for (let turn = 0; turn < 7; turn++) {
      perTurn.push(done.splice(0))
      await turns.endTurn()
    }
    assert.deepEqual(perTurn, [
      [],
      ['a1', 'a2', 'a3', 'a4'],
      ['b1', 'b2', 'b3', 'b4'],
      ['c1', 'c2', 'c3', 'c4'],
      ['a5', 'a6'],
      ['b5', 'b6'],
      ['c5', 'c6'],
    ])
  })

  test('starts again after all tasks have ended', async () => {
    const turns = new ManualTurns()
    const done: string[] = []
    for (const name of ['a', 'b']) {
      void work(name, turns, done)
      for (let turn = 0; turn < 3; turn++) await turns.endTurn()
    }
    assert.equal(done.join(' '), 'a1 a2 a3 a4 a5 a6 b1 b2 b3 b4 b5 b6')
  })

  test('shares nothing where requests are isolated', async () => {
    const turns = Object.assign(new ManualTurns(), { isolatesRequests: true })
    const done: string[] = []
    void work('a', turns, done)
    void work('b', turns, done)
    for (let i = 0; i < 20; i++) await Promise.resolve()
    assert.ok(done.includes('a1') && done.includes('b1'))
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
