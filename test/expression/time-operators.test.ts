import { describe } from 'vitest'
import { type Case, testOutcomes } from './evaluate.ts'

/** As expr-lang 1.17.8 has them. */
const CASES: readonly Case[] = [
  ["date('2026-11-21').Day() == 21", 'true'],
  ["duration('1h') == duration('60m')", 'true'],
  ["duration('1h') + duration('1m')", '1h1m0s'],
  ["duration('1h') - duration('1m')", '59m0s'],
  ["duration('1h') * 2", '2h0m0s'],
  ["2 * duration('1h')", '2h0m0s'],
  ["duration('1h') > duration('1m')", 'true'],
  ["date('2026-11-21') + duration('1h')", '2026-11-21 01:00:00 +0000 UTC'],
  ["duration('1h') + date('2026-11-21')", '2026-11-21 01:00:00 +0000 UTC'],
  ["date('2026-11-21') - duration('1h')", '2026-11-20 23:00:00 +0000 UTC'],
  ["date('2026-11-21') - date('2026-11-20')", '24h0m0s'],
  ["date('2026-11-21') > date('2026-11-20')", 'true'],
  ["date('2026-11-21') == date('2026-11-21')", 'true'],
  ["date('2026-11-21') != date('2026-11-20')", 'true'],
  ["date('2026-11-21').Unix() + 1", '1795219201'],
  ["duration('1h') * 1.5", '5.4e+12'],
  ["1.5 * duration('1h')", '5.4e+12'],
  ["duration('1h') * duration('1h')", '39817h19m56.288008192s'],
  ["date('2026-11-21').Weekday() == date('2026-11-28').Weekday()", 'true'],
  ["date('2026-11-21').Weekday() in [date('2026-11-28').Weekday()]", 'true'],
  ["date('2026-11-21').Month() == date('2026-11-28').Month()", 'true'],
  ["int(date('2026-11-21').Month()) >= 11", 'true'],
  ["same(date('2026-11-21')) - same(date('2026-11-20'))", '24h0m0s'],
  ["same(date('2026-11-21')) > same(date('2026-11-20'))", 'true'],
  ["same(date('2026-11-21')) == 1", 'false'],
  ["same(duration('1h')) + same(duration('1h'))", '2h0m0s'],
  ["same(duration('1h')) * 2", '2h0m0s'],
  ["date('2026-11-21') in [date('2026-11-20'), date('2026-11-21')]", 'true'],
  ["date('2026-11-21') == date('2026-11-21T01:00:00+01:00')", 'true'],
  ["let t = date('2026-11-21'); t.Hour() < 8 || t.Hour() >= 18", 'true'],
  ["filter([date('2026-11-21')], .Day() == 21)", '[2026-11-21 00:00:00 +0000 UTC]'],
  ["duration('1h') / 2", 'refused 15: "/" has no meaning for time.Duration and int'],
  ["duration('1h') + 1", 'refused 15: "+" has no meaning for time.Duration and int'],
  ["date('2026-11-21').Weekday() == 6", 'refused 29: "==" has no meaning for time.Weekday and int'],
  ["-duration('1h')", 'refused 0: "-" has no meaning for time.Duration'],
  ["same(duration('1h')) / 2", 'error: "/" has no meaning for time.Duration and int'],
]

describe('operators of times', () => {
  testOutcomes(CASES)
})
