/**
 * Errors of expressions: before and during evaluation.
 * @module
 */

/** An error in the text of an expression. */
export class SyntaxProblem extends Error {
  override readonly name = 'SyntaxProblem'
  /** Offset in the source. */
  readonly at: number

  constructor(at: number, message: string) {
    super(message)
    this.at = at
  }
}

/** An error while an expression is evaluated. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError'
}
