/**
 * Values of expressions: 64-bit integers as `bigint`, floats as `number`, strings, bools, arrays,
 * maps, and `undefined` for nil. They compare as in Go.
 * @module
 */
import { ExpressionError } from './errors.ts'

/** A value. Strings are compared and sliced by UTF-16 code units, Go's by bytes: same in ASCII. */
export type Value =
  | undefined
  | boolean
  | bigint
  | number
  | string
  | readonly Value[]
  | ReadonlyMap<Value, Value>

/** Returns whether a value is an array. */
export function isList(value: unknown): value is readonly Value[] {
  return Array.isArray(value)
}

/** Returns whether a value is a map. */
export function isMap(value: unknown): value is ReadonlyMap<Value, Value> {
  return value instanceof Map
}

/** Wraps an integer to 64 bits, as Go's arithmetic does. */
export function toInt64(value: bigint): bigint {
  return BigInt.asIntN(64, value)
}

/** Returns the name of a value's type, for messages. */
export function typeName(value: Value): string {
  switch (typeof value) {
    case 'undefined':
      return 'nil'
    case 'boolean':
      return 'bool'
    case 'bigint':
      return 'int'
    case 'number':
      return 'float'
    case 'string':
      return 'string'
    case 'object':
      return isList(value) ? 'array' : 'map'
  }
}

/** Returns whether two values are equal; an int equals a float of the same value. */
export function equalValues(a: Value, b: Value): boolean {
  if (isList(a)) {
    return isList(b) && a.length === b.length && a.every((item, i) => equalValues(item, b[i]))
  }
  if (isMap(a)) {
    if (!isMap(b) || a.size !== b.size) return false
    return [...a].every(([key, item]) => b.has(key) && equalValues(item, b.get(key)))
  }
  const isMixed = typeof a !== typeof b && isNumeric(a) && isNumeric(b)
  return isMixed ? Number(a) === Number(b) : a === b
}

/**
 * Compares two numbers or two strings: negative, 0 or positive; NaN if one is NaN.
 * @throws {ExpressionError} for other values
 */
export function compareValues(a: Value, b: Value, operator: string): number {
  if (typeof a === 'string' && typeof b === 'string') return order(a, b)
  if (typeof a === 'bigint' && typeof b === 'bigint') return order(a, b)
  if (isNumeric(a) && isNumeric(b)) return order(Number(a), Number(b))
  throw new ExpressionError(`"${operator}" does not accept ${typeName(a)} and ${typeName(b)}`)
}

/** Returns whether a value is an int or a float. */
export function isNumeric(value: Value): value is bigint | number {
  return typeof value === 'bigint' || typeof value === 'number'
}

function order<T extends bigint | number | string>(a: T, b: T): number {
  if (a < b) return -1
  return a > b ? 1 : a === b ? 0 : Number.NaN
}
