import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { RateBuckets } from '../../src/gateway/rate-limiter.ts'

describe('RateBuckets', () => {
  test('let some at once, then no more than the pace', () => {
    let nowMs = 0
    const { allow } = new RateBuckets({ perMinute: 60, now: () => nowMs })
    const allowed = (): number =>
      Array.from({ length: 100 }, () => allow('a')).filter(Boolean).length
    assert.equal(allowed(), 12)
    nowMs += 5000
    assert.equal(allowed(), 5)
    nowMs += 999
    assert.equal(allowed(), 0)
    nowMs += 3_600_000
    assert.equal(allowed(), 12)
  })

  test('have nobody suffer for another, and a clock that goes back harm nobody', () => {
    let nowMs = 10_000
    const { allow } = new RateBuckets({ perMinute: 5, now: () => nowMs })
    assert.deepEqual([allow('a'), allow('a'), allow('b')], [true, false, true])
    nowMs = 0
    assert.equal(allow('a'), false)
  })

  test('remember so many and no more', () => {
    const { allow } = new RateBuckets({ perMinute: 5, now: () => 0 })
    allow('first')
    assert.equal(allow('first'), false)
    for (let i = 0; i < 20_000; i++) allow(String(i))
    assert.equal(allow('first'), true)
  })
})
