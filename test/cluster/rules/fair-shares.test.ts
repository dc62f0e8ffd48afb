import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { fairShare, inTurns } from '../../../src/cluster/rules/fair-shares.ts'

const BOUND = { eachMax: 10, wholeMax: 24 }

describe('fairShare', () => {
  const cases: { name: string; counts: number[]; share: number }[] = [
    { name: 'nobody has anything', counts: [], share: 10 },
    { name: 'there is room for all', counts: [3, 10, 7], share: 10 },
    { name: 'one has more than its own bound', counts: [100, 3], share: 10 },
    { name: 'the one with the most loses', counts: [7, 9, 10], share: 8 },
    { name: 'those with the most lose alike', counts: [2, 10, 10, 10], share: 7 },
    { name: 'all have as much', counts: [10, 10, 10, 10], share: 6 },
    { name: 'there are more than the whole has room for', counts: Array(30).fill(1), share: 1 },
  ]
  for (const { name, counts, share } of cases) {
    test(name, () => assert.equal(fairShare(counts, BOUND), share))
  }

  test('keeps to both bounds, and could give nobody one more', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(20), { maxLength: 30 }),
        fc.integer({ min: 1, max: 15 }),
        fc.nat(60),
        (counts, eachMax, wholeMax) => {
          const sumOf = (most: number): number =>
            counts.reduce((sum, count) => sum + Math.min(count, most), 0)
          const share = fairShare(counts, { eachMax, wholeMax })
          assert.ok(share <= eachMax && (share === 1 || sumOf(share) <= wholeMax))
          assert.ok(share === eachMax || sumOf(share + 1) > wholeMax)
        },
      ),
    )
  })
})

describe('inTurns', () => {
  const cases: { name: string; items: string; after?: string; turns: string }[] = [
    { name: 'nothing', items: '', turns: '' },
    { name: 'one namespace in its order', items: 'a2 a1', turns: 'a2 a1' },
    { name: 'namespaces by turns', items: 'a1 a2 a3 c1 b1 b2', turns: 'a1 b1 c1 a2 b2 a3' },
    { name: 'after the last turn', items: 'a1 a2 b1 c1', after: 'a', turns: 'b1 c1 a1 a2' },
    { name: 'after one that has nothing', items: 'a1 c1 d1', after: 'b', turns: 'c1 d1 a1' },
    { name: 'after the last one', items: 'a1 b1', after: 'z', turns: 'a1 b1' },
  ]
  for (const { name, items, after, turns } of cases) {
    test(name, () => {
      const all = items.split(' ').filter((item) => item !== '')
      const found = inTurns(all, (item) => item.slice(0, 1), after)
      assert.equal(found.join(' '), turns)
    })
  }
})
