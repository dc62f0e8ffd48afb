import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import {
  ANSWER_MS,
  Follower,
  type FollowerState,
  keepFollowing,
} from '../../../src/gateway/timing/follower.ts'

const REFRESH_MS = 250
const WAIT_MS = 25_000

/** What an origin does with one watch. */
type Watch = {
  readonly limitMs: number
  readonly seen: () => void
  readonly end: () => void
  readonly fail: () => void
}

/** A follower, its clock, and an origin that does what the test says. */
class Fixture {
  nowMs = 777
  readonly watches: Watch[] = []
  readonly errors: string[] = []
  readonly follower: Follower
  private readonly timers = new Set<{ readonly dueMs: number; readonly task: () => void }>()

  constructor(waitMs: number) {
    this.follower = new Follower({
      watch: (limitMs, seen) =>
        new Promise((resolve, reject) => {
          this.watches.push({
            limitMs,
            seen,
            end: resolve,
            fail: () => reject(new Error('it fails')),
          })
        }),
      refreshMs: REFRESH_MS,
      waitMs,
      elapsed: () => this.nowMs,
      after: (delayMs, task) => {
        const timer = { dueMs: this.nowMs + delayMs, task }
        this.timers.add(timer)
        return () => this.timers.delete(timer)
      },
      onError: (message) => this.errors.push(message),
    })
  }

  get last(): Watch {
    return this.watches.at(-1) ?? assert.fail('no watch was opened')
  }

  async advance(durationMs: number): Promise<void> {
    this.nowMs += durationMs
    for (const timer of this.timers) {
      if (timer.dueMs > this.nowMs) continue
      this.timers.delete(timer)
      timer.task()
    }
    await new Promise(setImmediate)
  }
}

type Step =
  | 'a query'
  | 'the origin answers'
  | 'a change'
  | 'the watch ends'
  | 'the watch fails'
  | number

/**
 * What happens, a number being milliseconds that pass; the state then, and watches opened so
 * far.
 */
type Transition = readonly [step: Step, state: FollowerState, opened: number]

const TABLE: readonly {
  readonly name: string
  readonly waitMs: number
  readonly transitions: readonly Transition[]
}[] = [
  {
    name: 'an origin that is read again and again',
    waitMs: 0,
    transitions: [
      [0, 'due', 0],
      ['a query', 'due', 1],
      ['the origin answers', 'watching', 1],
      ['the watch ends', 'fresh', 1],
      ['a query', 'fresh', 1],
      [REFRESH_MS - 1, 'fresh', 1],
      [1, 'due', 1],
      [60_000, 'due', 1],
      ['a query', 'due', 2],
      ['a query', 'due', 2],
      ['the origin answers', 'watching', 2],
    ],
  },
  {
    name: 'an origin that is watched',
    waitMs: WAIT_MS,
    transitions: [
      ['a query', 'due', 1],
      ['the origin answers', 'watching', 1],
      ['a query', 'watching', 1],
      ['a change', 'watching', 1],
      [WAIT_MS, 'watching', 1],
      ['the watch ends', 'due', 1],
      [60_000, 'due', 1],
      ['a query', 'due', 2],
    ],
  },
  {
    name: 'an origin that ends watches early is opened once a second',
    waitMs: WAIT_MS,
    transitions: [
      ['a query', 'due', 1],
      ['the origin answers', 'watching', 1],
      ['the watch ends', 'fresh', 1],
      [999, 'due', 1],
      ['a query', 'due', 1],
      [1, 'due', 1],
      ['a query', 'due', 2],
    ],
  },
  {
    name: 'an origin that is reset while it is watched',
    waitMs: WAIT_MS,
    transitions: [
      ['a query', 'due', 1],
      ['the origin answers', 'watching', 1],
      [10_000, 'watching', 1],
      ['the watch fails', 'due', 1],
      ['a query', 'due', 2],
      ['the watch fails', 'away', 2],
      [1000, 'away', 2],
      ['a query', 'away', 3],
      ['the origin answers', 'watching', 3],
    ],
  },
  {
    name: 'an origin that fails is asked after 1, 2, 4 and 4 s',
    waitMs: 0,
    transitions: [
      ['a query', 'due', 1],
      ['the watch fails', 'away', 1],
      [999, 'away', 1],
      ['a query', 'away', 1],
      [1, 'away', 1],
      ['a query', 'away', 2],
      ['the watch fails', 'away', 2],
      [2000, 'away', 2],
      ['a query', 'away', 3],
      ['the watch fails', 'away', 3],
      [3999, 'away', 3],
      ['a query', 'away', 3],
      [1, 'away', 3],
      ['a query', 'away', 4],
      ['the watch fails', 'away', 4],
      [4000, 'away', 4],
      ['a query', 'away', 5],
      ['the watch fails', 'away', 5],
      [4000, 'away', 5],
      ['a query', 'away', 6],
      ['the origin answers', 'watching', 6],
      ['the watch ends', 'fresh', 6],
      [REFRESH_MS, 'due', 6],
      ['a query', 'due', 7],
      ['the watch fails', 'away', 7],
      [1000, 'away', 7],
      ['a query', 'away', 8],
    ],
  },
  {
    name: 'an origin that hangs',
    waitMs: WAIT_MS,
    transitions: [
      ['a query', 'due', 1],
      [ANSWER_MS - 1, 'due', 1],
      [1, 'away', 1],
      ['a query', 'away', 1],
      [1000, 'away', 1],
      ['a query', 'away', 2],
      ['the origin answers', 'watching', 2],
    ],
  },
  {
    name: 'a watch that nobody ends is given up',
    waitMs: WAIT_MS,
    transitions: [
      ['a query', 'due', 1],
      ['the origin answers', 'watching', 1],
      [WAIT_MS + ANSWER_MS, 'due', 1],
      ['a query', 'due', 2],
    ],
  },
  {
    name: 'an origin that ends without an answer',
    waitMs: 0,
    transitions: [
      ['a query', 'due', 1],
      ['the watch ends', 'away', 1],
    ],
  },
]

async function take(fixture: Fixture, step: Step): Promise<void> {
  if (typeof step === 'number') await fixture.advance(step)
  else if (step === 'a query') keepFollowing(fixture.follower, () => undefined)
  else if (step === 'the watch ends') fixture.last.end()
  else if (step === 'the watch fails') fixture.last.fail()
  else fixture.last.seen()
  await fixture.advance(0)
}

describe('the states of a follower:', () => {
  for (const { name, waitMs, transitions } of TABLE) {
    test(name, async () => {
      const fixture = new Fixture(waitMs)
      for (const [index, [step, state, opened]] of transitions.entries()) {
        await take(fixture, step)
        assert.deepEqual(
          [fixture.follower.state(), fixture.watches.length],
          [state, opened],
          `step ${index}, ${step}`,
        )
      }
    })
  }
})

/** Begins to look, and returns what comes of it so far. */
function looking(fixture: Fixture, limitMs?: number): { result: boolean | undefined } {
  const look: { result: boolean | undefined } = { result: undefined }
  void fixture.follower.look(limitMs).then((result) => {
    look.result = result
  })
  return look
}

describe('who lacks something', () => {
  test('waits for the origin together with others, which is asked once', async () => {
    const fixture = new Fixture(0)
    const looks = [looking(fixture), looking(fixture), looking(fixture)]
    await fixture.advance(100)
    assert.deepEqual(looks, [{ result: undefined }, { result: undefined }, { result: undefined }])
    fixture.last.seen()
    await fixture.advance(0)
    assert.deepEqual(looks, [{ result: true }, { result: true }, { result: true }])
    assert.equal(fixture.watches.length, 1)
  })

  test('reads once, as nothing keeps a watch alive beyond its response', async () => {
    const fixture = new Fixture(WAIT_MS)
    looking(fixture)
    assert.equal(fixture.last.limitMs, 0)
    fixture.last.seen()
    fixture.last.end()
    await fixture.advance(REFRESH_MS)
    assert.equal(fixture.follower.state(), 'due')
    void fixture.follower.follow()
    assert.equal(fixture.last.limitMs, WAIT_MS)
  })

  test('waits for nobody while memory has what the origin has', async () => {
    const fixture = new Fixture(WAIT_MS)
    looking(fixture)
    fixture.last.seen()
    await fixture.advance(1000)
    const look = looking(fixture)
    await fixture.advance(0)
    assert.deepEqual([look.result, fixture.watches.length], [true, 1])
  })

  test('waits no longer than its limit, and leaves the attempt to others', async () => {
    const fixture = new Fixture(0)
    const [short, long] = [looking(fixture, 150), looking(fixture)]
    await fixture.advance(150)
    assert.deepEqual([short.result, long.result], [false, undefined])
    fixture.last.seen()
    await fixture.advance(0)
    assert.deepEqual([long.result, fixture.watches.length], [true, 1])
  })

  test('asks itself when the attempt of another takes half a second, as its request may be gone', async () => {
    const fixture = new Fixture(0)
    void fixture.follower.follow()
    const look = looking(fixture)
    await fixture.advance(500)
    assert.equal(fixture.watches.length, 2)
    fixture.last.seen()
    await fixture.advance(0)
    assert.equal(look.result, true)
  })

  test('waits no longer when a slow origin answers to an earlier attempt', async () => {
    const fixture = new Fixture(0)
    const looks = [looking(fixture), looking(fixture)]
    await fixture.advance(500)
    fixture.watches[0]?.seen()
    await fixture.advance(100)
    assert.deepEqual(looks, [{ result: true }, { result: true }])
    assert.equal(fixture.watches.length, 2)
  })

  test('fails at once while the origin is away, once an attempt has failed', async () => {
    const fixture = new Fixture(0)
    const first = looking(fixture)
    await fixture.advance(ANSWER_MS)
    assert.equal(first.result, false)
    const second = looking(fixture)
    await fixture.advance(0)
    assert.equal(second.result, false)
    assert.equal(fixture.watches.length, 1)
    assert.deepEqual(fixture.errors, ['no answer from the origin after 2000 ms'])
    await fixture.advance(1000)
    const third = looking(fixture)
    fixture.last.seen()
    await fixture.advance(0)
    assert.deepEqual([third.result, fixture.watches.length], [true, 2])
  })
})

describe('after a change of its own', () => {
  test('a follower reads again, also while it watches', async () => {
    const fixture = new Fixture(WAIT_MS)
    looking(fixture)
    fixture.last.seen()
    await fixture.advance(0)
    const isRead = fixture.follower.relook()
    assert.equal(fixture.watches.length, 2)
    fixture.watches[0]?.seen()
    await fixture.advance(0)
    assert.equal(fixture.follower.state(), 'due')
    fixture.last.seen()
    assert.equal(await isRead, true)
  })

  test('a follower tries an origin that is away', async () => {
    const fixture = new Fixture(0)
    void fixture.follower.follow()
    fixture.last.fail()
    await fixture.advance(0)
    assert.equal(fixture.follower.state(), 'away')
    const isRead = fixture.follower.relook()
    fixture.last.seen()
    assert.equal(await isRead, true)
    assert.deepEqual(fixture.errors, ['it fails'])
  })
})
