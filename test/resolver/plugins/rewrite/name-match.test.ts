import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { nameOf } from '../../../../src/dns/names/name.ts'
import { parseQuery } from '../../../../src/dns/wire/query.ts'
import { writeQuery } from '../../../../src/dns/wire/write-query.ts'
import {
  nameMatch,
  normalized,
  parsePatternFor,
  substituted,
  takeKind,
} from '../../../../src/resolver/plugins/rewrite/name-match.ts'
import { wordsOf } from './rules.ts'

describe('nameMatch', () => {
  const cases: { words: string; yes: string[]; no: string[] }[] = [
    {
      words: 'exact Www.Example.org',
      yes: ['www.example.org.'],
      no: ['www.example.org', 'a.www.example.org.', 'www.example.com.'],
    },
    {
      words: 'prefix old-',
      // With its final dot, as CoreDNS has it, a prefix is whole labels.
      yes: ['old-.example.org.', 'old-.'],
      no: ['old-www.example.org.'],
    },
    {
      words: 'suffix ple.org.',
      yes: ['example.org.', 'www.example.org.'],
      no: ['example.com.', 'example.org'],
    },
    {
      words: 'substring example',
      yes: ['www.example.org.', 'my-example.org.'],
      no: ['examples.org.', 'www.org.'],
    },
    {
      words: 'REGEX ^w+\\.(a|b)',
      yes: ['www.a.org.', 'w.b.'],
      no: ['WWW.a.org.', 'x.a.org.'],
    },
  ]
  for (const { words, yes, no } of cases) {
    test(`matches by ${words}`, () => {
      const { kind, rest } = takeKind(wordsOf(words), 1)
      const [from = assert.fail('no name')] = rest
      const match = nameMatch(kind, from)
      assert.deepEqual([...yes, ...no].filter(match.test), yes)
      for (const name of yes) {
        const query = parseQuery(writeQuery({ name: nameOf(name), type: 1 }))
        assert.ok(query.kind === 'query' && match.mayMatch(query))
      }
    })
  }
})

describe('takeKind', () => {
  test('holds few words for a match of the whole name', () => {
    const words = wordsOf('suffix b')
    assert.deepEqual(takeKind(words, 2), { kind: 'exact', rest: words })
  })

  test('refuses another kind', () => {
    assert.throws(() => takeKind(wordsOf('glob a b'), 2), {
      message:
        'Corefile:2:8: "glob" is not a kind of match: exact, prefix, suffix, substring, regex',
    })
  })
})

describe('normalized', () => {
  const cases: { name: string; text: string; to: string }[] = [
    { name: 'ends a name with a dot, in lower case', text: 'Www.B', to: 'www.b.' },
    { name: 'leaves the dot that exists', text: 'a.', to: 'a.' },
    { name: 'makes the root of nothing', text: '', to: '.' },
    { name: 'sees that a dot is part of a label', text: 'a\\.', to: 'a\\..' },
    { name: 'sees that a backslash is part of a label', text: 'a\\\\.', to: 'a\\\\.' },
  ]
  for (const { name, text, to } of cases) {
    test(name, () => {
      assert.equal(normalized(text), to)
    })
  }
})

describe('parsePatternFor', () => {
  const cases: { name: string; from: string; to: string; problem: string }[] = [
    {
      name: 'refuses what is no expression',
      from: '(a',
      to: 'b',
      problem: '"(a" is not a regular expression: missing closing ): `(a`',
    },
    {
      name: 'refuses more groups than exist',
      from: '(a)(b)',
      to: '{1}.{2}.{3}',
      problem: '"{1}.{2}.{3}" has {1}, {2}, {3}, but "(a)(b)" has fewer groups',
    },
    {
      name: 'refuses an expression of over 10,000 characters',
      from: 'a'.repeat(10_001),
      to: 'b',
      problem: 'an expression may have at most 10000 characters',
    },
  ]
  for (const { name, from, to, problem } of cases) {
    test(name, () => {
      const [word = assert.fail('no word')] = wordsOf(from)
      assert.throws(() => parsePatternFor(to, word, word), { message: `Corefile:2:8: ${problem}` })
    })
  }

  test('counts groups, whatever their numbers', () => {
    const [word = assert.fail('no word')] = wordsOf('(a)(b)')
    assert.ok(parsePatternFor('{7}.{7}.{8}', word, word))
  })
})

describe('substituted', () => {
  const cases: { name: string; to: string; groups: (string | undefined)[]; text: string }[] = [
    { name: 'puts groups in', to: '{2}.{1}.{2}', groups: ['', 'a', 'b'], text: 'b.a.b' },
    { name: 'puts the whole in', to: '{0}.org.', groups: ['a.b.'], text: 'a.b..org.' },
    {
      name: 'puts nothing in for a group without part',
      to: 'a{1}b',
      groups: ['', undefined],
      text: 'ab',
    },
    { name: 'leaves numbers that are no groups', to: '{3}a', groups: ['', 'b'], text: '{3}a' },
    { name: 'replaces what a group brings in', to: '{1}', groups: ['', '{2}', 'b'], text: 'b' },
    { name: 'knows no signs of replacements', to: '{1}', groups: ['', '$&$1'], text: '$&$1' },
  ]
  for (const { name, to, groups, text } of cases) {
    test(name, () => {
      assert.equal(substituted(to, groups), text)
    })
  }

  test('stops at a text that is too long for any name', () => {
    const groups = ['', ...Array.from({ length: 20 }, (_, i) => `{${i + 2}}`.repeat(20))]
    assert.ok(substituted('{1}', groups).length < 1_000_000)
  })
})
