/**
 * What expressions calculate with: whole numbers of 64 bits as `bigint`, floating-point numbers as
 * `number`, text, truth, lists, maps, times, and `undefined` for nil; compared and written as Go
 * does. Bytes are a list of whole numbers.
 * @module
 */
import { ExpressionError } from './errors.ts'
import { Duration, Time, type TimeValue } from './time-values.ts'

/** A value. Text is compared and cut by UTF-16 units, which is Go's bytes for ASCII only. */
export type Value =
  | undefined
  | boolean
  | bigint
  | number
  | string
  | TimeValue
  | readonly Value[]
  | ReadonlyMap<Value, Value>

/** Tells lists from all other values. */
export function isList(value: unknown): value is readonly Value[] {
  return Array.isArray(value)
}

/** Tells maps from all other values. */
export function isMap(value: unknown): value is ReadonlyMap<Value, Value> {
  return value instanceof Map
}

/** Wraps a whole number around as arithmetic of 64 bits does. */
export function toInt64(value: bigint): bigint {
  return BigInt.asIntN(64, value)
}

/** Names the type of a value as messages do. */
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
      return isList(value) ? 'array' : isMap(value) ? 'map' : value.type
  }
}

/** Tells whether two values are equal; numbers are compared across their types. */
export function equalValues(a: Value, b: Value): boolean {
  if (isList(a)) {
    return isList(b) && a.length === b.length && a.every((item, i) => equalValues(item, b[i]))
  }
  if (isMap(a)) {
    if (!isMap(b) || a.size !== b.size) return false
    return [...a].every(([key, item]) => b.has(key) && equalValues(item, b.get(key)))
  }
  if (isOfTime(a)) return isOfTime(b) && a.type === b.type && a.key === b.key
  const isMixed = typeof a !== typeof b && isNumeric(a) && isNumeric(b)
  return isMixed ? Number(a) === Number(b) : a === b
}

/**
 * Orders two numbers, texts, times or durations: negative, 0 or positive; NaN when one is no
 * number.
 * @throws {ExpressionError} for all other values
 */
export function compareValues(a: Value, b: Value, operator: string): number {
  if (typeof a === 'string' && typeof b === 'string') return order(a, b)
  if (typeof a === 'bigint' && typeof b === 'bigint') return order(a, b)
  if (isNumeric(a) && isNumeric(b)) return order(Number(a), Number(b))
  const isTimes = a instanceof Time && b instanceof Time
  if (isTimes || (a instanceof Duration && b instanceof Duration)) return order(a.key, b.key)
  throw new ExpressionError(`"${operator}" has no meaning for ${typeName(a)} and ${typeName(b)}`)
}

/** Tells numbers of both types. */
export function isNumeric(value: Value): value is bigint | number {
  return typeof value === 'bigint' || typeof value === 'number'
}

function isOfTime(value: Value): value is TimeValue {
  return typeof value === 'object' && !isList(value) && !isMap(value)
}

function order<T extends bigint | number | string>(a: T, b: T): number {
  if (a < b) return -1
  return a > b ? 1 : a === b ? 0 : Number.NaN
}
