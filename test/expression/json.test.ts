import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { parseJson, writeJson } from '../../src/expression/json.ts'
import { equalValues, type Value } from '../../src/expression/value.ts'
import { testOutcomes } from './evaluate.ts'

describe('JSON', () => {
  testOutcomes([
    ["toJSON(date('2026-11-21T10:11:12.5+02:00'))", '"2026-11-21T10:11:12.5+02:00"'],
    ["toJSON(date('2026-11-21').Weekday())", '6'],
    ["toJSON(duration('1s'))", '1000000000'],
    ["toJSON(timezone('UTC'))", '{}'],
    [
      "toJSON({'a': [1, 'x<', nil, true, {}], 'b': []})",
      '{\n  "a": [\n    1,\n    "x\\u003c",\n    null,\n    true,\n    {}\n  ],\n  "b": []\n}',
    ],
    ['toJSON(1.5)', '1.5'],
    ['toJSON(1 / 0)', 'error: JSON has no +Inf'],
    ['toJSON(groupBy([1], # == 1))', 'error: JSON has no bool for a key'],
    [`fromJSON('{"a": 1}').a == 1`, 'true'],
    ["fromJSON('x')", 'error: "fromJSON" takes JSON only'],
  ])

  test('leads back to the value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (json) => {
        const value: Value = parseJson(JSON.stringify(json))
        assert.ok(equalValues(parseJson(writeJson(value)), value))
      }),
    )
  })
})
