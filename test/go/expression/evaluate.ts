/**
 * Expressions and what becomes of them, as lines of text.
 * @module
 */
import assert from 'node:assert/strict'
import { test } from 'vitest'
import type {
  Environment,
  EnvironmentFunction,
  EnvironmentVariable,
} from '../../../src/go/expression/built-in.ts'
import { compileExpression } from '../../../src/go/expression/expression.ts'
import { BOOL, INT, STRING, UNKNOWN } from '../../../src/go/expression/type.ts'
import {
  ExpressionError,
  formatValue,
  SyntaxProblem,
  type Value,
} from '../../../src/go/expression/value.ts'

/** Some functions and a variable; what is evaluated for is a name. */
export const ENVIRONMENT: Environment<string> = new Map<string, Known>([
  ['name', { kind: 'function', takes: [], gives: STRING, call: (name) => name }],
  ['size', { kind: 'function', takes: [], gives: INT, call: () => 33n }],
  ['do', { kind: 'function', takes: [], gives: BOOL, call: () => false }],
  ['same', { kind: 'function', takes: ['any'], gives: UNKNOWN, call: (_, value) => value }],
  ['zone', { kind: 'variable', type: STRING, read: () => 'example.org.' }],
])
type Known = EnvironmentFunction<string> | EnvironmentVariable<string>

/** An expression and what comes of it. */
export type Case = readonly [source: string, outcome: string]

/** Evaluates an expression: its value as text, or `refused AT: …`, or `error: …`. */
export function outcomeOf(source: string): string {
  try {
    return formatValue(evaluate(source))
  } catch (error) {
    if (error instanceof SyntaxProblem) return `refused ${error.at}: ${error.message}`
    if (error instanceof ExpressionError) return `error: ${error.message}`
    throw error
  }
}

/** Evaluates an expression. @throws {SyntaxProblem} @throws {ExpressionError} */
export function evaluate(source: string): Value {
  return compileExpression(source, ENVIRONMENT).evaluate('www.example.org.')
}

/** Makes a test of each case. */
export function testOutcomes(cases: readonly Case[]): void {
  for (const [source, outcome] of cases) {
    test(`evaluates ${source} to ${outcome}`, () => {
      assert.equal(outcomeOf(source), outcome)
    })
  }
}
