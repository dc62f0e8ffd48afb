import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { readLexemes } from '../../../src/go/expression/lexemes.ts'
import { testOutcomes } from './evaluate.ts'

describe('lexemes', () => {
  const cases: readonly [source: string, lexemes: string][] = [
    [
      'a and orb().val #.',
      'name:a operator:and name:orb bracket:( bracket:) operator:. name:val operator:# operator:.',
    ],
    ['foo?.bar', 'name:foo operator:?. name:bar'],
    ['foo ? .5 : .b', 'name:foo operator:? number:.5 operator:: operator:. name:b'],
    ['1..5', 'number:1 operator:.. number:5'],
    ['$i _0 früh', 'name:$i name:_0 name:früh'],
    ['a//b\nc/*d*/e', 'name:a name:c name:e'],
    ['a ** b != c', 'name:a operator:** name:b operator:!= name:c'],
    ['not in_x', 'operator:not name:in_x'],
    [
      '.5 1e3 0xFF 0b01 0o17 1.2e-4 1_000',
      'number:.5 number:1e3 number:0xFF number:0b01 number:0o17 number:1.2e-4 number:1_000',
    ],
    ['\'a\' "b" `c``d\\n`', 'string:a string:b string:c`d\\n'],
  ]
  for (const [source, lexemes] of cases) {
    test(`are found in ${source}`, () => {
      const found = readLexemes(source).map(({ kind, text }) => `${kind}:${text}`)
      assert.equal(found.join(' '), `${lexemes} end:`)
    })
  }

  testOutcomes([
    ["b'abc'", 'refused 0: byte strings are not supported; write an array of ints'],
    ["'abc", "refused 0: this ' is not closed"],
    ["1 + 'a\n'", "refused 4: this ' is not closed"],
    ['`a``', 'refused 3: this ` is not closed'],
    ['1x', 'refused 0: "1x" is not a number'],
    ['1 @ 2', 'refused 2: "@" is not valid in an expression'],
  ])
})
