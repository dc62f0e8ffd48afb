import { equal, ok } from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseCodePoint, propertyExpression } from '../../src/pattern/parse-escape.ts'
import { PatternScanner } from '../../src/pattern/scanner.ts'

describe('parseCodePoint', () => {
  const cases: { text: string; code: number; rest: string }[] = [
    { text: '\\.x', code: 0x2e, rest: 'x' },
    { text: '\\n', code: 10, rest: '' },
    { text: '\\x41B', code: 0x41, rest: 'B' },
    { text: '\\x{1F600}!', code: 0x1f600, rest: '!' },
    { text: '\\1011', code: 0x41, rest: '1' },
    { text: '\\08', code: 0, rest: '8' },
  ]
  for (const { text, code, rest } of cases) {
    test(`reads ${text}`, () => {
      const scanner = new PatternScanner(text)
      equal(parseCodePoint(scanner), code)
      equal(scanner.rest(), rest)
    })
  }
})

describe('propertyExpression', () => {
  test('knows categories and scripts', () => {
    ok(propertyExpression('Lu')?.test('Ä'))
    ok(propertyExpression('Greek')?.test('λ'))
    equal(propertyExpression('Nope'), undefined)
    equal(propertyExpression('L}|\\p{N'), undefined)
  })
})
