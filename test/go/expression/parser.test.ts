import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { parseExpression } from '../../../src/go/expression/parser.ts'
import { SyntaxProblem } from '../../../src/go/expression/value.ts'
import { outcomeOf, testOutcomes } from './evaluate.ts'

describe('the parser', () => {
  testOutcomes([
    ['true ? 1 : 2', '1'],
    ['false ? 1 : true ? 2 : 3', '2'],
    ['nil ?: 3', 'refused 0: a condition must be a bool, this is nil'],
    ['true ?: 3', 'true'],
    ['1 ?? 2', '1'],
    ['nil ?? nil ?? 3', '3'],
    [
      '1 ?? 2 + 3',
      'refused 7: put "??" and its operands in parentheses before another operator, got "+"',
    ],
    ['(1 ?? 2) + 3', '4'],
    ['not do() and !do()', 'true'],
    ['do() or not do()', 'true'],
    ['let x = 5; let y = x; x * y', '25'],
    ['let x = 1', 'refused 9: expected ";", got the end of the expression'],
    ['if do() {1} else if true {2} else {3}', '2'],
    ['if true {1}', 'refused 11: expected "else", got the end of the expression'],
    ['1; 2; 3;', '3'],
    ['[1, 2, 3][1:]', '[2 3]'],
    ['[1, 2, 3][:-1]', '[1 2]'],
    ['[1, 2, 3][:]', '[1 2 3]'],
    ['[1, 2,]', '[1 2]'],
    ['[,]', 'refused 1: expected a value or an operator, got ","'],
    ["{a: 1, 'b': 2, 3: 4, ('c' + 'd'): 5,}", 'map[3:4 a:1 b:2 cd:5]'],
    ['{+: 1}', 'refused 1: expected a key or a parenthesized key, got "+"'],
    ["{'a': {'b': 1}}.a.b", '1'],
    ["{'in': 1}.in", '1'],
    ["{'a': nil}.a?.b.c", '<nil>'],
    ["{'a': [1]}.a?.[0]", '1'],
    ["'a-b' | replace('-', '.') | upper()", 'A.B'],
    ["'a' | upper", 'refused 11: expected "(", got the end of the expression'],
    ['0xff + 0b101 + 0o17 + 1_000 + 017', '1292'],
    ['1e3', '1000'],
    ['9223372036854775808', 'refused 0: 9223372036854775808 is over 9223372036854775807'],
    ['(1', 'refused 2: expected ")", got the end of the expression'],
    ['1 2', 'refused 2: expected a value or an operator, got "2"'],
    ['', 'refused 0: expected a value or an operator, got the end of the expression'],
    ['name() = 1', 'refused 7: expected a value or an operator, got "="; write "==" to compare'],
    ['1 not 2', 'refused 2: expected a value or an operator, got "not"'],
    ['a.1', 'refused 1: expected a value or an operator, got ".1"'],
    ['name().', 'refused 7: expected a name, got the end of the expression'],
    ['name().upper()', 'refused 7: values have no methods; write upper(…), or "| upper(…)"'],
    ['# > 1', 'refused 0: expected a value or an operator, got "#"'],
    ['map([1])', 'refused 7: expected ",", got ")"'],
  ])

  test('bounds the length', () => {
    assert.match(outcomeOf('1'.repeat(70_000)), /^refused 0: an expression has at most 65536 char/)
  })

  test('bounds the number of parts', () => {
    assert.match(outcomeOf(`[${'1,'.repeat(10_001)}]`), /an expression has at most 10000 parts$/)
  })

  test('bounds the depth', () => {
    assert.match(outcomeOf(`${'('.repeat(201)}1`), /an expression has at most 200 nested parts$/)
    assert.equal(outcomeOf(`${'('.repeat(199)}1${')'.repeat(199)}`), '1')
  })

  test('throws only SyntaxProblem', () => {
    const word = fc.constantFrom(
      ...'( ) [ ] { } , : ; ? ?. ?? . # | + - * ** / % in not and or let if else = == < a 1 .5'.split(
        ' ',
      ),
      "'a'",
      'map(',
      'x',
    )
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), (words) => {
        try {
          parseExpression(words.join(' '), () => false)
        } catch (error) {
          if (!(error instanceof SyntaxProblem)) throw error
        }
      }),
      { numRuns: 2000 },
    )
  })
})
