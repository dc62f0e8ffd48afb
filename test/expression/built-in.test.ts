import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import {
  countOf,
  elementType,
  firstType,
  intOf,
  listOf,
  mapOf,
  textOf,
  truthOf,
} from '../../src/expression/built-in.ts'
import { arrayOf, INT, STRING, UNKNOWN } from '../../src/expression/type.ts'

describe('what functions are given', () => {
  test('is read when it is of the type', () => {
    const map = new Map()
    const list = [1n]
    assert.deepEqual([textOf('a'), countOf(2n), intOf(3n), truthOf(true)], ['a', 2, 3n, true])
    assert.equal(listOf(list), list)
    assert.equal(mapOf(map), map)
  })

  test('is refused when it is of another', () => {
    for (const read of [textOf, countOf, listOf, mapOf, truthOf]) {
      assert.throws(() => read(1.5), /^ExpressionError: expected \w+, got float$/)
    }
  })

  test('says the type of what functions give', () => {
    assert.equal(elementType([arrayOf(INT)]), INT)
    assert.equal(elementType([STRING]), UNKNOWN)
    assert.equal(firstType([STRING]), STRING)
  })
})
