import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { evaluate, testOutcomes } from './evaluate.ts'

describe('operators', () => {
  testOutcomes([
    ['1 + 2 * 3', '7'],
    ['1 + 2.5', '3.5'],
    ['9223372036854775807 + 1', '-9223372036854775808'],
    ["'a' + 'b'", 'ab'],
    ["'a' + 1", 'refused 4: "+" does not accept string and int'],
    ["same('a') + 1", 'error: "+" does not accept string and int'],
    ["same('a') + same('b')", 'ab'],
    ['10 / 5', '2'],
    ['10 / 4', '2.5'],
    ['1 / 0', '+Inf'],
    ["same('a') / 2", 'error: "/" does not accept string and int'],
    ['-7 % 3', '-1'],
    ['1.5 % 2', 'refused 4: "%" does not accept float and int'],
    ['1 % same(0)', 'error: integer modulo by zero'],
    ['1 % same(0.5)', 'error: "%" does not accept int and float'],
    ['2 ** 3 ** 2', '512'],
    ['2 ^ 10', '1024'],
    ['-2 ** 2', '-4'],
    ['1..4', '[1 2 3 4]'],
    ['4..1', '[]'],
    ['1..2.5', 'refused 1: ".." does not accept int and float'],
    ['same(1)..same(2.5)', 'error: ".." does not accept int and float'],
    ['1..9999999', 'error: 1..9999999 has too many elements'],
    ['1 < 2', 'true'],
    ['2 <= 2', 'true'],
    ['1 > 2.5', 'false'],
    ["'a' >= 'b'", 'false'],
    ["'a' < 1", 'refused 4: "<" does not accept string and int'],
    ["same('a') < 1", 'error: "<" does not accept string and int'],
    ['1 < 2 < 3', 'true'],
    ['1 < 3 < 2', 'false'],
    ['1 == 1.0', 'true'],
    ['1 != 2', 'true'],
    ['[1, [2]] == [1, [2]]', 'true'],
    ["{'a': 1} == {'a': 1}", 'true'],
    ["{'a': 1} == {'b': 1}", 'false'],
    ["1 == 'a'", 'refused 2: "==" does not accept int and string'],
    ['name() == nil', 'false'],
    ["'a' in ['a', 'b']", 'true'],
    ["'c' not in ['a', 'b']", 'true'],
    ["'a' in {'a': 1}", 'true'],
    ["1 in {'a': 1}", 'refused 2: "in" does not accept int and map'],
    ["'a' in [1]", 'refused 4: "in" does not accept string and array of int'],
    ["'a' in 'abc'", 'refused 4: "in" does not accept string and string'],
    ["same('a') in 'abc'", 'error: "in" does not accept string and string'],
    ["'a' in same(nil)", 'false'],
    ['1 in true', 'refused 2: "in" does not accept int and bool'],
    ["'abc' contains 'b'", 'true'],
    ["'abc' startsWith 'ab'", 'true'],
    ["'abc' endsWith 'bc'", 'true'],
    ["not ('abc' contains 'x')", 'true'],
    ["'abc' not contains 'b'", 'false'],
    ["same(nil) contains 'a'", 'false'],
    ["same(1) contains 'a'", 'error: "contains" does not accept int and string'],
  ])

  test('calculate as 64 bits do', () => {
    const int64 = fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n })
    fc.assert(
      fc.property(int64, int64, (a, b) => {
        assert.equal(evaluate(`(${a}) + (${b})`), BigInt.asIntN(64, a + b))
        assert.equal(evaluate(`(${a}) * (${b})`), BigInt.asIntN(64, a * b))
        assert.equal(evaluate(`(${a}) < (${b})`), a < b)
      }),
    )
  })
})
