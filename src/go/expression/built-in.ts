/**
 * Functions and variables of expressions, and the conversion of their arguments.
 * @module
 */
import { type Type, UNKNOWN } from './type.ts'
import { ExpressionError, isList, typeName, type Value } from './value.ts'

/** A built-in function. */
export type BuiltIn = {
  /**
   * Accepted kinds of each argument, such as `array|map`; `any` for all. A final `?` makes an
   * argument optional, a final `...` allows the last one to be repeated.
   */
  readonly takes: readonly string[]
  readonly gives: Type | ((args: readonly Type[]) => Type)
  /** @throws {ExpressionError} */
  readonly call: (...args: readonly Value[]) => Value
}

/** A function that also gets the context of the evaluation. */
export type EnvironmentFunction<C> = {
  readonly kind: 'function'
  /** See `BuiltIn`. */
  readonly takes: readonly string[]
  readonly gives: Type
  /** @throws {ExpressionError} */
  readonly call: (context: C, ...args: readonly Value[]) => Value
}

/** A variable of the environment. */
export type EnvironmentVariable<C> = {
  readonly kind: 'variable'
  readonly type: Type
  readonly read: (context: C) => Value
}

/** Functions and variables by name. They shadow built-in functions. */
export type Environment<C> = ReadonlyMap<string, EnvironmentFunction<C> | EnvironmentVariable<C>>

/** Returns the element type of an array. */
export function elementType([list]: readonly Type[]): Type {
  return list?.kind === 'array' ? list.element : UNKNOWN
}

/** Returns the type of the first argument. */
export function firstType([first]: readonly Type[]): Type {
  return first ?? UNKNOWN
}

/** Returns a string. @throws {ExpressionError} for other values */
export function valueText(value: Value): string {
  if (typeof value === 'string') return value
  throw unfit('string', value)
}

/** Returns an integer as a JavaScript number. @throws {ExpressionError} for other values */
export function countOf(value: Value): number {
  if (typeof value === 'bigint') return Number(value)
  throw unfit('int', value)
}

/** Returns an array. @throws {ExpressionError} for other values */
export function valueList(value: Value): readonly Value[] {
  if (isList(value)) return value
  throw unfit('array', value)
}

/** Returns a bool. @throws {ExpressionError} for other values */
export function truthOf(value: Value): boolean {
  if (typeof value === 'boolean') return value
  throw unfit('bool', value)
}

/** Creates the error for a value of the wrong type. */
export function unfit(wanted: string, value: Value): ExpressionError {
  return new ExpressionError(`expected ${wanted}, got ${typeName(value)}`)
}
