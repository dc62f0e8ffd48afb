/** @module */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { formatMarkdown, formatTable, quotientRow, type Row } from '../../bench/row.ts'

const BASE = { bench: 'gateway', metric: 'CPU for a GET', unit: 'µs' }
/** Rounds of a machine that gets slower: both servers take more, ours always 1.5 times. */
const OURS = [15, 30, 45, 60, 75]
const PEER = { name: 'a bare server', rounds: [10, 20, 30, 40, 50] }

describe('a row of two servers in turn', () => {
  test('has the medians of both, and that of the quotients of rounds', () => {
    const { ours, peer, quotient } = quotientRow(BASE, OURS, PEER)
    assert.deepEqual({ ours, peer, quotient }, { ours: 45, peer: 30, quotient: 1.5 })
    // A disturbed round moves a median, and not that of the quotients.
    const disturbed = quotientRow(BASE, [15, 30, 90, 120, 75], {
      ...PEER,
      rounds: [10, 20, 60, 80, 50],
    })
    assert.deepEqual([disturbed.ours, disturbed.quotient], [75, 1.5])
  })

  test('leaves out a round that one of them did not answer', () => {
    const { quotient } = quotientRow(BASE, OURS.with(1, Number.NaN), PEER)
    assert.equal(quotient, 1.5)
  })

  const goals: readonly (readonly [atMost: number, holds: boolean])[] = [
    [1.5, true],
    [1.4, false],
  ]
  for (const [atMost, holds] of goals) {
    test(`${holds ? 'holds' : 'misses'} a goal of ${atMost}`, () => {
      const { goal, holds: found } = quotientRow(BASE, OURS, PEER, { atMost })
      assert.deepEqual([goal, found], [`≤ ${atMost}`, holds])
    })
  }

  test('misses its goal without a number', () => {
    const none = OURS.map(() => Number.NaN)
    assert.equal(quotientRow(BASE, none, PEER, { atMost: 1.5 }).holds, false)
  })

  test('names its quotient in both tables, and its peers in one line of Markdown', () => {
    const rows: readonly Row[] = [
      quotientRow(BASE, OURS, PEER, { atMost: 1.4 }),
      quotientRow(BASE, OURS, { name: 'CoreDNS', rounds: OURS }),
    ]
    assert.match(formatTable(rows), /45 µs +30 µs a bare server +ours ÷ its 1\.5 +≤ 1\.4 +missed/)
    const markdown =
      '| CPU for a GET | 45 µs | a bare server 30 µs, ours ÷ its 1.5; ' +
      'CoreDNS 45 µs, ours ÷ its 1 | ≤ 1.4 (missed) |'
    assert.ok(formatMarkdown(rows).includes(markdown))
  })
})
