/**
 * One evaluation of an expression: its context, its variables, and a bound on its work.
 * @module
 */
import type { Type } from './type.ts'
import { ExpressionError, isList, type Value } from './value.ts'

/** Array elements that one evaluation may create or visit. */
const WORK_MAX = 100_000
/** Maximum length of a string it creates. */
const TEXT_MAX = 65_536

/** A compiled part of an expression. @throws {ExpressionError} */
export type Evaluate<C> = (run: Run<C>) => Value

/** A compiled node: the type of its value, and the function that computes it. */
export type Compiled<C> = { readonly type: Type; readonly evaluate: Evaluate<C> }

/** One evaluation. */
export class Run<C> {
  readonly context: C
  /** The element that the innermost closure is applied to: `#`. */
  item: Value
  private variables: Value[] | undefined
  private work = 0

  constructor(context: C) {
    this.context = context
  }

  variable(index: number): Value {
    return this.variables?.[index]
  }

  setVariable(index: number, value: Value): void {
    this.variables ??= []
    this.variables[index] = value
  }

  /** Counts work. @throws {ExpressionError} beyond the bound */
  spend(amount: number): void {
    this.work += amount
    if (this.work > WORK_MAX)
      throw new ExpressionError(`the expression visits more than ${WORK_MAX} elements`)
  }

  /** Counts a new value and returns it. @throws {ExpressionError} when it is too large */
  made(value: Value): Value {
    if (isList(value)) this.spend(value.length)
    if (typeof value === 'string' && value.length > TEXT_MAX) {
      throw new ExpressionError(`text is over ${TEXT_MAX} characters`)
    }
    return value
  }
}
