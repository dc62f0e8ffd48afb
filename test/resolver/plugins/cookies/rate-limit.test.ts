import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { parseClientAddress } from '../../../../src/dns/names/network.ts'
import { RateLimit } from '../../../../src/resolver/plugins/cookies/rate-limit.ts'

const KEY = Uint8Array.from({ length: 16 }, (_, i) => i)

function take(limit: RateLimit, address: string, nowMs = 0): boolean {
  return limit.take(parseClientAddress(address) ?? assert.fail(address), nowMs)
}

describe('a rate limit', () => {
  for (const rate of [1, 3, 7, 999, 100_000]) {
    test(`allows ${rate} responses at once`, () => {
      for (const startMs of [0, 777.25, 4e9]) {
        const limit = new RateLimit(rate, KEY)
        const attempts = rate + 3 + Math.floor(rate / 100)
        const taken = Array.from({ length: attempts }, () => take(limit, '192.0.2.1', startMs))
        // After weeks, a sum of a million microseconds is not exact.
        const tolerated = Math.floor(rate / 10_000)
        assert.ok(Math.abs(taken.filter(Boolean).length - rate) <= tolerated)
      }
    })

    test(`allows ${rate} responses a second in the long run`, () => {
      const limit = new RateLimit(rate, KEY)
      let taken = 0
      const stepMs = 250 / Math.min(rate, 1000)
      for (let now = 0; now < 20_000; now += stepMs) if (take(limit, '192.0.2.1', now)) taken++
      // One second's responses at once come on top.
      assert.ok(taken <= 21 * rate + 1, String(taken))
      if (rate < 1000) assert.ok(taken >= 20 * rate, String(taken))
    })
  }

  const networks: readonly (readonly [first: string, same: string, other: string])[] = [
    ['192.0.2.1', '192.0.2.254', '192.0.3.1'],
    ['::ffff:198.51.100.1', '198.51.100.2', '198.51.101.2'],
    ['2001:db8:0:1::1', '2001:db8:0:ff::2', '2001:db8:0:100::1'],
  ]
  for (const [first, same, other] of networks) {
    test(`counts ${first} with ${same}, apart from ${other}`, () => {
      const limit = new RateLimit(1, KEY)
      assert.deepEqual(
        [first, same, other].map((address) => take(limit, address)),
        [true, false, true],
      )
    })
  }

  test('counts most of 10,000 networks apart', () => {
    const limit = new RateLimit(1, KEY)
    let taken = 0
    for (let i = 0; i < 10_000; i++) if (take(limit, `10.${i >> 8}.${i & 255}.1`)) taken++
    assert.ok(taken > 9000 && taken < 9600, String(taken))
  })
})
