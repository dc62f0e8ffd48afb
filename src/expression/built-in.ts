/**
 * What functions and variables of expressions are, and reading what functions are given.
 * @module
 */

import { ExpressionError } from './errors.ts'
import { type Type, UNKNOWN } from './type.ts'
import { isList, isMap, typeName, type Value } from './value.ts'

/** A function. */
export type BuiltIn = {
  /**
   * The kinds that each argument may be of, as `array|map`; `any` for all. With `?` at its end it
   * may be left out, with `...` there may be several of the last.
   */
  readonly takes: readonly string[]
  readonly gives: Type | ((args: readonly Type[]) => Type)
  /** @throws {ExpressionError} */
  readonly call: (...args: readonly Value[]) => Value
}

/** A function that is given what the evaluation is about. */
export type EnvironmentFunction<C> = {
  readonly kind: 'function'
  /** As `BuiltIn` has it. */
  readonly takes: readonly string[]
  readonly gives: Type
  /** @throws {ExpressionError} */
  readonly call: (context: C, ...args: readonly Value[]) => Value
}

/** A variable. */
export type EnvironmentVariable<C> = {
  readonly kind: 'variable'
  readonly type: Type
  readonly read: (context: C) => Value
}

/** Functions and variables by name. They hide built-in functions. */
export type Environment<C> = ReadonlyMap<string, EnvironmentFunction<C> | EnvironmentVariable<C>>

/** The type of a list's elements. */
export function elementType([list]: readonly Type[]): Type {
  return list?.kind === 'array' ? list.element : UNKNOWN
}

/** The type of the first argument. */
export function firstType([first]: readonly Type[]): Type {
  return first ?? UNKNOWN
}

/** Returns text. @throws {ExpressionError} for all other values */
export function textOf(value: Value): string {
  if (typeof value === 'string') return value
  throw unfit('string', value)
}

/** Returns a whole number that is one in JavaScript too. @throws {ExpressionError} */
export function countOf(value: Value): number {
  return Number(intOf(value))
}

/** Returns a whole number. @throws {ExpressionError} for all other values */
export function intOf(value: Value): bigint {
  if (typeof value === 'bigint') return value
  throw unfit('int', value)
}

/** Returns a list. @throws {ExpressionError} for all other values */
export function listOf(value: Value): readonly Value[] {
  if (isList(value)) return value
  throw unfit('array', value)
}

/** Returns a map. @throws {ExpressionError} for all other values */
export function mapOf(value: Value): ReadonlyMap<Value, Value> {
  if (isMap(value)) return value
  throw unfit('map', value)
}

/** Returns a truth value. @throws {ExpressionError} for all other values */
export function truthOf(value: Value): boolean {
  if (typeof value === 'boolean') return value
  throw unfit('bool', value)
}

/** Makes the error for a value that is not of a type. */
export function unfit(wanted: string, value: Value): ExpressionError {
  return new ExpressionError(`expected ${wanted}, got ${typeName(value)}`)
}
