import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { hashName } from '../../src/snapshot/name-hash.ts'
import { labels } from './entries.ts'

/** The last step of the hash, on top of FNV-1a. */
const mix = (hash: number): number => (hash ^ (hash >>> 15)) >>> 0

describe('hashName', () => {
  // FNV-1a of 32 bits, test vectors of draft-eastlake-fnv.
  const vectors: { text: string; fnv1a: number }[] = [
    { text: '', fnv1a: 0x811c9dc5 },
    { text: 'a', fnv1a: 0xe40c292c },
    { text: 'foobar', fnv1a: 0xbf9cf968 },
  ]
  for (const { text, fnv1a } of vectors) {
    test(`is FNV-1a with seed 0: "${text}"`, () => {
      assert.equal(hashName(new TextEncoder().encode(text), text.length, 0), mix(fnv1a))
    })
  }

  test('takes in the lengths of labels', () => {
    const [one, two] = [labels('ab.c'), labels('a.bc')]
    assert.notEqual(hashName(one, one.length, 0), hashName(two, two.length, 0))
  })

  test('reads the first octets only', () => {
    const name = labels('web.shop.svc')
    assert.equal(hashName(name, 4, 1), hashName(labels('web'), 4, 1))
  })

  test('is another one with another seed', () => {
    assert.notEqual(hashName(labels('web'), 4, 0), hashName(labels('web'), 4, 1))
  })

  test('is an unsigned number of 32 bits for all octets and seeds', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.nat(0xffffffff), (octets, seed) => {
        let hash = BigInt((0x811c9dc5 ^ seed) >>> 0)
        for (const octet of octets) hash = ((hash ^ BigInt(octet)) * 16777619n) % 2n ** 32n
        assert.equal(hashName(octets, octets.length, seed), mix(Number(hash)))
      }),
    )
  })
})
