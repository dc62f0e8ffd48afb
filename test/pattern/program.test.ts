import { equal, throws } from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parsePattern } from '../../src/pattern/parse-pattern.ts'
import { compileProgram } from '../../src/pattern/program.ts'

function sizeOf(source: string): number {
  return compileProgram(parsePattern(source).root).instructions.length
}

describe('compileProgram', () => {
  // Each program has the end, and the begin and the end of the whole match.
  const cases: { source: string; size: number }[] = [
    { source: '', size: 3 },
    { source: 'abc', size: 6 },
    { source: '(a)', size: 6 },
    { source: 'a|b', size: 6 },
    { source: 'a*', size: 6 },
    { source: 'a+', size: 5 },
    { source: 'a{3}', size: 6 },
    { source: 'a{2,4}', size: 9 },
    { source: 'a{2,}', size: 6 },
  ]
  for (const { source, size } of cases) {
    test(`makes ${size} instructions of "${source}"`, () => {
      equal(sizeOf(source), size)
    })
  }

  test('refuses what would be too large', () => {
    throws(() => sizeOf('(a{1000}){11}'), { message: 'it is too large' })
    throws(() => sizeOf('(?:(?:(?:(?:){1000}){1000}){1000}){1000}'), { message: 'it is too large' })
    throws(() => sizeOf(`\\Q${'a'.repeat(200_000)}`), { message: 'it is too large' })
  })
})
