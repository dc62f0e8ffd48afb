/**
 * One evaluation of an expression: what it is about, and how much work it has done.
 * @module
 */
import { ExpressionError } from './errors.ts'
import { isList, type Value } from './value.ts'

/** Elements that one evaluation may make or look at, all lists together. */
const WORK_MAX = 100_000
/** Characters of a text that it makes. */
const TEXT_MAX = 65_536

/** What a closure is applied to. */
export type Frame = { readonly item: Value; readonly index: number; readonly accumulator: Value }

/** A part of an expression, ready to be evaluated. @throws {ExpressionError} */
export type Evaluate<C> = (run: Run<C>) => Value

const NO_FRAME: Frame = { item: undefined, index: 0, accumulator: undefined }

/** An evaluation. */
export class Run<C> {
  readonly context: C
  /** Of the innermost closure. */
  frame: Frame = NO_FRAME
  private variables: Value[] | undefined
  private work = 0

  constructor(context: C) {
    this.context = context
  }

  /** The variable of a `let`, by its number. */
  variable(index: number): Value {
    return this.variables?.[index]
  }

  /** Sets a variable. */
  setVariable(index: number, value: Value): void {
    this.variables ??= []
    this.variables[index] = value
  }

  /** Counts work. @throws {ExpressionError} when it is too much */
  spend(amount: number): void {
    this.work += amount
    if (this.work > WORK_MAX) throw new ExpressionError('the expression has too much to do')
  }

  /** Counts a value that was made. @throws {ExpressionError} when it is too large */
  made(value: Value): Value {
    if (isList(value)) this.spend(value.length)
    if (typeof value === 'string' && value.length > TEXT_MAX) {
      throw new ExpressionError(`text is over ${TEXT_MAX} characters`)
    }
    return value
  }
}
