import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { HeldClock } from '../../../src/gateway/timing/held-clock.ts'

function counting(): HeldClock {
  let readings = 0
  let ticks = 100
  return new HeldClock({ now: () => ++readings, elapsed: () => ++ticks })
}

describe('HeldClock', () => {
  it('goes on by itself', () => {
    const clock = counting()
    assert.deepEqual([clock.now(), clock.now()], [1, 2])
  })

  it('stands still while something runs, and goes on after it', () => {
    const clock = counting()
    const seen = clock.during(() => [clock.now(), clock.elapsed(), clock.now(), clock.elapsed()])
    assert.deepEqual(seen, [1, 101, 1, 101])
    assert.deepEqual([clock.now(), clock.elapsed()], [2, 102])
  })

  it('goes on after what throws, and while a promise is waited for', async () => {
    const clock = counting()
    const fail = (): void => {
      throw new RangeError('no')
    }
    assert.throws(() => clock.during(fail), RangeError)
    assert.equal(clock.now(), 2)
    const later = clock.during(async () => {
      await undefined
      return [clock.now(), clock.now()]
    })
    assert.deepEqual(await later, [4, 5])
  })
})
