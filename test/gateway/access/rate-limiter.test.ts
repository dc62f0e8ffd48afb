import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import {
  FallbackLimiter,
  networkKey,
  RateBuckets,
} from '../../../src/gateway/access/rate-limiter.ts'
import type { Client } from '../../../src/resolver/contract/client.ts'

describe('RateBuckets', () => {
  test('let some at once, then no more than the pace', () => {
    let nowMs = 0
    const { allow } = new RateBuckets({ perMinute: 60, elapsed: () => nowMs })
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
    const { allow } = new RateBuckets({ perMinute: 5, elapsed: () => nowMs })
    assert.deepEqual([allow('a'), allow('a'), allow('b')], [true, false, true])
    nowMs = 0
    assert.equal(allow('a'), false)
  })

  test('remember so many and no more, and those used up before all others', () => {
    const { allow } = new RateBuckets({ perMinute: 60, elapsed: () => 0 })
    const useUp = (key: string): number =>
      Array.from({ length: 20 }, () => allow(key)).filter(Boolean).length
    assert.equal(useUp('first'), 12)
    assert.equal(useUp('second'), 12)
    for (let i = 0; i < 100_000; i++) allow(String(i))
    assert.deepEqual([useUp('first'), useUp('second')], [0, 0])
    // What is remembered of the others is the last 19,000 to 20,000.
    assert.deepEqual([useUp('99999'), useUp('70000')], [11, 12])
  })

  test('forget those that are full again before those that are not', () => {
    let nowMs = 0
    const { allow } = new RateBuckets({ perMinute: 60, elapsed: () => nowMs })
    for (let i = 0; i < 10_000; i++) allow(`old ${i}`)
    nowMs += 60_000
    for (let i = 0; i < 12; i++) allow('used')
    for (let i = 0; i < 10_100; i++) allow(`new ${i}`)
    assert.equal(allow('used'), false)
  })
})

describe('FallbackLimiter', () => {
  const failures: readonly [how: string, allow: () => Promise<boolean>][] = [
    ['throws', () => assert.fail('no such namespace')],
    ['rejects', () => Promise.reject(new Error('no such namespace'))],
  ]
  for (const [how, fail] of failures) {
    test(`counts in memory while the platform ${how}, and reports that once`, async () => {
      let isDown = true
      const errors: string[] = []
      const { allow } = new FallbackLimiter({
        platform: { allow: () => (isDown ? fail() : Promise.resolve(false)) },
        memory: new RateBuckets({ perMinute: 10, elapsed: () => 0 }),
        onError: (message) => errors.push(message),
      })
      const allowed = [await allow('a'), await allow('a'), await allow('a'), await allow('b')]
      assert.deepEqual(allowed, [true, true, false, true])
      assert.deepEqual(errors, ['no such namespace'])
      isDown = false
      assert.equal(await allow('c'), false)
    })
  }
})

describe('networkKey', () => {
  test('counts all addresses of one IPv6 /64 as one client', () => {
    const keys = Array.from({ length: 5000 }, (_, i) => `2001:db8::1:${i.toString(16)}`)
    const counted = new Set(
      ['2001:db8:0:0:ffff::', ...keys].map((address) => networkKey(clientAt(address))),
    )
    assert.equal(counted.size, 1)
    assert.notEqual(networkKey(clientAt('2001:db8:0:1::')), [...counted][0])
  })
})

function clientAt(address: string): Client {
  return { address, port: 0, transport: 'https' }
}
