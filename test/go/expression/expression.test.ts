import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { compileExpression, isFreeName } from '../../../src/go/expression/expression.ts'
import { ENVIRONMENT, outcomeOf } from './evaluate.ts'

describe('an expression', () => {
  test('can be evaluated repeatedly', () => {
    const { type, evaluate } = compileExpression("name() startsWith 'www.'", ENVIRONMENT)
    assert.equal(type.kind, 'bool')
    assert.deepEqual(['www.a.', 'b.', 'www.c.'].map(evaluate), [true, false, true])
  })

  test('lets the environment shadow built-in functions', () => {
    const takes = ['any']
    const gives = { kind: 'string' } as const
    const own = new Map([
      ['len', { kind: 'function', takes, gives, call: () => 'mine' } as const],
      ['map', { kind: 'function', takes, gives, call: () => 'mine' } as const],
    ])
    assert.equal(compileExpression('len(1) + map(2)', own).evaluate(undefined), 'minemine')
  })

  test('accepts long rows of operators up to the depth of the stack', () => {
    assert.equal(outcomeOf(`1${' + 1'.repeat(500)}`), '501')
    assert.match(outcomeOf(`1${' + 1'.repeat(4900)}`), /^4901|the expression is nested too/)
  })

  const names: readonly [name: string, isFree: boolean][] = [
    ['a', true],
    ['_a1', true],
    ['1a', false],
    ['a-b', false],
    ['ä', false],
    ['', false],
    ['true', false],
    ['let', false],
    ['matches', false],
    ['len', false],
    ['filter', false],
    ['name', false],
    ['zone', false],
  ]
  for (const [name, isFree] of names) {
    test(`leaves the name "${name}" ${isFree ? 'free' : 'taken'}`, () => {
      assert.equal(isFreeName(name, ENVIRONMENT), isFree)
    })
  }
})
