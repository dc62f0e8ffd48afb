import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { compileExpression } from '../../src/expression/expression.ts'
import { formatValue } from '../../src/expression/format-value.ts'
import { nowFunction } from '../../src/expression/time-functions.ts'
import { type Case, testOutcomes } from './evaluate.ts'

/** As expr-lang 1.17.8 has them, with Go 1.26. */
const CASES: readonly Case[] = [
  ["fromBase64('YWJj')", 'abc'],
  ["date('2026-11-21')", '2026-11-21 00:00:00 +0000 UTC'],
  ["date('10:11:12')", '0000-01-01 10:11:12 +0000 UTC'],
  ["date('2026-11-21T10:11:12Z')", '2026-11-21 10:11:12 +0000 UTC'],
  ["date('2026-11-21T10:11:12.5+02:00')", '2026-11-21 10:11:12.5 +0200 +0200'],
  ["date('Sat, 21 Nov 2026 10:11:12 CET')", '2026-11-21 10:11:12 +0000 CET'],
  ["date('21 Nov 26 10:11 UTC')", '2026-11-21 10:11:00 +0000 UTC'],
  ["date('Saturday, 21-Nov-26 10:11:12 UTC')", '2026-11-21 10:11:12 +0000 UTC'],
  ["string(duration('1h'))", '1h0m0s'],
  ["int(duration('1s'))", '1000000000'],
  ["max(duration('1s'), duration('2s'))", '2s'],
  [
    "[date('2026-11-21'), date('2026-11-20')] | sort()",
    '[2026-11-20 00:00:00 +0000 UTC 2026-11-21 00:00:00 +0000 UTC]',
  ],
  ["date('2026-11-21 10:11:12.25')", '2026-11-21 10:11:12.25 +0000 UTC'],
  ["date('2026-11-21') | string()", '2026-11-21 00:00:00 +0000 UTC'],
  ["[date('2026-11-21')][0].Day()", '21'],
  ["same({'a': 1})?.b", '<nil>'],
  ["date('x')", 'error: "x" is not a date'],
  ["date('2026-11-21 25:00:00')", 'error: "2026-11-21 25:00:00" is not a date'],
  ['duration(1)', 'refused 9: "duration" takes string, got int'],
  ["duration('1d')", 'error: "1d" is not a duration, such as "1h30m"'],
  ["duration('')", 'error: "" is not a duration, such as "1h30m"'],
  ["duration('1')", 'error: "1" is not a duration, such as "1h30m"'],
  ['now()', 'refused 0: the function "now" is not supported'],
]

describe('functions that make times', () => {
  testOutcomes(CASES)

  const now: [source: string, value: string][] = [
    ["now(timezone('UTC'))", '2026-11-21 00:00:00.25 +0000 UTC'],
    ["now(timezone('Asia/Tokyo')).Hour()", '9'],
    ["now() - duration('1h') < now()", 'true'],
    ['now().Location().String()', 'Local'],
    ["now().Unix() == date('2026-11-21').Unix()", 'true'],
  ]
  for (const [source, value] of now) {
    test(`make ${value} of ${source}`, () => {
      const environment = new Map([['now', nowFunction(() => 1_795_219_200_250)]])
      const { evaluate } = compileExpression<unknown>(source, environment)
      assert.equal(formatValue(evaluate(undefined)), value)
    })
  }
})
