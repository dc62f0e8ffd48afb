/**
 * Functions of numbers (github.com/expr-lang/expr, builtin/lib.go).
 * @module
 */
import { type BuiltIn, firstType, unfit } from './built-in.ts'
import { ExpressionError } from './errors.ts'
import { INT, type Type, UNKNOWN } from './type.ts'
import { compareValues, isList, isNumeric, toInt64, type Value } from './value.ts'

const NUMBERS = 'int|float|array'
const INT_MIN = -(2n ** 63n)
const INT_MAX = 2n ** 63n - 1n

/** The functions by name. */
export const NUMBER_FUNCTIONS: Readonly<Record<string, BuiltIn>> = {
  int: { takes: ['int|float|string'], gives: INT, call: toInt },
  max: {
    takes: [NUMBERS, `${NUMBERS}...`],
    gives: extremeType,
    call: (...args) => extreme(args, 1),
  },
  min: {
    takes: [NUMBERS, `${NUMBERS}...`],
    gives: extremeType,
    call: (...args) => extreme(args, -1),
  },
}

function toInt(value: Value): Value {
  if (typeof value === 'string') {
    const parsed = /^[+-]?\d+$/.test(value) ? BigInt(value.replace('+', '')) : undefined
    if (parsed !== undefined && parsed >= INT_MIN && parsed <= INT_MAX) return parsed
    throw new ExpressionError(`"${value}" is not an integer`)
  }
  if (typeof value === 'bigint') return value
  if (!isNumeric(value)) throw unfit('a number', value)
  if (!Number.isFinite(value)) throw new ExpressionError('"int" takes finite numbers')
  return toInt64(BigInt(Math.trunc(value)))
}

function extremeType(args: readonly Type[]): Type {
  return args.some(({ kind }) => kind === 'array' || kind === 'unknown') ? UNKNOWN : firstType(args)
}

/** @param sign 1 for the maximum, -1 for the minimum */
function extreme(args: readonly Value[], sign: 1 | -1): Value {
  let best: Value
  for (const value of flatNumbers(args)) {
    if (best === undefined || sign * compareValues(value, best, '<') > 0) best = value
  }
  return best
}

function flatNumbers(values: readonly Value[]): (bigint | number)[] {
  return values.flatMap((value) => {
    if (isList(value)) return flatNumbers(value)
    if (isNumeric(value)) return [value]
    throw unfit('a number', value)
  })
}
