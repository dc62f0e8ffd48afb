import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { readLexemes, WORDS_MAX } from '../../src/corefile/lexemes.ts'
import { finish } from '../../src/dns/bytes/steps.ts'

function textsOf(text: string): string[] {
  return finish(readLexemes(text, 'Corefile')).map((lexeme) => lexeme.text)
}

describe('readLexemes splits', () => {
  const cases: { name: string; text: string; words: readonly string[] }[] = [
    { name: 'nothing', text: '', words: [] },
    { name: 'blanks only', text: ' \t\r\n \n', words: [] },
    { name: 'at blanks and line ends', text: 'a b\tc\nd', words: ['a', 'b', 'c', 'd'] },
    { name: 'CRLF as LF', text: 'skip those\r\nCRs\r\n', words: ['skip', 'those', 'CRs'] },
    { name: 'braces that are alone', text: 'a { b }', words: ['a', '{', 'b', '}'] },
    { name: 'no braces within words', text: 'a{ }b {c}', words: ['a{', '}b', '{c}'] },
    { name: 'a quoted word with its blanks', text: 'a "b  c" d', words: ['a', 'b  c', 'd'] },
    { name: 'a quoted word with its line ends', text: '"a\r\n b"', words: ['a\r\n b'] },
    { name: 'an empty quoted word', text: 'a "" b', words: ['a', '', 'b'] },
    { name: 'a word right after quotes', text: '"a b"c', words: ['a b', 'c'] },
    { name: 'no quotes within words', text: 'a"b c"', words: ['a"b', 'c"'] },
    { name: 'quotes with a backslash', text: '"a \\"b\\" c"', words: ['a "b" c'] },
    { name: 'backslashes that stay', text: '"C:\\php\\x.exe"', words: ['C:\\php\\x.exe'] },
    { name: 'two backslashes that stay', text: '"don\'t\\\\escape"', words: ["don't\\\\escape"] },
    { name: 'a backslash after another, and no quote', text: '"a\\\\" b', words: ['a\\\\', 'b'] },
    { name: 'a backslash outside of quotes', text: 'a\\ b\\"', words: ['a\\', 'b\\"'] },
    { name: 'a quote that is not closed', text: 'a "b\nc', words: ['a', 'b\nc'] },
    { name: 'a backslash at the very end off', text: '"a\\', words: ['a'] },
    { name: 'back quotes like any character', text: '`a b`', words: ['`a', 'b`'] },
    { name: 'comments off', text: 'a # b "c"\nd', words: ['a', 'd'] },
    { name: 'comments off at the end', text: 'a #', words: ['a'] },
    { name: '# in a word off up to the next blank', text: 'a#b c\nd', words: ['a', 'c', 'd'] },
    { name: 'carriage returns off within words', text: 'a\rb c', words: ['ab', 'c'] },
    { name: 'a quote at the very end off', text: 'a "', words: ['a'] },
    { name: 'at blanks of other scripts', text: 'a\u3000b\u0085c\u00a0d', words: [...'abcd'] },
    { name: 'no comments in quotes', text: '"a # b" c', words: ['a # b', 'c'] },
    { name: 'the byte order mark off', text: '\ufeff.:53', words: ['.:53'] },
    { name: 'letters of any kind', text: 'bücher 例え', words: ['bücher', '例え'] },
  ]
  for (const { name, text, words } of cases) {
    test(name, () => {
      assert.deepEqual(textsOf(text), words)
    })
  }
})

describe('readLexemes returns positions', () => {
  const cases: { name: string; text: string; places: readonly string[] }[] = [
    { name: 'from 1:1', text: 'a bc d', places: ['1:1', '1:3', '1:6'] },
    { name: 'on later lines', text: 'a\n\n  b\n', places: ['1:1', '3:3'] },
    { name: 'with CRLF', text: 'a\r\n b', places: ['1:1', '2:2'] },
    { name: 'after a comment', text: '# a\nb', places: ['2:1'] },
    { name: 'after the byte order mark', text: '\ufeffa', places: ['1:1'] },
    { name: 'after a quoted word', text: '"a b" c', places: ['1:1', '1:7'] },
    { name: 'after quotes over lines', text: '"a\nb\ncd" e\nf', places: ['1:1', '3:5', '4:1'] },
  ]
  for (const { name, text, places } of cases) {
    test(name, () => {
      const lexemes = finish(readLexemes(text, 'Corefile'))
      assert.deepEqual(
        lexemes.map(({ line, column }) => `${line}:${column}`),
        places,
      )
    })
  }

  test('with likely mistakes', () => {
    assert.deepEqual(
      finish(readLexemes('a#b "c#d" "e', 'Corefile')).map(({ mishap }) => mishap),
      ['hash within', undefined, 'open quote'],
    )
  })

  test('with file, last line and quotes', () => {
    assert.deepEqual(finish(readLexemes('a "b\n{"', '/etc/x')), [
      { file: '/etc/x', line: 1, column: 1, text: 'a', lastLine: 1, isQuoted: false },
      { file: '/etc/x', line: 1, column: 3, text: 'b\n{', lastLine: 2, isQuoted: true },
    ])
  })
})

describe('readLexemes, for any text,', () => {
  const text = (): fc.Arbitrary<string> =>
    fc
      .array(fc.constantFrom('a', '"', '\\', '#', '\n', '\r\n', ' ', '{', 'é', '\ufeff'))
      .map((parts) => parts.join(''))

  test('returns the position of every unquoted word', () => {
    fc.assert(
      fc.property(text(), (input) => {
        const lines = input.replace(/^\ufeff/, '').split('\n')
        for (const lexeme of finish(readLexemes(input, 'Corefile'))) {
          const line = lines[lexeme.line - 1] ?? ''
          const start = lexeme.isQuoted ? '"' : lexeme.text
          assert.ok(line.startsWith(start, lexeme.column - 1), JSON.stringify(lexeme))
        }
      }),
      { numRuns: 1000 },
    )
  })

  test('reads quoted words back', () => {
    const word = fc.string().map((value) => value.replaceAll('\\', '/'))
    fc.assert(
      fc.property(fc.array(word), (words) => {
        const quoted = words.map((value) => `"${value.replaceAll('"', '\\"')}"`).join(' ')
        assert.deepEqual(textsOf(quoted), words)
      }),
    )
  })

  test('rejects too many words at the first surplus one', () => {
    const words = 'a\n'.repeat(WORDS_MAX)
    assert.throws(() => finish(readLexemes(`${words}b c`, 'Corefile')), {
      name: 'ConfigError',
      message: `Corefile:${WORDS_MAX + 1}:1: more than ${WORDS_MAX} words`,
    })
  })

  test('returns ascending positions', () => {
    fc.assert(
      fc.property(text(), (input) => {
        let last = 1
        for (const { line, lastLine, text: word } of finish(readLexemes(input, 'Corefile'))) {
          assert.ok(last <= line)
          assert.equal(lastLine - line, word.split('\n').length - 1)
          last = lastLine
        }
      }),
      { numRuns: 1000 },
    )
  })
})
