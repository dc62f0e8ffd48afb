import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { formatFloat, formatValue, type Value } from '../../../src/go/expression/value.ts'

describe('values as text', () => {
  const cases: readonly [value: Value, text: string][] = [
    [undefined, '<nil>'],
    [true, 'true'],
    [123456789012345678n, '123456789012345678'],
    [1, '1'],
    [1.1, '1.1'],
    [123456.5, '123456.5'],
    [1e6, '1e+06'],
    [123456789.5, '1.234567895e+08'],
    [1e21, '1e+21'],
    [0.0001, '0.0001'],
    [0.00001, '1e-05'],
    [1e-7, '1e-07'],
    [-0, '-0'],
    [-2.5, '-2.5'],
    [100, '100'],
    [Number.NaN, 'NaN'],
    [Infinity, '+Inf'],
    [-Infinity, '-Inf'],
    [['a', 1n, []], '[a 1 []]'],
    [
      new Map<Value, Value>([
        ['b', 1n],
        ['a', undefined],
      ]),
      'map[a:<nil> b:1]',
    ],
  ]
  for (const [value, text] of cases) {
    test(`are ${text}`, () => {
      assert.equal(formatValue(value), text)
    })
  }

  test('are numbers that lead back to themselves', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        assert.equal(Number(formatFloat(value)), value)
      }),
    )
  })
})
