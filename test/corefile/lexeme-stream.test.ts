import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { LexemeStream } from '../../src/corefile/lexeme-stream.ts'
import { readCorefile } from '../../src/corefile/parse-corefile.ts'
import { COREFILE, type Surroundings, sourceOf } from './source.ts'

function warningsOf(text: string, surroundings: Surroundings = {}): string[] {
  const { problems, warnings } = readCorefile(text, COREFILE, sourceOf(surroundings))
  assert.deepEqual(problems, [])
  return warnings.map(({ line, column, message }) => `${line}:${column}: ${message}`)
}

describe('LexemeStream', () => {
  test('moves from lexeme to lexeme', () => {
    const stream = new LexemeStream('a b\nc', COREFILE, sourceOf())
    const seen: string[] = []
    for (; stream.lexeme !== undefined; stream.advance()) {
      seen.push(`${stream.lexeme.text} ${stream.isLineStart()} ${stream.previous?.text}`)
    }
    assert.deepEqual(seen, ['a true undefined', 'b false a', 'c true b'])
  })

  test('skips a block, and returns whether it was closed', () => {
    const stream = new LexemeStream('a { b } } c { d', COREFILE, sourceOf())
    assert.equal(stream.skipBlock(), true)
    assert.equal(stream.lexeme?.text, 'c')
    assert.equal(stream.skipBlock(), false)
    assert.equal(stream.lexeme, undefined)
  })
})

describe('LexemeStream warns about', () => {
  const cases: { name: string; text: string; warnings: string[] }[] = [
    {
      name: 'a variable that is not set, once',
      text: '{$NONE}. {\n  log {$NONE}\n  errors {$SET}\n}',
      warnings: ['1:1: environment variable "NONE" is not set; using an empty value'],
    },
    {
      name: 'a pattern that no file matches',
      text: '. {\n  import none/*.conf\n}',
      warnings: ['2:10: no file matches "/etc/none/*.conf"; nothing imported'],
    },
    {
      name: '"#" within a word',
      text: '. {\n  cache 30#seconds of\n}',
      warnings: [
        '2:9: "#" within a word hides the rest of that word; put a space before a comment',
      ],
    },
    {
      name: 'a closing brace behind words',
      text: '(s) {\n  log\n}\n. {\n  cache { success 1 }\n}\nb { import s }',
      warnings: [
        '5:21: CoreDNS accepts this "}" only on a line of its own',
        '7:14: CoreDNS accepts this "}" only on a line of its own',
      ],
    },
    {
      name: 'a server block that only the end closes, as CoreDNS lets it',
      text: 'a {\n}\n. {\n  cache {\n    success 1\n  }\n',
      warnings: ['3:3: this "{" is not closed; CoreDNS accepts that only at the end of the file'],
    },
    {
      name: 'nothing in what is usual',
      text: '# all\n. { # of it\n  log "#" # is\n  errors {$EMPTY}\n}\nb {\n}',
      warnings: [],
    },
  ]
  for (const { name, text, warnings } of cases) {
    test(name, () => {
      assert.deepEqual(warningsOf(text, { variables: { SET: 'x', EMPTY: '' } }), warnings)
    })
  }
})
