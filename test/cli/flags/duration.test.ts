import assert from 'node:assert/strict'
import { test } from 'vitest'
import { durationSeconds, parseInterval } from '../../../src/cli/flags/duration.ts'

test('parses a number and a unit', () => {
  const cases: [string, number | undefined][] = [
    ['30s', 30],
    ['15m', 900],
    ['12h', 43_200],
    ['90d', 7_776_000],
    ['0s', 0],
    ['1', undefined],
    ['h', undefined],
    ['1.5h', undefined],
    ['-1h', undefined],
    ['1w', undefined],
    ['1 h', undefined],
    ['', undefined],
    ['1111111111s', undefined],
    ['1constructor', undefined],
  ]
  for (const [text, seconds] of cases) assert.equal(durationSeconds(text), seconds, text)
})

test('parses an interval with or without a unit', () => {
  const cases: [string, number | undefined][] = [
    ['60', 60],
    ['60s', 60],
    ['5m', 300],
    ['60ns', 60],
    ['0', undefined],
    ['0s', undefined],
    ['-1', undefined],
    ['1ms', undefined],
    ['', undefined],
  ]
  for (const [text, seconds] of cases) assert.equal(parseInterval(text), seconds, text)
})
