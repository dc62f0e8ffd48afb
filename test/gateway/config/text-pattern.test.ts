import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { matcherOf } from '../../../src/gateway/config/text-pattern.ts'

describe('matcherOf', () => {
  const cases: { patterns: string[]; yes: string[]; no: string[] }[] = [
    { patterns: ['*'], yes: ['', 'shop', 'a.b'], no: [] },
    { patterns: ['shop'], yes: ['shop'], no: ['shops', 'ashop', 'Shop', ''] },
    { patterns: ['team-*'], yes: ['team-', 'team-a', 'team-a-b'], no: ['team', 'ateam-a'] },
    { patterns: ['*-prod'], yes: ['a-prod', '-prod'], no: ['prod', 'a-prod-2'] },
    { patterns: ['a*b*c'], yes: ['abc', 'a.b.c', 'aXbYc'], no: ['ab', 'acb'] },
    { patterns: ['a.b.'], yes: ['a.b.'], no: ['axb.', 'a.b'] },
    { patterns: ['x', 'y*'], yes: ['x', 'y', 'yes'], no: ['xy'] },
    { patterns: ['[a-z]'], yes: ['[a-z]'], no: ['a'] },
    { patterns: [], yes: [], no: ['', 'a'] },
  ]
  for (const { patterns, yes, no } of cases) {
    test(`${patterns.join(' ') || 'nothing'} means ${yes.join(' ') || 'nothing'}`, () => {
      const matches = matcherOf(patterns)
      for (const text of yes) assert.equal(matches(text), true, text)
      for (const text of no) assert.equal(matches(text), false, text)
    })
  }
})

test('no pattern takes long, whatever the name', { timeout: 10_000 }, () => {
  const matches = matcherOf([`${'*a'.repeat(100)}*b`])
  assert.equal(matches('a'.repeat(5000)), false)
  assert.equal(matches(`${'a'.repeat(5000)}b`), true)
})

test('patterns mean what the regular expression for them means', () => {
  const text = fc.array(fc.constantFrom('a', 'b', '.', '-'), { maxLength: 8 })
  const pattern = fc.array(fc.constantFrom('a', 'b', '.', '-', '*'), { maxLength: 6 })
  fc.assert(
    fc.property(pattern, text, (parts, characters) => {
      const expression = parts.map((one) => (one === '*' ? '.*' : one.replace('.', '\\.'))).join('')
      const expected = new RegExp(`^${expression}$`).test(characters.join(''))
      assert.equal(matcherOf([parts.join('')])(characters.join('')), expected)
    }),
  )
})
