import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { parseDigits, parseNumber } from '../../../src/go/template/go-quote.ts'

describe('numbers', () => {
  const cases: readonly [text: string, value: bigint | number | undefined][] = [
    ['0', 0n],
    ['42', 42n],
    ['-5', -5n],
    ['+5', 5n],
    ['0x1F', 31n],
    ['0b101', 5n],
    ['0o17', 15n],
    ['017', 15n],
    ['1_000', 1000n],
    ['1.5', 1.5],
    ['5.', 5],
    ['.5', 0.5],
    ['1e3', 1000],
    ["'a'", 97n],
    [String.raw`'\n'`, 10n],
    ["'ab'", undefined],
    ["''", undefined],
    ['08', undefined],
    ['1a', undefined],
    ['1__0', undefined],
    ['1_', undefined],
    ['0x', undefined],
    ['1.2.3', undefined],
    ['9223372036854775807', 2n ** 63n - 1n],
    ['9223372036854775808', undefined],
    ['1i', undefined],
  ]
  for (const [text, value] of cases) {
    test(`${text} is ${value}`, () => {
      assert.equal(parseNumber(text), value)
    })
  }

  test('have digits of a radix', () => {
    assert.equal(parseDigits('Zz', 36), 35n * 36n + 35n)
    assert.equal(parseDigits('2', 2), undefined)
    assert.equal(parseDigits('', 10), undefined)
  })
})
