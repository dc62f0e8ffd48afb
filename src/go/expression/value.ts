/**
 * Values of expressions: 64-bit integers as `bigint`, floats as `number`, strings, bools, arrays,
 * maps, and `undefined` for nil. They compare as in Go. Also the errors of expressions.
 * @module
 */

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

/** Go writes floats with exponents outside this range in scientific notation. */
const EXPONENT_MIN = -4
const EXPONENT_MAX = 6

/** Formats a value: `<nil>`, `true`, `12`, `1e-05`, text as it is, `[a b]`, `map[a:1 b:2]`. */
export function formatValue(value: Value): string {
  if (value === undefined) return '<nil>'
  if (typeof value === 'number') return formatFloat(value)
  if (isList(value)) return `[${value.map(formatValue).join(' ')}]`
  if (isMap(value)) {
    const pairs = [...value].map(([key, item]) => `${formatValue(key)}:${formatValue(item)}`)
    return `map[${pairs.sort().join(' ')}]`
  }
  return String(value)
}

/** Formats a float with the fewest digits that parse back to it. */
export function formatFloat(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  const sign = Object.is(value, -0) || value < 0 ? '-' : ''
  const [digits = '', exponentText = ''] = Math.abs(value).toExponential().split('e')
  const exponent = Number(exponentText)
  if (exponent < EXPONENT_MIN || exponent >= EXPONENT_MAX) {
    const power = String(Math.abs(exponent)).padStart(2, '0')
    return `${sign}${digits}e${exponent < 0 ? '-' : '+'}${power}`
  }
  const bare = digits.replace('.', '')
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${bare}`
  const whole = bare.slice(0, exponent + 1).padEnd(exponent + 1, '0')
  const rest = bare.slice(exponent + 1)
  return `${sign}${whole}${rest === '' ? '' : `.${rest}`}`
}

/** An error in the text of an expression. */
export class SyntaxProblem extends Error {
  override readonly name = 'SyntaxProblem'
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
