import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { isBuiltIn } from '../../../src/go/expression/calls.ts'
import { testOutcomes } from './evaluate.ts'

describe('calls', () => {
  testOutcomes([
    ['size() + 1', '34'],
    ['name(1)', 'refused 0: "name" takes 0 argument(s), got 1'],
    ['same()', 'refused 0: "same" takes 1 argument(s), got 0'],
    ['upper(1)', 'refused 6: "upper" takes string, got int'],
    ['upper(same(1))', 'error: expected string, got int'],
    ["trim('a', 'b', 'c')", 'refused 0: "trim" takes 1 to 2 argument(s), got 3'],
    ['concat()', 'refused 0: "concat" takes 1 or more argument(s), got 0'],
    ['zone()', 'refused 0: "zone" is not a function'],
    ['foo()', 'refused 0: the function "foo" does not exist'],
    ['now()', 'refused 0: the function "now" of expr-lang is not supported'],
    ['map([1], name())', '[www.example.org.]'],
  ])

  test('know the names of built-in functions', () => {
    assert.deepEqual(['len', 'map', 'now', 'name'].map(isBuiltIn), [true, true, true, false])
  })
})
