/**
 * The operator `matches`: a string against a regular expression in Go's syntax.
 * @module
 */
import { compilePattern, type Pattern, PatternError } from '../pattern/pattern.ts'
import { ExpressionError, SyntaxProblem } from './errors.ts'
import type { Node } from './grammar.ts'
import { both, type Operation } from './operators.ts'
import { BOOL } from './type.ts'
import { typeName, type Value } from './value.ts'

/**
 * Creates the operation for a right operand. Compiles a literal now, another operand when it is
 * evaluated, and keeps the pattern until the operand's value changes.
 * @throws {SyntaxProblem} when a literal is not a valid pattern
 */
export function matchOperation(right: Node): Operation {
  const literal = right.kind === 'literal' && typeof right.value === 'string'
  let known = literal ? literalPattern(String(right.value), right.at) : undefined
  return {
    typeOf: (a, b) => both(a, b, ['string'], BOOL),
    apply: (text, source) => {
      if (text === undefined || source === undefined) return false
      if (typeof text !== 'string' || typeof source !== 'string') throw unfit(text, source)
      if (known?.source !== source) known = patternOf(source)
      return known.test(text)
    },
  }
}

function literalPattern(source: string, at: number): Pattern {
  try {
    return compilePattern(source)
  } catch (error) {
    if (!(error instanceof PatternError)) throw error
    throw new SyntaxProblem(at, `"${source}" is not a regular expression: ${error.message}`)
  }
}

function patternOf(source: string): Pattern {
  try {
    return compilePattern(source)
  } catch (error) {
    if (!(error instanceof PatternError)) throw error
    throw new ExpressionError(`"${source}" is not a regular expression: ${error.message}`)
  }
}

function unfit(text: Value, source: Value): ExpressionError {
  const types = `${typeName(text)} and ${typeName(source)}`
  return new ExpressionError(`"matches" does not accept ${types}`)
}
