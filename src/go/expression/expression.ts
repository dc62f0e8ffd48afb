/**
 * Expressions of github.com/expr-lang/expr, the conditions of CoreDNS's `view` and `template`, with
 * bounds on size, depth and work. README.md lists what is supported.
 * @module
 */
import type { Environment } from './built-in.ts'
import { isBuiltIn } from './calls.ts'
import { compileNode } from './compile.ts'
import { parseExpression } from './parser.ts'
import { type Compiled, Run } from './run.ts'
import type { Type } from './type.ts'
import { ExpressionError, SyntaxProblem, type Value } from './value.ts'

/** A compiled expression. */
export type Expression<C> = {
  readonly type: Type
  /** Evaluates it; can be called repeatedly. @throws {ExpressionError} */
  readonly evaluate: (context: C) => Value
}

const IDENTIFIER = /^[a-zA-Z_][a-zA-Z0-9_]*$/
const TOO_DEEP = 'the expression is nested too deeply'
const RESERVED: ReadonlySet<string> = new Set(
  'true false nil not in or and matches contains startsWith endsWith let if else'.split(' '),
)

/**
 * Compiles an expression.
 * @throws {SyntaxProblem} with a message and an offset in the source
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

/** Long rows of operators can overflow the stack here, nested arrays when they are formatted. */
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

/** Returns whether a name is a valid identifier that is not defined yet. */
export function isFreeName<C>(name: string, environment: Environment<C>): boolean {
  const isTaken = RESERVED.has(name) || isBuiltIn(name) || environment.has(name)
  return IDENTIFIER.test(name) && !isTaken
}
