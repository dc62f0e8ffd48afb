import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { expandVariables, LexemeStream } from '../../src/corefile/lexeme-stream.ts'
import { readCorefile } from '../../src/corefile/parse-corefile.ts'
import { finish } from '../../src/dns/bytes/steps.ts'
import { COREFILE, type Surroundings, sourceOf } from './source.ts'

function warningsOf(text: string, surroundings: Surroundings = {}): string[] {
  const { problems, warnings } = readCorefile(text, COREFILE, sourceOf(surroundings))
  assert.deepEqual(problems, [])
  return warnings.map(({ line, column, message }) => `${line}:${column}: ${message}`)
}

describe('LexemeStream', () => {
  test('moves from lexeme to lexeme', () => {
    const stream = finish(LexemeStream.of('a b\nc', COREFILE, sourceOf()))
    const seen: string[] = []
    for (; stream.lexeme !== undefined; stream.advance()) {
      seen.push(`${stream.lexeme.text} ${stream.isLineStart()} ${stream.previous?.text}`)
    }
    assert.deepEqual(seen, ['a true undefined', 'b false a', 'c true b'])
  })

  test('skips a block, and returns whether it was closed', () => {
    const stream = finish(LexemeStream.of('a { b } } c { d', COREFILE, sourceOf()))
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
      name: 'a closing brace after words',
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
      name: 'a closing brace too many at the end, as CoreDNS lets it',
      text: 'a {\n}\n}\n# end\n',
      warnings: ['3:1: this "}" closes nothing and is ignored; CoreDNS serves it as a zone'],
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

describe('expandVariables', () => {
  const { environment } = sourceOf({
    variables: { ZONE: 'example.org', PORT: '53', EMPTY: '', MONEY: '$& $1 $$', NEST: '{$PORT}' },
  })
  const cases: { name: string; text: string; expanded: string }[] = [
    { name: 'leaves other text', text: 'a $ZONE {ZONE} %ZONE%', expanded: 'a $ZONE {ZONE} %ZONE%' },
    { name: 'puts {$NAME} in', text: '{$ZONE}', expanded: 'example.org' },
    { name: 'puts {%NAME%} in', text: '{%ZONE%}', expanded: 'example.org' },
    { name: 'puts several in', text: '{$ZONE}:{%PORT%}', expanded: 'example.org:53' },
    { name: 'puts one in twice', text: '{$PORT}{$PORT}', expanded: '5353' },
    { name: 'returns nothing for one that is not set', text: 'a{$NONE}b', expanded: 'ab' },
    { name: 'returns nothing for an empty one', text: 'a{$EMPTY}b', expanded: 'ab' },
    { name: 'takes a value as it is', text: '{$MONEY}', expanded: '$& $1 $$' },
    { name: 'reads a value of {%NAME%} again', text: '{%NEST%}', expanded: '53' },
    { name: 'reads a value of {$NAME} again', text: '{$NEST}', expanded: '53' },
    { name: 'keeps braces without a name', text: '{$} {%%}', expanded: '{$} {%%}' },
    { name: 'keeps what is after them too', text: '{$} {$PORT}', expanded: '{$} {$PORT}' },
    { name: 'takes any name up to the closing brace', text: 'a{$ %}{$PORT}', expanded: 'a53' },
    { name: 'keeps {$NAME that is not closed', text: '{$ZONE', expanded: '{$ZONE' },
    { name: 'keeps {%NAME} that is not closed', text: '{%ZONE}', expanded: '{%ZONE}' },
    { name: 'distinguishes letter case', text: '{$zone}', expanded: '' },
    { name: 'knows no names of its own', text: '{$constructor}', expanded: '' },
  ]
  for (const { name, text, expanded } of cases) {
    test(name, () => {
      assert.equal(expandVariables(text, environment), expanded)
    })
  }

  test('stops at recursive and growing values', () => {
    for (const value of ['{$SELF}', '{$SELF}{$SELF}', 'a{$SELF}']) {
      const expanded = expandVariables('{$SELF}', () => value)
      assert.ok(expanded.length < 4_000_000)
    }
  })

  test('leaves text without opening braces as it is', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const plain = text.replaceAll('{', '')
        assert.equal(expandVariables(plain, environment), plain)
      }),
    )
  })
})
