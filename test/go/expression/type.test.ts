import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import {
  ARRAY,
  arrayOf,
  commonType,
  FLOAT,
  formatExpressionType,
  INT,
  isComparable,
  NIL,
  STRING,
  UNKNOWN,
} from '../../../src/go/expression/type.ts'

describe('types', () => {
  test('are written as people say them', () => {
    assert.deepEqual([INT, ARRAY, arrayOf(arrayOf(STRING))].map(formatExpressionType), [
      'int',
      'array',
      'array of array of string',
    ])
  })

  test('have a common type', () => {
    assert.deepEqual(commonType(INT, INT), INT)
    assert.deepEqual(commonType(INT, FLOAT), UNKNOWN)
    assert.deepEqual(commonType(arrayOf(INT), arrayOf(STRING)), ARRAY)
  })

  test('are compared with their own, numbers with numbers, and nil with all', () => {
    assert.ok(isComparable(INT, FLOAT))
    assert.ok(isComparable(STRING, NIL))
    assert.ok(isComparable(UNKNOWN, STRING))
    assert.ok(!isComparable(STRING, INT))
  })
})
