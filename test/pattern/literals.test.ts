import { deepEqual } from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findLiterals } from '../../src/pattern/literals.ts'
import { parsePattern } from '../../src/pattern/parse-pattern.ts'

describe('findLiterals', () => {
  const cases: { source: string; literals: [prefix: string, suffix: string, inside: string] }[] = [
    { source: String.raw`^web\.(.*)\.test\.$`, literals: ['web.', '.test.', '.test.'] },
    { source: String.raw`(.*)\.(.*)\.endpoints\.x`, literals: ['', '', '.endpoints.x'] },
    { source: '^(ab)c', literals: ['abc', '', 'abc'] },
    { source: 'abc', literals: ['', '', 'abc'] },
    { source: '^abc$', literals: ['abc', 'abc', 'abc'] },
    { source: '^$', literals: ['', '', ''] },
    { source: 'a|b', literals: ['', '', ''] },
    { source: '^ab?c$', literals: ['a', 'c', 'a'] },
    { source: '(?i)^a1b$', literals: ['', '', '1'] },
    { source: '(?m)^a$', literals: ['', '', 'a'] },
    { source: '[a]b[^c]', literals: ['', '', 'ab'] },
  ]
  for (const { source, literals } of cases) {
    test(`of ${source}`, () => {
      const { prefix, suffix, inside } = findLiterals(parsePattern(source).root)
      deepEqual([prefix, suffix, inside], literals)
    })
  }
})
