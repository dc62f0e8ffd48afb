/**
 * Functions of numbers (github.com/expr-lang/expr, builtin/lib.go).
 * @module
 */
import { type BuiltIn, firstType, intOf, unfit } from './built-in.ts'
import { ExpressionError } from './errors.ts'
import { Duration, Named } from './time-values.ts'
import { FLOAT, INT, type Type, UNKNOWN } from './type.ts'
import { compareValues, isList, isNumeric, toInt64, type Value } from './value.ts'

const NUMBER = 'int|float'
const EXTREMES = 'int|float|array|time.Duration'
const INT_MIN = -(2n ** 63n)
const INT_MAX = 2n ** 63n - 1n
const FLOAT_TEXT = /^[+-]?(?:\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|inf(?:inity)?|nan)$/i

/** By name. */
export const NUMBER_FUNCTIONS: Readonly<Record<string, BuiltIn>> = {
  int: {
    takes: ['int|float|string|time.Duration|time.Weekday|time.Month'],
    gives: INT,
    call: toInt,
  },
  float: { takes: ['int|float|string'], gives: FLOAT, call: toFloat },
  abs: {
    takes: [NUMBER],
    gives: firstType,
    call: (value) => (typeof value === 'bigint' ? absolute(value) : Math.abs(numberOf(value))),
  },
  ceil: { takes: [NUMBER], gives: FLOAT, call: (value) => Math.ceil(numberOf(value)) },
  floor: { takes: [NUMBER], gives: FLOAT, call: (value) => Math.floor(numberOf(value)) },
  round: { takes: [NUMBER], gives: FLOAT, call: (value) => round(numberOf(value)) },
  max: {
    takes: [EXTREMES, `${EXTREMES}...`],
    gives: extremeType,
    call: (...args) => extreme(args, '>'),
  },
  min: {
    takes: [EXTREMES, `${EXTREMES}...`],
    gives: extremeType,
    call: (...args) => extreme(args, '<'),
  },
  mean: {
    takes: ['int|float|array', 'int|float|array...'],
    gives: FLOAT,
    call: (...args) => mean(flatNumbers(args).map(Number)),
  },
  median: {
    takes: ['int|float|array', 'int|float|array...'],
    gives: FLOAT,
    call: (...args) => median(flatNumbers(args).map(Number)),
  },
  bitand: bits((a, b) => a & b),
  bitor: bits((a, b) => a | b),
  bitxor: bits((a, b) => a ^ b),
  bitnand: bits((a, b) => a & ~b),
  bitshl: bits((a, b) => a << shift(b)),
  bitshr: bits((a, b) => a >> shift(b)),
  bitushr: bits((a, b) => BigInt.asUintN(64, a) >> shift(b)),
  bitnot: { takes: ['int'], gives: INT, call: (value) => ~intOf(value) },
}

function toInt(value: Value): Value {
  if (typeof value === 'string') {
    const parsed = /^[+-]?\d+$/.test(value) ? BigInt(value.replace('+', '')) : undefined
    if (parsed !== undefined && parsed >= INT_MIN && parsed <= INT_MAX) return parsed
    throw new ExpressionError(`"${value}" is not a whole number`)
  }
  if (typeof value === 'bigint') return value
  if (value instanceof Duration || value instanceof Named) return BigInt(value.key)
  const float = numberOf(value)
  if (!Number.isFinite(float)) throw new ExpressionError('what is not finite is no whole number')
  return toInt64(BigInt(Math.trunc(float)))
}

function toFloat(value: Value): Value {
  if (typeof value !== 'string') return numberOf(value)
  if (!FLOAT_TEXT.test(value)) throw new ExpressionError(`"${value}" is not a number`)
  const named = /^([+-]?)(inf|nan)/i.exec(value)
  if (named === null) return Number(value)
  if (named[2]?.toLowerCase() === 'nan') return Number.NaN
  return named[1] === '-' ? -Infinity : Infinity
}

function numberOf(value: Value): number {
  if (isNumeric(value)) return Number(value)
  throw unfit('a number', value)
}

function absolute(value: bigint): bigint {
  return toInt64(value < 0n ? -value : value)
}

/** Halves go away from zero. */
function round(value: number): number {
  return Math.sign(value) * Math.round(Math.abs(value))
}

function extremeType(args: readonly Type[]): Type {
  return args.some(({ kind }) => kind === 'array' || kind === 'unknown') ? UNKNOWN : firstType(args)
}

function extreme(args: readonly Value[], operator: '<' | '>'): Value {
  let best: Value
  const values = args.flatMap((arg): readonly Value[] =>
    arg instanceof Duration ? [arg] : flatNumbers([arg]),
  )
  for (const value of values) {
    const order = best === undefined ? 0 : compareValues(value, best, operator)
    if (best === undefined || (operator === '<' ? order < 0 : order > 0)) best = value
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

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length
}

function median(values: readonly number[]): number {
  if (values.length === 0) return 0
  const sorted = values.toSorted((a, b) => a - b)
  const half = Math.floor(sorted.length / 2)
  const upper = sorted[half] ?? 0
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] ?? 0) + upper) / 2
}

function bits(apply: (a: bigint, b: bigint) => bigint): BuiltIn {
  return { takes: ['int', 'int'], gives: INT, call: (a, b) => toInt64(apply(intOf(a), intOf(b))) }
}

/** Shifting by 64 bits or more leaves nothing that shifting by 64 does not. */
function shift(count: bigint): bigint {
  if (count < 0n) throw new ExpressionError(`cannot shift by ${count} bits`)
  return count < 64n ? count : 64n
}
