import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { findMethod, hasMethods } from '../../src/expression/methods.ts'
import { type Case, testOutcomes } from './evaluate.ts'

/** As expr-lang 1.17.8 has them. */
const CASES: readonly Case[] = [
  ["date('2026-11-21').Weekday()", 'Saturday'],
  ["string(date('2026-11-21').Weekday())", 'Saturday'],
  ["date('2026-11-21').Weekday().String()", 'Saturday'],
  ["int(date('2026-11-21').Weekday())", '6'],
  ["date('2026-11-21').Month()", 'November'],
  ["date('2026-11-21 10:11:12').Hour()", '10'],
  ["duration('1h30m').Hours()", '1.5'],
  ["duration('90s').Minutes()", '1.5'],
  ["duration('1h').String()", '1h0m0s'],
  ["date('2026-11-21').Before(date('2026-11-22'))", 'true'],
  ["date('2026-11-21').Sub(date('2026-11-20')).Hours()", '24'],
  ["date('2026-11-21').Add(duration('1h'))", '2026-11-21 01:00:00 +0000 UTC'],
  ["date('2026-11-21').AddDate(0,1,20)", '2027-01-10 00:00:00 +0000 UTC'],
  ["date('2026-11-21').Unix()", '1795219200'],
  ["date('2026-11-21').UnixMilli()", '1795219200000'],
  ["date('2026-11-21').YearDay()", '325'],
  ["date('2026-11-21').Truncate(duration('24h'))", '2026-11-21 00:00:00 +0000 UTC'],
  ["date('2026-11-21').IsZero()", 'false'],
  ["date('2026-11-21')?.Hour()", '0'],
  ["same(date('2026-11-21')).Hour()", '0'],
  ["date('2026-11-21').Equal(date('2026-11-21'))", 'true'],
  ["date('2026-11-21').Compare(date('2026-11-20'))", '1'],
  ["date('2026-11-21').ISOWeek()", '2026'],
  ["date('2026-11-21').Month().String()", 'November'],
  ["date('2026-11-21').String()", '2026-11-21 00:00:00 +0000 UTC'],
  ["date('2026-11-21T23:59:59.5Z').Truncate(duration('1s'))", '2026-11-21 23:59:59 +0000 UTC'],
  ["date('2026-11-21T23:59:59.5Z').Round(duration('1s'))", '2026-11-22 00:00:00 +0000 UTC'],
  ["date('2026-11-21T13:59:59.5Z').Truncate(duration('1h'))", '2026-11-21 13:00:00 +0000 UTC'],
  ["duration('1h31m').Round(duration('1h'))", '2h0m0s'],
  ["duration('1h31m').Truncate(duration('1h'))", '1h0m0s'],
  ["duration('-90s').Abs()", '1m30s'],
  ["duration('90s').Seconds()", '90'],
  ["duration('90s').Milliseconds()", '90000'],
  ["duration('90s').Microseconds()", '90000000'],
  ["duration('90s').Nanoseconds()", '90000000000'],
  ["date('2026-11-21').UnixMicro()", '1795219200000000'],
  ["date('2026-11-21').UnixNano()", '1795219200000000000'],
  ["date('2026-11-21T10:11:12.5Z').Nanosecond()", '500000000'],
  ["date('2026-11-21T10:11:12.5Z').Second()", '12'],
  ["date('2026-11-21').After(date('2026-11-20'))", 'true'],
  ["date('2026-11-21').Equal(date('2026-11-21T01:00:00+01:00'))", 'true'],
  ["date('2026-01-31').AddDate(0, 1, 0)", '2026-03-03 00:00:00 +0000 UTC'],
  ["date('2026-11-21').AddDate(-1, -12, -1)", '2024-11-20 00:00:00 +0000 UTC'],
  ["date('2027-01-01').ISOWeek()", '2026'],
  ["date('0001-01-01').IsZero()", 'true'],
  ['same(nil)?.Hour()', '<nil>'],
  ["date('2026-11-21').Nope()", 'refused 19: time.Time has no method "Nope"'],
  ["date('2026-11-21').Clock()", 'refused 19: time.Time has no method "Clock"'],
  ["date('2026-11-21').Add(1)", 'refused 23: "Add" takes time.Duration, got int'],
  ["date('2026-11-21').Add()", 'refused 19: "Add" takes 1 argument(s), got 0'],
  ["date('2026-11-21').Add(same(1))", 'error: expected time.Duration, got int'],
  ["same('a').Hour()", 'error: string has no method "Hour"'],
  ['same(nil).Hour()', 'error: nil has no method "Hour"'],
  ["'abc'.Length()", 'refused 6: string has no method "Length"; write Length(…), or "| Length(…)"'],
]

describe('methods', () => {
  testOutcomes(CASES)

  test('are of times only', () => {
    assert.equal(hasMethods('time.Month'), true)
    assert.equal(hasMethods('string'), false)
    assert.equal(findMethod('time.Time', 'constructor'), undefined)
  })
})
