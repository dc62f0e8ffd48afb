import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import {
  compareValues,
  equalValues,
  toInt64,
  typeName,
  type Value,
} from '../../../src/go/expression/value.ts'

describe('values', () => {
  const equal: readonly [a: Value, b: Value, isEqual: boolean][] = [
    [undefined, undefined, true],
    [undefined, false, false],
    [1n, 1, true],
    [1n, 1.5, false],
    [Number.NaN, Number.NaN, false],
    ['1', 1n, false],
    [[1n, ['a']], [1, ['a']], true],
    [[1n], [1n, 2n], false],
    [[], new Map(), false],
    [new Map([['a', 1n]]), new Map([['a', 1]]), true],
    [new Map([['a', undefined]]), new Map([['b', undefined]]), false],
    [new Map(), [], false],
  ]
  for (const [a, b, isEqual] of equal) {
    test(`${typeName(a)} and ${typeName(b)} are ${isEqual ? '' : 'not '}equal`, () => {
      assert.equal(equalValues(a, b), isEqual)
      assert.equal(equalValues(b, a), isEqual)
    })
  }

  test('are ordered within numbers and within text', () => {
    assert.equal(compareValues(1n, 2n, '<'), -1)
    assert.equal(compareValues(2.5, 2n, '<'), 1)
    assert.equal(compareValues('a', 'a', '<'), 0)
    assert.ok(Number.isNaN(compareValues(Number.NaN, 1, '<')))
    assert.throws(() => compareValues('a', 1n, '<'), /"<" does not accept string and int/)
  })

  test('wrap around at 64 bits', () => {
    assert.equal(toInt64(2n ** 63n), -(2n ** 63n))
  })

  test('have types', () => {
    const values = [undefined, true, 1n, 1.5, 'a', [], new Map()]
    assert.deepEqual(values.map(typeName), 'nil bool int float string array map'.split(' '))
  })
})
