/**
 * Expressions of github.com/expr-lang/expr, in which CoreDNS's `view` and `template` state
 * conditions; bounded in size, depth and work. Not there: `$env` as a whole, of which parts only
 * are to be had.
 * @module
 */

import type { Environment } from './built-in.ts'
import { isBuiltIn } from './calls.ts'
import { type Compiled, compileNode } from './compile.ts'
import { ExpressionError, SyntaxProblem } from './errors.ts'
import { parseExpression } from './parser.ts'
import { Run } from './run.ts'
import type { Type } from './type.ts'
import type { Value } from './value.ts'

/** A compiled expression. */
export type Expression<C> = {
  /** What its value will be. */
  readonly type: Type
  /** Evaluates it; may be done again and again. @throws {ExpressionError} */
  readonly evaluate: (context: C) => Value
}

const IDENTIFIER = /^[a-zA-Z_][a-zA-Z0-9_]*$/
const TOO_DEEP = 'too many things stand within each other'
const RESERVED: ReadonlySet<string> = new Set(
  'true false nil not in or and matches contains startsWith endsWith let if else'.split(' '),
)

/**
 * Compiles an expression.
 * @throws {SyntaxProblem} that says what is wrong with it, and where
 */
export function compileExpression<C>(source: string, environment: Environment<C>): Expression<C> {
  const { type, evaluate } = compileSource(source, environment)
  return {
    type,
    evaluate: (context) => {
      try {
        return evaluate(new Run(context))
      } catch (error) {
        throw error instanceof RangeError ? new ExpressionError(TOO_DEEP, { cause: error }) : error
      }
    },
  }
}

/** Long rows of operators, as later lists in lists, may be more than the stack has room for. */
function compileSource<C>(source: string, environment: Environment<C>): Compiled<C> {
  try {
    return compileNode(
      parseExpression(source, (name) => environment.has(name)),
      environment,
    )
  } catch (error) {
    throw error instanceof RangeError ? new SyntaxProblem(0, TOO_DEEP) : error
  }
}

/** Whether a variable may have a name: it is one, and means nothing yet. */
export function isFreeName<C>(name: string, environment: Environment<C>): boolean {
  const isTaken = RESERVED.has(name) || isBuiltIn(name) || environment.has(name)
  return IDENTIFIER.test(name) && !isTaken
}
