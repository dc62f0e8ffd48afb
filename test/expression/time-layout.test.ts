import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { formatTime, parseTime } from '../../src/expression/time-layout.ts'
import { UTC } from '../../src/expression/time-zone.ts'
import { type Case, testOutcomes } from './evaluate.ts'

/** As expr-lang 1.17.8 has them, with Go 1.26. */
const CASES: readonly Case[] = [
  ["date('2026-11-21', '2006-01-02')", '2026-11-21 00:00:00 +0000 UTC'],
  ["date('21.11.2026 5PM', '02.01.2006 3PM')", '2026-11-21 17:00:00 +0000 UTC'],
  ["date('2026-11-21', '2006-01-02', 'Europe/Berlin')", '2026-11-21 00:00:00 +0100 CET'],
  ["date('2026-11-21').Format('Mon Jan _2 15:04:05 2006')", 'Sat Nov 21 00:00:00 2026'],
  [
    "date('2026-11-21T23:59:59.123456789Z').Format('2006-01-02T15:04:05.999999999Z07:00')",
    '2026-11-21T23:59:59.123456789Z',
  ],
  [
    "date('2026-11-21T23:59:59.120000000Z').Format('15:04:05.000 15:04:05.999 05,00')",
    '23:59:59.120 23:59:59.12 59,12',
  ],
  [
    "date('2026-03-01T03:04:05+05:30').Format('Monday January 2 02 _2 1 01 Jan Mon 3:4:5 PM pm 03 06 -07:00 -0700 -07 Z0700 Z07:00 002 __2 MST')",
    'Sunday March 1 01  1 3 03 Mar Sun 3:4:5 AM am 03 26 +05:30 +0530 +05 +0530 +05:30 060  60 +0530',
  ],
  [
    "date('2026-11-21').Format('Januaryx Janx Monx Mon. 20060102150405')",
    'Novemberx Janx Monx Sat. 20261121000000',
  ],
  ["date('2026-11-21').Format('')", ''],
  ["date('24 Nov 2026', '2 Jan 2006')", '2026-11-24 00:00:00 +0000 UTC'],
  ["date('nov 4 2026', 'Jan 2 2006')", '2026-11-04 00:00:00 +0000 UTC'],
  ["date('12:34 PM', '03:04 PM')", '0000-01-01 12:34:00 +0000 UTC'],
  ["date('325 2026', '002 2006')", '2026-11-21 00:00:00 +0000 UTC'],
  [
    "date('2026-03-29 02:30:00', '2006-01-02 15:04:05', 'Europe/Berlin')",
    '2026-03-29 03:30:00 +0200 CEST',
  ],
  [
    "date('2026-10-25 02:30:00', '2006-01-02 15:04:05', 'Europe/Berlin')",
    '2026-10-25 02:30:00 +0100 CET',
  ],
  ["date('2026-11-21', '2006')", 'error: "2026-11-21" is not written as the layout has it'],
  ["date('x', '2006-01-02')", 'error: "x" is not written as the layout has it'],
]

describe('layouts', () => {
  testOutcomes(CASES)

  for (const text of ['2026-02-30', '2026-13-01', '2026-00-10', '2026-11-00', '26-11-21']) {
    test(`have no day ${text}`, () => {
      assert.throws(() => parseTime(text, '2006-01-02', UTC), /is not written as the layout/)
    })
  }

  const literals: [layout: string, text: string, isRead: boolean][] = [
    ['2006 [01]', '2026   [11]', true],
    ['2006 [01]', '2026[11]', false],
    ['2006.01', '2026-11', false],
    ['2006é01', '2026é11', true],
    ['2006 ', '2026', true],
    ['2006', '2026 ', false],
  ]
  for (const [layout, text, isRead] of literals) {
    test(`${isRead ? 'read' : 'refuse'} "${text}" by "${layout}"`, () => {
      const read = (): unknown => parseTime(text, layout, UTC)
      if (isRead) assert.equal(formatTime(parseTime(text, layout, UTC), '2006'), '2026')
      else assert.throws(read, /is not written as the layout/)
    })
  }

  test('lead back to the time that was written', () => {
    const layout = 'Monday, 2 January 2006 15:04:05.999 -07:00'
    const text = 'Saturday, 21 November 2026 08:09:10.12 +05:30'
    assert.equal(formatTime(parseTime(text, layout, UTC), layout), text)
  })
})
