import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import {
  hashByteRange,
  hashName,
  hashView,
  hashWords,
} from '../../../src/snapshot/format/name-hash.ts'
import { labels } from '../entries.ts'

/** The hash as README.md has it, in numbers without a bound. */
function reference(octets: Uint8Array, seed: number): number {
  let hash = BigInt((0x811c9dc5 ^ seed) >>> 0)
  for (let at = 0; at < octets.length; at += 4) {
    const four = [...octets.subarray(at, at + 4)]
    const number = four.reduceRight((sum, octet) => sum * 256n + BigInt(octet), 0n)
    hash = ((hash ^ number) * 0x9e3779b1n) % 2n ** 32n
    hash ^= hash >> 15n
  }
  return Number(BigInt.asIntN(32, hash))
}

describe('hashView', () => {
  test('is the hash of the same bytes, wherever they begin', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.nat(3), fc.nat(), (octets, start, seed) => {
        const spacious = new Uint8Array(octets.length + 6).fill(0xff)
        spacious.set(octets, start)
        const end = start + octets.length
        const hash = hashView(new DataView(spacious.buffer), start, end, seed)
        assert.equal(hash, hashByteRange(octets, 0, octets.length, seed))
      }),
    )
  })
})

describe('hashName', () => {
  test('takes in the lengths of labels', () => {
    const [one, two] = [labels('ab.c'), labels('a.bc')]
    assert.notEqual(hashName(one, one.length, 0), hashName(two, two.length, 0))
  })

  test('reads the first bytes only', () => {
    const name = labels('web.shop.svc')
    assert.equal(hashName(name, 4, 1), hashName(labels('web'), 4, 1))
  })

  test('is another one with another seed', () => {
    assert.notEqual(hashName(labels('web'), 4, 0), hashName(labels('web'), 4, 1))
  })

  test('is a signed number of 32 bits for all bytes and seeds', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.nat(0xffffffff), (octets, seed) => {
        assert.equal(hashName(octets, octets.length, seed), reference(octets, seed))
      }),
    )
  })

  test('spreads names that differ little over all slots', () => {
    const slots = new Set<number>()
    for (let i = 0; i < 4096; i++) {
      const name = labels(`web-${i}.shop.svc`)
      slots.add(hashName(name, name.length, 0) & 4095)
    }
    // By chance, 1 - 1/e of the slots are hit.
    assert.ok(slots.size > 2480 && slots.size < 2700, `${slots.size} of 4096`)
  })
})

test('hashByteRange begins and ends anywhere', () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.nat(40), fc.nat(40), (octets, a, b) => {
      const start = Math.min(a, octets.length)
      const end = Math.min(start + b, octets.length)
      assert.equal(hashByteRange(octets, start, end, 7), reference(octets.slice(start, end), 7))
    }),
  )
})

test('hashWords gives the same, whatever follows the name', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 64, maxLength: 64 }), fc.nat(60), (octets, size) => {
      const words = new Int32Array(octets.slice().buffer)
      assert.equal(hashWords(words, size, 3), hashName(octets, size, 3))
    }),
  )
})
