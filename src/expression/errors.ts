/**
 * What may be wrong with an expression: before it is evaluated, and while it is.
 * @module
 */

/** A thing wrong with an expression, and where; for people. */
export class SyntaxProblem extends Error {
  override readonly name = 'SyntaxProblem'
  /** Characters of the expression before the place. */
  readonly at: number

  constructor(at: number, message: string) {
    super(message)
    this.at = at
  }
}

/** An error while an expression is evaluated; the message is for people. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError'
}
