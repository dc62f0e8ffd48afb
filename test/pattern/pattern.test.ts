import { deepEqual, equal, ok, throws } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { compilePattern, PatternError } from '../../src/pattern/pattern.ts'

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
  test('matches as Go does, group by group, and refuses what Go refuses', () => {
    const rows = recorded()
    ok(rows.length === 2000 && rows.some((row) => row.length === 1))
    deepEqual(differences(rows), [])
  })

  test('tells groups by number and by name', () => {
    const pattern = compilePattern('(?P<a>[0-9]+)[.](b)?(?<c>c)')
    deepEqual(pattern.groupNames, ['', 'a', '', 'c'])
    deepEqual(pattern.exec('x12.c'), { index: 1, groups: ['12.c', '12', undefined, 'c'] })
    equal(pattern.exec('x12.d'), undefined)
  })

  const explosive = ['^(a+)+$', '^(a|a)*$', '^(a|aa)+$', '(x+x+)+y', '^(([a-z])+.)+[A-Z]([a-z])+$']
  for (const source of explosive) {
    test(`does not try for ever what ${source} means`, () => {
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
    throws(() => compilePattern('((a{100}){100}){100}'), { message: 'it is too large' })
    throws(() => compilePattern('('.repeat(2000)), { message: /too many groups/ })
  })
})
