import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import {
  Duration,
  Named,
  Time,
  timeOf,
  trimZeros,
  twoDigits,
  utcSeconds,
} from '../../src/expression/time-values.ts'
import { findZone, UTC } from '../../src/expression/time-zone.ts'
import { type Case, testOutcomes } from './evaluate.ts'

/** As expr-lang 1.17.8 has them, with Go 1.26. */
const CASES: readonly Case[] = [
  ["duration('1h')", '1h0m0s'],
  ["duration('-1.5h')", '-1h30m0s'],
  ["duration('1.5s')", '1.5s'],
  ["duration('1500us')", '1.5ms'],
  ["duration('10ns')", '10ns'],
  ["duration('0')", '0s'],
  ["duration('0s')", '0s'],
  ["duration('1ms')", '1ms'],
  ["duration('1h0.5s')", '1h0m0.5s'],
  ["duration('.5s')", '500ms'],
  ["duration('+5m')", '5m0s'],
  ["duration('2540400h')", '2540400h0m0s'],
]

const NOON = { year: 2026, month: 11, day: 21, hour: 12, minute: 0, second: 0 }

describe('times', () => {
  testOutcomes(CASES)

  test('are told by the clock of their zone', () => {
    const time = new Time(1_795_219_200_000_000_001n, findZone('Europe/Berlin') ?? UTC)
    assert.equal(String(time), '2026-11-21 01:00:00.000000001 +0100 CET')
    assert.deepEqual([time.nanosecond, time.offset, time.yearDay], [1, 3600, 325])
  })

  test('before 1970 have nanoseconds as well', () => {
    const time = new Time(-1n, UTC)
    assert.deepEqual([time.seconds, time.nanosecond], [-1, 999_999_999])
    assert.equal(time.clock(), '23:59:59.999999999')
  })

  test('are found by what a clock shows', () => {
    assert.equal(utcSeconds({ ...NOON, hour: 0 }), 1_795_219_200)
    assert.equal(timeOf(NOON, 5, UTC).key, 1_795_262_400_000_000_005n)
    assert.throws(() => timeOf({ ...NOON, year: 1e9 }, 0, UTC), /there is no such time/)
  })

  test('have names for numbers', () => {
    assert.equal(String(new Named('time.Weekday', 0)), 'Sunday')
    assert.equal(String(new Named('time.Month', 12)), 'December')
    assert.deepEqual([twoDigits(7), trimZeros('1200')], ['07', '12'])
  })

  test('have lengths of 64 bits', () => {
    assert.equal(new Duration(2n ** 63n).key, -(2n ** 63n))
  })
})
