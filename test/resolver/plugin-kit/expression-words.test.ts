import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { compileWords } from '../../../src/resolver/plugin-kit/expression-words.ts'

const AT = { file: 'Corefile', line: 3, column: 5 }

function words(text: string): { file: string; line: number; column: number; text: string }[] {
  return [...text.matchAll(/\S+/g)].map(({ 0: word, index }) => ({
    ...AT,
    column: 10 + index,
    text: word,
  }))
}

describe('an expression in a Corefile', () => {
  test('is put together from words', () => {
    assert.equal(compileWords(AT, words("'a b'   ==  'a b'"), new Map()).evaluate(undefined), true)
  })

  const problems: readonly [text: string, problem: string][] = [
    ["1 == 'a'", 'Corefile:3:12: "==" does not accept int and string'],
    ['foo', 'Corefile:3:10: unknown name "foo"; put strings in quotes'],
    ['1 ==', 'Corefile:3:12: expected a value or an operator, got the end of the expression'],
    ['', 'Corefile:3:5: expected a value or an operator, got the end of the expression'],
  ]
  for (const [text, problem] of problems) {
    test(`says where "${text}" is wrong`, () => {
      assert.throws(() => compileWords(AT, words(text), new Map()), { message: problem })
    })
  }
})
