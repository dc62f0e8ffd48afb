import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import {
  ConfigError,
  configError,
  formatProblem,
  type Problem,
  problemAt,
  sortProblems,
} from '../../src/corefile/problem.ts'

const PLACE = { file: '/etc/Corefile', line: 3, column: 5 }

describe('a problem', () => {
  test('is formatted like a compiler message', () => {
    assert.equal(formatProblem({ ...PLACE, message: 'no' }), '/etc/Corefile:3:5: no')
  })

  test('becomes an error with only its position', () => {
    const word = { ...PLACE, text: 'secret' }
    const error = configError(word, 'no')
    assert.deepEqual(error.problems, [{ ...PLACE, message: 'no' }])
    assert.equal(error.message, '/etc/Corefile:3:5: no')
  })
})

test('problemAt shortens long messages', () => {
  const { message } = problemAt(PLACE, 'a'.repeat(10_000_000))
  assert.equal(message, `${'a'.repeat(1000)}…`)
})

test('sortProblems sorts by file and line without duplicates', () => {
  const at = (file: string, line: number): Problem => ({ file, line, column: 1, message: 'no' })
  const sorted = sortProblems([at('b', 2), at('a', 9), at('a', 1), at('b', 2), at('b', 1)], 'a')
  assert.deepEqual(
    sorted.map(({ file, line }) => `${file}:${line}`),
    ['a:1', 'a:9', 'b:1', 'b:2'],
  )
})

test('formatProblem prints no character that a terminal would interpret', () => {
  const text = formatProblem({ ...PLACE, message: '"\x1b]0;x\x07\0"' })
  assert.equal(text, '/etc/Corefile:3:5: "\\u{1b}]0;x\\u{7}\\u{0}"')
})

describe('ConfigError', () => {
  test('lists one problem per line', () => {
    const problems = [
      { ...PLACE, message: 'one' },
      { ...PLACE, line: 4, message: 'two' },
    ]
    const error = new ConfigError(problems)
    assert.ok(error instanceof Error)
    assert.equal(error.name, 'ConfigError')
    assert.equal(error.message, '/etc/Corefile:3:5: one\n/etc/Corefile:4:5: two')
    assert.equal(error.problems, problems)
  })
})
