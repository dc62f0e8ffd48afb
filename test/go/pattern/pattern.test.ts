import { deepEqual, equal, ok, throws } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { compilePattern, PatternError } from '../../../src/go/pattern/pattern.ts'

type Groups = readonly (string | null)[] | null
type Row = readonly [source: string, ...subjects: readonly (readonly [string, Groups])[]]

function recorded(): Row[] {
  const text = readFileSync(join(import.meta.dirname, 'recorded.jsonl'), 'utf8')
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

/** What is different from Go, at most ten. */
function differences(rows: readonly Row[]): string[] {
  const found: string[] = []
  for (const [source, ...subjects] of rows) {
    if (subjects.length === 0) {
      throws(() => compilePattern(source), PatternError, source)
      continue
    }
    const pattern = compilePattern(source)
    for (const [text, groups] of subjects) {
      const ours = pattern.exec(text)?.groups.map((group) => group ?? null) ?? null
      equal(pattern.test(text), ours !== null)
      if (JSON.stringify(ours) === JSON.stringify(groups)) continue
      found.push(`${source} in ${JSON.stringify(text)}: ${ours}, Go has ${groups}`)
    }
  }
  return found.slice(0, 10)
}

describe('Pattern', () => {
  test('matches like Go, group by group, and rejects what Go rejects', () => {
    const rows = recorded()
    ok(rows.length === 2000 && rows.some((row) => row.length === 1))
    deepEqual(differences(rows), [])
  })

  test('returns groups by number and by name', () => {
    const pattern = compilePattern('(?P<a>[0-9]+)[.](b)?(?<c>c)')
    deepEqual(pattern.groupNames, ['', 'a', '', 'c'])
    deepEqual(pattern.exec('x12.c'), { groups: ['12.c', '12', undefined, 'c'] })
    equal(pattern.exec('x12.d'), undefined)
  })

  const explosive = ['^(a+)+$', '^(a|a)*$', '^(a|aa)+$', '(x+x+)+y', '^(([a-z])+.)+[A-Z]([a-z])+$']
  for (const source of explosive) {
    test(`matches ${source} in bounded time`, () => {
      // A backtracking engine would need 2^200 steps.
      equal(compilePattern(source).test(`${'a'.repeat(120)}${'x'.repeat(120)}!`), false)
    })
  }

  test('looks at the first 8,192 characters', () => {
    const pattern = compilePattern('b')
    ok(pattern.test(`${'a'.repeat(8191)}b`))
    ok(!pattern.test(`${'a'.repeat(8192)}b`))
  })

  test('has a bound on its size', () => {
    const bombs = [
      '((a{100}){100}){100}',
      '(a{1000}){11}',
      'a{1000}'.repeat(11),
      '(?:(?:(?:(?:){1000}){1000}){1000}){1000}',
      `\\Q${'a'.repeat(200_000)}`,
      `[${'\\pL'.repeat(1000)}]`,
      `[${'a'.repeat(10_000)}]`,
    ]
    for (const source of bombs) {
      throws(() => compilePattern(source), { name: 'PatternError', message: 'it is too large' })
    }
    const nested = `${'('.repeat(1001)}${')'.repeat(1001)}`
    throws(() => compilePattern(nested), { message: /^expression nests too deeply/ })
    equal(compilePattern('a{1000}'.repeat(10)).test('a'.repeat(8192)), false)
  })

  const refused: { source: string; message: string }[] = [
    { source: '(a', message: 'missing closing ): `(a`' },
    { source: 'a)', message: 'unexpected ): `a)`' },
    { source: '[a', message: 'missing closing ]: `[a`' },
    { source: '[b-a]', message: 'invalid character class range: `b-a`' },
    { source: '*a', message: 'missing argument to repetition operator: `*`' },
    { source: 'a**', message: 'invalid nested repetition operator: `**`' },
    { source: 'a{3,2}', message: 'invalid repeat count: `{3,2}`' },
    { source: '(?=a)', message: 'invalid or unsupported Perl syntax: `(?=`' },
    { source: '(?P<a-b>c)', message: 'invalid named capture: `(?P<a-b>`' },
    { source: 'a\\', message: 'trailing backslash at end of expression' },
    { source: '\\1', message: 'invalid escape sequence: `\\1`' },
    { source: '\\p{Nope}', message: 'invalid character class range: `\\p{Nope}`' },
    { source: '[[:nope:]]', message: 'invalid character class range: `[:nope:]`' },
    { source: '\\x{110000}', message: 'invalid escape sequence: `\\x{110000`' },
  ]
  for (const { source, message } of refused) {
    test(`rejects ${source} with a reason`, () => {
      throws(() => compilePattern(source), { name: 'PatternError', message })
    })
  }

  const sets: { set: string; has: string; lacks: string }[] = [
    { set: '[a-c]', has: 'abc', lacks: 'dA-' },
    { set: '[^a-c]', has: 'dA-', lacks: 'abc' },
    { set: '[]-]', has: ']-', lacks: 'a' },
    { set: '[a-]', has: 'a-', lacks: 'b' },
    { set: '[\\w.]', has: 'aZ_9.', lacks: '-é' },
    { set: '[^\\D]', has: '09', lacks: 'a' },
    { set: '[[:upper:][:^ascii:]]', has: 'Aé', lacks: 'a1' },
    { set: '(?i)[a-c]', has: 'abcABC', lacks: 'dD' },
    { set: '[\\pL\\x{30}]', has: 'aé0', lacks: '1' },
  ]
  for (const { set, has, lacks } of sets) {
    test(`matches the characters of ${set}`, () => {
      const pattern = compilePattern(set)
      for (const character of has) equal(pattern.test(character), true, character)
      for (const character of lacks) equal(pattern.test(character), false, character)
    })
  }

  test('accepts two groups with the same name, like Go', () => {
    const pattern = compilePattern('(?P<n>a)(?P<n>b)')
    deepEqual(pattern.groupNames, ['', 'n', 'n'])
    deepEqual(pattern.exec('xab'), { groups: ['ab', 'a', 'b'] })
  })
})
