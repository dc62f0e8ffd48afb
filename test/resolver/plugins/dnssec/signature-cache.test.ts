import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { SignatureCache } from '../../../../src/resolver/plugins/dnssec/signer.ts'

const SIGNATURES = [Uint8Array.of(1)]
/** Entries and bytes that the smallest cache has room for. */
const ENTRIES = 1024
const BYTES = ENTRIES * 512

describe('SignatureCache', () => {
  test('finds what was put, until its time is up', () => {
    const cache = new SignatureCache(ENTRIES)
    cache.put('a', SIGNATURES, 1000)
    assert.equal(cache.find('a', 1000), SIGNATURES)
    assert.equal(cache.find('b', 1000), undefined)
    assert.equal(cache.find('a', 1001), undefined)
    assert.equal(cache.size, 0)
  })

  test('has room for at least 1024, and for more', () => {
    for (const [capacity, size] of [
      [0, ENTRIES],
      [1, ENTRIES],
      [2000, 2000],
    ] as const) {
      const cache = new SignatureCache(capacity)
      for (let i = 0; i < 3000; i++) cache.put(String(i), SIGNATURES, 1000)
      assert.equal(cache.size, size)
    }
  })

  test('lets go of what was used longest ago', () => {
    const cache = new SignatureCache(ENTRIES)
    for (let i = 0; i < ENTRIES; i++) cache.put(String(i), SIGNATURES, 1000)
    cache.find('0', 0)
    cache.put('more', SIGNATURES, 1000)
    assert.deepEqual(
      ['0', '1', '2', 'more'].map((key) => cache.find(key, 0)?.length),
      [1, undefined, 1, 1],
    )
  })

  test('is bounded in bytes, also by one that is too large alone', () => {
    const cache = new SignatureCache(ENTRIES)
    cache.put('small', SIGNATURES, 1000)
    cache.put('x'.repeat(BYTES - 5), SIGNATURES, 1000)
    assert.equal(cache.size, 2)
    cache.put('y', SIGNATURES, 1000)
    assert.equal(cache.find('small', 0), undefined)
    cache.put('z'.repeat(BYTES + 1), SIGNATURES, 1000)
    assert.equal(cache.size, 0)
  })

  test('counts its bytes rightly, whatever happens', () => {
    const step = fc.tuple(fc.nat(9), fc.boolean(), fc.nat(3))
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const cache = new SignatureCache(ENTRIES)
        for (const [i, isPut, nowMs] of steps) {
          const key = String(i).repeat(BYTES / 4)
          const known = cache.find(key, nowMs)
          if (isPut && known === undefined) cache.put(key, SIGNATURES, 2)
          assert.ok(cache.size <= 4)
        }
        for (let i = 0; i < 10; i++) cache.find(String(i).repeat(BYTES / 4), 9)
        assert.equal(cache.size, 0)
        for (let i = 0; i < 4; i++) cache.put(String(i).repeat(BYTES / 4), SIGNATURES, 2)
        assert.equal(cache.size, 4)
      }),
      { numRuns: 20 },
    )
  })
})
