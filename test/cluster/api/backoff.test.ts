import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import fc from 'fast-check'
import { describe, test, vi } from 'vitest'
import { Backoff, sleep } from '../../../src/cluster/api/backoff.ts'

function delays(backoff: Backoff, count: number): number[] {
  return Array.from({ length: count }, () => backoff.next())
}

describe('Backoff', () => {
  test('doubles half a second until it is 30 seconds', () => {
    const full = [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]
    assert.deepEqual(delays(new Backoff(() => 1), 8), full)
  })

  test('stops at the given maximum', () => {
    assert.deepEqual(delays(new Backoff(() => 1, 1500), 4), [500, 1000, 1500, 1500])
  })

  test('takes off up to half of it', () => {
    const random = [0, 0.5, 1].values()
    assert.deepEqual(delays(new Backoff(() => random.next().value ?? 0), 3), [250, 750, 2000])
  })

  test('begins at the shortest time again', () => {
    const backoff = new Backoff(() => 0)
    delays(backoff, 5)
    backoff.reset()
    assert.equal(backoff.next(), 250)
  })

  test('stays within its bounds however often it fails', () => {
    const random = fc.double({ min: 0, max: 1, noNaN: true })
    fc.assert(
      fc.property(fc.array(random, { minLength: 1, maxLength: 2000 }), (numbers) => {
        const values = numbers.values()
        const backoff = new Backoff(() => values.next().value ?? 0)
        for (const delayMs of delays(backoff, numbers.length)) {
          assert.ok(250 <= delayMs && delayMs <= 30_000)
        }
      }),
    )
    const backoff = new Backoff(() => 0)
    assert.equal(delays(backoff, 2000).at(-1), 15_000)
  })
})

describe('sleep', () => {
  test('waits by the clock of the runtime', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    let isOver = false
    const slept = sleep(1000, new AbortController().signal).then(() => {
      isOver = true
    })
    vi.advanceTimersByTime(999)
    await Promise.resolve()
    assert.equal(isOver, false)
    vi.advanceTimersByTime(1)
    await slept
  })

  test('ends with the signal, without an error', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const ended = new AbortController()
    const slept = sleep(1000, ended.signal)
    ended.abort()
    assert.equal(await slept, undefined)
  })

  test('does not begin when the signal has come before', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    assert.equal(await sleep(1000, AbortSignal.abort()), undefined)
  })

  test('keeps nothing of a signal that outlives it', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { signal } = new AbortController()
    const slept = sleep(1000, signal)
    assert.equal(getEventListeners(signal, 'abort').length, 1)
    vi.advanceTimersByTime(1000)
    await slept
    assert.equal(getEventListeners(signal, 'abort').length, 0)
  })
})
