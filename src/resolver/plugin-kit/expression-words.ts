/**
 * Expressions in a Corefile, which splits them into words at blanks.
 * @module
 */
import { configError, type Position } from '../../corefile/problem.ts'
import type { Word } from '../../corefile/server-block.ts'
import type { Environment } from '../../go/expression/built-in.ts'
import { compileExpression, type Expression } from '../../go/expression/expression.ts'
import { SyntaxProblem } from '../../go/expression/value.ts'

/**
 * Compiles the expression that the words form, joined with blanks.
 * @throws {ConfigError} at the wrong word, or at `at` without words
 */
export function compileWords<C>(
  at: Position,
  words: readonly Word[],
  environment: Environment<C>,
): Expression<C> {
  try {
    return compileExpression(words.map(({ text }) => text).join(' '), environment)
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error
    throw configError(wordAt(words, error.at) ?? at, error.message)
  }
}

/** Finds the word at an index of the joined text; the last word for an index beyond it. */
function wordAt(words: readonly Word[], at: number): Word | undefined {
  let end = -1
  const found = words.find(({ text }) => {
    end += 1 + text.length
    return at <= end
  })
  return found ?? words.at(-1)
}
