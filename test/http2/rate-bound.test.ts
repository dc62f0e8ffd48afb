import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { RateBound } from '../../src/http2/rate-bound.ts'

describe('RateBound', () => {
  test('allows so many at once, and then so many a second', () => {
    const bound = new RateBound({ burst: 3, perSecond: 2 }, 0)
    const allowed = (nowMs: number): boolean => bound.allows(nowMs)
    assert.deepEqual([0, 0, 0, 0].map(allowed), [true, true, true, false])
    assert.deepEqual([499, 500, 500, 1000, 1000].map(allowed), [false, true, false, true, false])
  })

  test('saves up no more than that', () => {
    const bound = new RateBound({ burst: 2, perSecond: 100 }, 0)
    const counted = Array.from({ length: 5 }, () => bound.allows(1_000_000))
    assert.equal(counted.filter(Boolean).length, 2)
  })

  test('is not confused by a clock that goes back', () => {
    const bound = new RateBound({ burst: 1, perSecond: 1 }, 5000)
    assert.equal(bound.allows(0), true)
    assert.equal(bound.allows(0), false)
  })
})
