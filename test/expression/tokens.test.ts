import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { readTokens } from '../../src/expression/tokens.ts'
import { testOutcomes } from './evaluate.ts'

describe('tokens', () => {
  const cases: readonly [source: string, tokens: string][] = [
    [
      'a and orb().val #.',
      'name:a operator:and name:orb bracket:( bracket:) operator:. name:val operator:# operator:.',
    ],
    ['foo?.bar', 'name:foo operator:?. name:bar'],
    ['foo ? .5 : .b', 'name:foo operator:? number:.5 operator:: operator:. name:b'],
    ['1..5', 'number:1 operator:.. number:5'],
    ['$i _0 früh', 'name:$i name:_0 name:früh'],
    ['#index #1', 'operator:# name:index operator:# name:1'],
    ['a//b\nc/*d*/e', 'name:a name:c name:e'],
    ['a ** b != c', 'name:a operator:** name:b operator:!= name:c'],
    ['not in_x', 'operator:not name:in_x'],
    [
      '.5 1e3 0xFF 0b01 0o17 1.2e-4 1_000',
      'number:.5 number:1e3 number:0xFF number:0b01 number:0o17 number:1.2e-4 number:1_000',
    ],
    ['\'a\' "b" `c``d\\n`', 'string:a string:b string:c`d\\n'],
  ]
  for (const [source, tokens] of cases) {
    test(`are found in ${source}`, () => {
      const found = readTokens(source).map(({ kind, text }) => `${kind}:${text}`)
      assert.equal(found.join(' '), `${tokens} end:`)
    })
  }

  testOutcomes([
    ["'abc", "refused 0: this ' is never closed"],
    ["1 + 'a\n'", "refused 4: this ' is never closed"],
    ['`a``', 'refused 3: this ` is never closed'],
    ['1x', 'refused 0: "1x" is not a number'],
    ['1 @ 2', 'refused 2: "@" means nothing in an expression'],
    ["b'abc'", '[97 98 99]'],
    [String.raw`b"a\x00\377\n"`, '[97 0 255 10]'],
    ["b'é'", '[195 169]'],
    ["b''", '[]'],
    [String.raw`b'a\'b'`, '[97 39 98]'],
    ["b'abc'[-1]", '99'],
    ["97 in b'ab'", 'true'],
    ["b'abc' == [97, 98, 99]", 'true'],
    ["len(b'é')", '2'],
    ["b'abc'[1:]", '[98 99]'],
    ["b'abc' == 'abc'", 'refused 7: "==" has no meaning for array of int and string'],
    ["b'a' + b'd'", 'refused 5: "+" has no meaning for array of int and array of int'],
    [String.raw`b'\u00e9'`, 'refused 2: bytes have no escapes of characters; write those of bytes'],
    ["b'abc", "refused 1: this ' is never closed"],
    ["b 'abc'", 'refused 2: expected a value or an operator, got "abc"'],
  ])
})
