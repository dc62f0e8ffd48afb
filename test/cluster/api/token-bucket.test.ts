import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { TokenBucket } from '../../../src/cluster/api/token-bucket.ts'
import { FakeClock } from '../follow/fake-clock.ts'

describe('a token bucket', () => {
  test('has a burst, refills over time, and lends tokens', () => {
    const clock = new FakeClock()
    const bucket = new TokenBucket(2, 3, clock.elapsed)
    assert.deepEqual(
      Array.from({ length: 5 }, () => bucket.take()),
      [0, 0, 0, 500, 1000],
    )
    assert.equal(bucket.delayMs(), 1500)
    clock.pass(1000)
    assert.equal(bucket.delayMs(), 500)
    clock.pass(3_600_000)
    assert.deepEqual(
      Array.from({ length: 4 }, () => bucket.take()),
      [0, 0, 0, 500],
    )
  })

  test('is full until a token is taken, and once the time has refilled it', () => {
    const clock = new FakeClock()
    const bucket = new TokenBucket(1, 2, clock.elapsed)
    assert.equal(bucket.isFull, true)
    bucket.take()
    assert.equal(bucket.isFull, false)
    clock.pass(1000)
    assert.equal(bucket.isFull, true)
  })

  test('takes no token when it is only looked at', () => {
    const bucket = new TokenBucket(1, 1, () => 7)
    assert.deepEqual([bucket.delayMs(), bucket.delayMs(), bucket.take()], [0, 0, 0])
    assert.equal(bucket.delayMs(), 1000)
  })
})
