import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { ExpressionError, SyntaxProblem } from '../../../src/go/expression/value.ts'

describe('errors of expressions', () => {
  test('say where and what', () => {
    const problem = new SyntaxProblem(3, 'wrong')
    assert.deepEqual([problem.at, problem.name, problem.message], [3, 'SyntaxProblem', 'wrong'])
    assert.equal(String(new ExpressionError('too much')), 'ExpressionError: too much')
  })
})
