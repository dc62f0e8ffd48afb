import { deepEqual, equal, ok } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { outlineOf } from '../../../src/go/pattern/outline.ts'

describe('literals', () => {
  const cases: { source: string; literals: [prefix: string, suffix: string, inside: string] }[] = [
    { source: String.raw`^web\.(.*)\.test\.$`, literals: ['web.', '.test.', '.test.'] },
    { source: String.raw`(.*)\.(.*)\.endpoints\.x`, literals: ['', '', '.endpoints.x'] },
    { source: '(.*)[.]example[.]org[.]', literals: ['', '', '.example.org.'] },
    { source: '^(ab)c', literals: ['abc', '', 'abc'] },
    { source: '^(a(?P<n>b)(?:c))d', literals: ['abcd', '', 'abcd'] },
    { source: 'abc', literals: ['', '', 'abc'] },
    { source: '^abc$', literals: ['abc', 'abc', 'abc'] },
    { source: String.raw`\Aabc\z`, literals: ['abc', 'abc', 'abc'] },
    { source: '^$', literals: ['', '', ''] },
    { source: 'a|b', literals: ['', '', ''] },
    { source: '(a|b)c', literals: ['', '', 'c'] },
    { source: '^ab?c$', literals: ['a', 'c', 'a'] },
    { source: '^a(bc){0,2}d$', literals: ['a', 'd', 'a'] },
    { source: String.raw`^a\Qb.c\E*d$`, literals: ['ab.', 'd', 'ab.'] },
    { source: '(?i)^a1b$', literals: ['', '', '1'] },
    { source: '(?i:a1)bc', literals: ['', '', '1bc'] },
    { source: '(?m)^a$', literals: ['', '', 'a'] },
    { source: '[a]b[^c]', literals: ['', '', 'ab'] },
    { source: String.raw`a[]b\]]c\p{Greek}\x{41}\n\101d`, literals: ['', '', 'a'] },
    { source: 'a{,3}b', literals: ['', '', 'a{,3}b'] },
  ]
  for (const { source, literals } of cases) {
    test(`of ${source}`, () => {
      const { prefix, suffix, inside } = outlineOf(source).literals
      deepEqual([prefix, suffix, inside], literals)
    })
  }

  test('are in every text that Go matches', () => {
    const text = readFileSync(join(import.meta.dirname, 'recorded.jsonl'), 'utf8')
    let compared = 0
    for (const line of text.trimEnd().split('\n')) {
      const [source, ...subjects]: [string, ...(readonly [string, unknown])[]] = JSON.parse(line)
      const { prefix, suffix, inside } = outlineOf(source).literals
      for (const [subject, groups] of subjects) {
        if (groups === null) continue
        ok(subject.startsWith(prefix) && subject.endsWith(suffix), source)
        ok(subject.includes(inside), source)
        if (inside !== '') compared++
      }
    }
    ok(compared > 300, `only ${compared} matches of expressions with a literal`)
  })
})

describe('groups', () => {
  test('are numbered from left to right, and lose their names', () => {
    const { groupNames, unnamed } = outlineOf('(a(?P<inner>b))(?:c)(?<last>d)')
    deepEqual(groupNames, ['', '', 'inner', 'last'])
    equal(unnamed, '(a(b))(?:c)(d)')
  })

  test('are none in quotes, brackets and escapes', () => {
    const source = String.raw`\Q(?P<a>\E[(?P<b>][](?P<c>]\(?P<d>`
    const { groupNames, unnamed } = outlineOf(source)
    deepEqual(groupNames, [''])
    equal(unnamed, source)
  })
})

describe('size', () => {
  const cases: { source: string; size: number }[] = [
    { source: '', size: 0 },
    { source: 'abc', size: 3 },
    { source: '(a)', size: 2 },
    { source: 'a|b', size: 2 },
    { source: 'a*', size: 1 },
    { source: 'a{3}', size: 3 },
    { source: 'a{2,4}', size: 4 },
    { source: 'a{2,}', size: 2 },
    { source: 'a{0}', size: 1 },
    { source: '((ab){10}){10}', size: 310 },
    { source: '(?:(?:(?:(?:){1000}){1000}){1000}){1000}', size: 1_001_001_001_000 },
    { source: `\\Q${'a'.repeat(2000)}`, size: 2000 },
    { source: '[a-z[:digit:]]x', size: 2 },
    { source: String.raw`\pL{3}[\p{Greek}\PN]`, size: 64 },
    { source: String.raw`\Q\pL\E`, size: 3 },
  ]
  for (const { source, size } of cases) {
    test(`of ${source.slice(0, 40)} is ${size}`, () => {
      equal(outlineOf(source).size, size)
    })
  }
})
