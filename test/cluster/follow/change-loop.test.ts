import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import fc from 'fast-check'
import { describe, type TestContext, test } from 'vitest'
import { ChangeLoop, type ChangeLoopOptions } from '../../../src/cluster/follow/change-loop.ts'
import { FakeClock, START_MS } from './fake-clock.ts'

const GATHER_MS = 10
const INTERVAL_MS = 100

type Running = {
  readonly loop: ChangeLoop
  readonly clock: FakeClock
  /** When each piece of work began, in milliseconds from the start. */
  readonly begins: number[]
  readonly ended: AbortController
  readonly running: Promise<void>
}

/** Starts a loop; `work` takes no time unless it lets some pass. */
function start(
  t: TestContext | undefined,
  work: (clock: FakeClock, signal: AbortSignal) => void | Promise<void> = () => undefined,
  options: Partial<ChangeLoopOptions> = {},
): Running {
  const clock = new FakeClock()
  const begins: number[] = []
  const loop = new ChangeLoop({
    work: (signal) => {
      begins.push(clock.now() - START_MS)
      return work(clock, signal)
    },
    gatherMs: GATHER_MS,
    intervalMs: INTERVAL_MS,
    sleep: clock.sleep,
    elapsed: clock.elapsed,
    ...options,
  })
  const ended = new AbortController()
  const running = loop.run(ended.signal)
  t?.onTestFinished(async () => {
    ended.abort()
    await running.catch(() => undefined)
  })
  return { loop, clock, begins, ended, running }
}

describe('ChangeLoop', () => {
  const cases: {
    name: string
    marks: readonly number[]
    begins: readonly number[]
    work?: (clock: FakeClock, signal: AbortSignal) => void | Promise<void>
    dutyShare?: number
    busyMs?: () => number
    gatherMs?: number
    intervalMs?: number
  }[] = [
    { name: 'does nothing when nothing changes', marks: [], begins: [] },
    { name: 'works at once after the first change', marks: [500], begins: [510] },
    { name: 'does not gather at 0', marks: [500, 501], begins: [500, 600], gatherMs: 0 },
    { name: 'works once for changes that come together', marks: [0, 1, 9], begins: [10] },
    { name: 'gathers again after a quiet time', marks: [0, 115, 120], begins: [10, 125] },
    { name: 'works again for a change after that', marks: [0, 11], begins: [10, 110] },
    { name: 'works no more often than the interval allows', marks: [0, 20, 60], begins: [10, 110] },
    { name: 'works at once again when the interval is over', marks: [0, 300], begins: [10, 310] },
    {
      name: 'counts the interval from the start of the work',
      marks: [0, 11],
      begins: [10, 110],
      work: (clock, signal) => clock.sleep(60, signal),
    },
    {
      name: 'works on when the work has waited for longer than the interval',
      marks: [0, 11],
      begins: [10, 1010],
      work: (clock, signal) => clock.sleep(1000, signal),
    },
    {
      name: 'works on at once after long work where no caller waits for answers',
      marks: [0, 11],
      begins: [10, 210],
      work: (clock) => clock.pass(200),
    },
    {
      name: 'is busy for a share of the time at most after the first time',
      marks: [0, 11, 1000],
      begins: [10, 210, 1010],
      dutyShare: 0.25,
      work: (clock) => clock.pass(200),
    },
    {
      name: 'rests for a second at most',
      marks: [0, 11, 1000],
      begins: [10, 510, 2010],
      dutyShare: 0.25,
      work: (clock) => clock.pass(500),
    },
    {
      name: 'goes on at once after what a quiet time has saved, then rests',
      dutyShare: 0.25,
      intervalMs: 0,
      gatherMs: 0,
      marks: [0, 500, 530, 560, 600],
      // Saved: 50, 27.5, 5, -17.5 ms, for which it rests 70 ms.
      begins: [0, 500, 530, 560, 660],
      work: (clock) => clock.pass(30),
    },
    {
      name: 'rests for what work in slices says that it was busy',
      dutyShare: 0.25,
      marks: [0, 11, 1000],
      // Saved: 50, then 50 + 600 / 4 - 300 = -100, for which it rests 400 ms.
      begins: [10, 610, 1610],
      busyMs: () => 300,
      work: (clock, signal) => {
        clock.pass(10)
        return clock.sleep(590, signal)
      },
    },
    {
      name: 'lets waiting count as rest',
      dutyShare: 0.25,
      marks: [0, 11, 1000],
      // Saved: 50, then 0.
      begins: [10, 610, 1210],
      work: (clock, signal) => {
        clock.pass(200)
        return clock.sleep(400, signal)
      },
    },
  ]
  for (const { name, marks, begins, work, ...rest } of cases) {
    test(name, async (t) => {
      const { loop, clock, begins: begun } = start(t, work, rest)
      for (const ms of marks) {
        await clock.advance(START_MS + ms - clock.now())
        loop.mark()
      }
      await clock.advance(10_000)
      assert.deepEqual(begun, begins)
    })
  }

  test('does not wait for longer than the interval when the clock is set back', async (t) => {
    const { loop, clock, begins } = start(t, (wound) => wound.setBack(3_600_000))
    loop.mark()
    await clock.advance(GATHER_MS)
    loop.mark()
    await clock.advance(0)
    assert.equal(clock.delays.at(-1), INTERVAL_MS)
    await clock.advance(INTERVAL_MS + GATHER_MS)
    assert.equal(begins.length, 2)
  })

  test('does not wait for hours when the machine slept for hours while it worked', async (t) => {
    const work = (running: FakeClock): void => running.wakeAfter(25 * 3_600_000)
    const { loop, clock, begins } = start(t, work, { dutyShare: 0.25 })
    loop.mark()
    await clock.advance(GATHER_MS)
    loop.mark()
    await clock.advance(INTERVAL_MS + GATHER_MS)
    assert.equal(begins.length, 2)
    loop.mark()
    await clock.advance(1000 + GATHER_MS)
    assert.equal(begins.length, 3)
  })

  test('handles changes before it ran', async (t) => {
    const clock = new FakeClock()
    let count = 0
    const work = (): void => {
      count++
    }
    const { sleep, elapsed } = clock
    const loop = new ChangeLoop({ work, gatherMs: 10, intervalMs: 100, sleep, elapsed })
    loop.mark()
    const ended = new AbortController()
    const running = loop.run(ended.signal)
    t.onTestFinished(() => ended.abort())
    await clock.advance(10)
    assert.equal(count, 1)
    ended.abort()
    await running
    assert.equal(count, 1)
  })

  test('fails as the work fails', async (t) => {
    const works: (() => void | Promise<void>)[] = [
      () => {
        throw new RangeError('at once')
      },
      () => Promise.reject(new RangeError('later')),
    ]
    for (const work of works) {
      const { loop, clock, running } = start(t, work)
      const failed = assert.rejects(running, RangeError)
      loop.mark()
      await clock.advance(GATHER_MS)
      await failed
    }
  })

  test('keeps nothing of the signal from change to change', async (t) => {
    const { loop, clock, ended } = start(t)
    for (let i = 0; i < 5; i++) {
      loop.mark()
      await clock.advance(1000)
    }
    assert.equal(getEventListeners(ended.signal, 'abort').length, 1)
  })

  describe('when the signal ends it', () => {
    const cases: {
      name: string
      marks: number
      at: number
      begins: readonly number[]
      work?: (clock: FakeClock, signal: AbortSignal) => void | Promise<void>
    }[] = [
      { name: 'ends when nothing changed', marks: 0, at: 50, begins: [] },
      { name: 'works on what it was gathering', marks: 1, at: 5, begins: [5] },
      { name: 'works on what waited for the interval', marks: 2, at: 30, begins: [10, 30] },
      {
        name: 'works on what changed during the last work',
        marks: 2,
        at: 30,
        begins: [10, 30],
        work: (clock, signal) => clock.sleep(500, signal),
      },
      { name: 'does not work again on what it has worked on', marks: 1, at: 30, begins: [10] },
    ]
    for (const { name, marks, at, begins, work } of cases) {
      test(name, async (t) => {
        const { loop, clock, begins: begun, ended, running } = start(t, work)
        if (marks > 0) loop.mark()
        await clock.advance(at)
        if (marks > 1) loop.mark()
        ended.abort()
        await running
        assert.deepEqual(begun, begins)
        assert.equal(clock.sleeping, 0)
      })
    }
  })

  test('never loses the last change', async () => {
    const ms = fc.integer({ min: 0, max: 300 })
    const step = fc.oneof(
      ms.map((value) => ({ kind: 'advance' as const, value })),
      ms.map((value) => ({ kind: 'take' as const, value })),
      fc.constant({ kind: 'mark' as const, value: 0 }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20 }), fc.boolean(), async (steps, isEnded) => {
        const work = { tookMs: 0, marks: 0, marksAtBegin: 0 }
        const { loop, clock, begins, ended, running } = start(undefined, (wound, signal) => {
          work.marksAtBegin = work.marks
          return wound.sleep(work.tookMs, signal)
        })
        for (const { kind, value } of steps) {
          if (kind === 'take') work.tookMs = value
          if (kind === 'advance') await clock.advance(value)
          if (kind !== 'mark') continue
          work.marks++
          loop.mark()
        }
        const gaps = begins.slice(1).map((begin, i) => begin - (begins[i] ?? 0))
        assert.ok(gaps.every((gap) => gap >= INTERVAL_MS))
        if (!isEnded) await clock.advance(10_000)
        else ended.abort()
        if (isEnded) await running
        assert.equal(work.marksAtBegin, work.marks)
        ended.abort()
        await running
      }),
    )
  })
})
