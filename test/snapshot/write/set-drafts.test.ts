import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { TYPE } from '../../../src/dns/names/rr-type.ts'
import type { Rdata } from '../../../src/snapshot/records/zone-entry.ts'
import {
  addRdata,
  draftSet,
  finishSet,
  isSameSet,
  mergeRdata,
  setHash,
} from '../../../src/snapshot/write/set-drafts.ts'

/** Records of one byte, some of them with a target of one. */
const rdata = (): fc.Arbitrary<Rdata> =>
  fc
    .record({ value: fc.nat(3), target: fc.option(fc.nat(2), { nil: undefined }) })
    .map(({ value, target }) => {
      const bytes = Uint8Array.of(value)
      return target === undefined ? { bytes } : { bytes, target: Uint8Array.of(target) }
    })

const texts = (some: readonly Rdata[]): string[] =>
  some.map(({ bytes, target }) => `${bytes[0]} ${target?.[0] ?? '-'}`)

function finished(type: number, some: readonly Rdata[], isMerged = false): string[] {
  const set = draftSet(type, 5, isMerged ? [] : some)
  if (isMerged) mergeRdata(set, 5, some)
  finishSet(set)
  return texts(set.rdata)
}

describe('finishSet', () => {
  test('keeps the first of each, in the order they came in', () => {
    fc.assert(
      fc.property(fc.array(rdata(), { maxLength: 20 }), (some) => {
        assert.deepEqual(finished(TYPE.SRV, some), [...new Set(texts(some))])
      }),
    )
  })

  test('gives the same for any order where order means nothing', () => {
    fc.assert(
      fc.property(fc.array(rdata(), { maxLength: 20 }), (some) => {
        const once = finished(TYPE.SRV, some, true)
        assert.deepEqual(finished(TYPE.SRV, some.toReversed(), true), once)
        assert.deepEqual([...once].sort(), [...new Set(texts(some))].sort())
      }),
    )
  })

  test('puts pointers in the order of their names', () => {
    const to = (last: number): Rdata => ({ bytes: new Uint8Array(0), target: Uint8Array.of(last) })
    const set = draftSet(TYPE.PTR, 5, [to(2), to(1), to(2)])
    finishSet(set)
    assert.deepEqual(
      set.rdata.map(({ target }) => target?.[0]),
      [1, 2],
    )
  })

  test('lowers a TTL that has no room', () => {
    const set = draftSet(TYPE.A, 0x1000000, [])
    finishSet(set)
    assert.equal(set.ttlSeconds, 0xffffff)
  })
})

describe('addRdata', () => {
  test('keeps types sorted, and earlier sets unchanged', () => {
    const types = [TYPE.SRV, TYPE.A, TYPE.TXT, TYPE.AAAA]
    let sets = addRdata([], { type: TYPE.MX, ttlSeconds: 5, rdata: [] })
    for (const type of types) sets = addRdata(sets, { type, ttlSeconds: 5, rdata: [] })
    assert.deepEqual(
      sets.map(({ type }) => type),
      [TYPE.A, TYPE.MX, TYPE.TXT, TYPE.AAAA, TYPE.SRV],
    )
  })

  test('merges records of a type with the lower TTL, without changing the input', () => {
    const first = [{ bytes: Uint8Array.of(1) }]
    const once = addRdata([], { type: TYPE.A, ttlSeconds: 5, rdata: first })
    const twice = addRdata(once, {
      type: TYPE.A,
      ttlSeconds: 3,
      rdata: [{ bytes: Uint8Array.of(2) }],
    })
    assert.deepEqual(
      twice.map(({ ttlSeconds, rdata }) => [ttlSeconds, texts(rdata)]),
      [[3, ['1 -', '2 -']]],
    )
    assert.equal(first.length, 1)
  })
})

test('setHash is the same for equal sets', () => {
  fc.assert(
    fc.property(
      fc.array(rdata(), { maxLength: 2 }),
      fc.array(rdata(), { maxLength: 2 }),
      (a, b) => {
        const [one, other] = [draftSet(TYPE.TXT, 5, a), draftSet(TYPE.TXT, 5, b)]
        assert.ok(!isSameSet(one, other) || setHash(one) === setHash(other))
      },
    ),
  )
})
