import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import {
  countOf,
  elementType,
  firstType,
  truthOf,
  valueList,
  valueText,
} from '../../../src/go/expression/built-in.ts'
import { arrayOf, INT, STRING, UNKNOWN } from '../../../src/go/expression/type.ts'

describe('arguments of functions', () => {
  test('are converted if they have the right type', () => {
    const list = [1n]
    assert.deepEqual([valueText('a'), countOf(2n), truthOf(true)], ['a', 2, true])
    assert.equal(valueList(list), list)
  })

  test('are refused if they have another type', () => {
    for (const read of [valueText, countOf, valueList, truthOf]) {
      assert.throws(() => read(1.5), /^ExpressionError: expected \w+, got float$/)
    }
  })

  test('determine the type of the result', () => {
    assert.equal(elementType([arrayOf(INT)]), INT)
    assert.equal(elementType([STRING]), UNKNOWN)
    assert.equal(firstType([STRING]), STRING)
  })
})
