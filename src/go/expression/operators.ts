/**
 * Binary operators: their operand types and their results (github.com/expr-lang/expr,
 * checker/checker.go, vm/runtime).
 * @module
 */
import { compilePattern, type Pattern, PatternError } from '../pattern/pattern.ts'
import type { SyntaxNode } from './grammar.ts'
import {
  arrayOf,
  BOOL,
  FLOAT,
  INT,
  isComparable,
  isNumber,
  STRING,
  type Type,
  UNKNOWN,
} from './type.ts'
import {
  compareValues,
  ExpressionError,
  equalValues,
  isList,
  isMap,
  isNumeric,
  SyntaxProblem,
  toInt64,
  typeName,
  type Value,
} from './value.ts'

type Operation = {
  /** Returns the type of the result; `undefined` for operands that it does not accept. */
  readonly typeOf: (left: Type, right: Type) => Type | undefined
  /** @throws {ExpressionError} */
  readonly apply: (left: Value, right: Value) => Value
}

type Kind = Type['kind']

const NUMBERS: readonly Kind[] = ['int', 'float']
/** Maximum number of elements of a range. */
const RANGE_MAX = 100_000n

/** The operators that always evaluate both operands: not `and`, `or`, `??`, and not `matches`. */
export const OPERATIONS: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ['==', { typeOf: equality, apply: equalValues }],
  ['!=', { typeOf: equality, apply: (a, b) => !equalValues(a, b) }],
  ['<', { typeOf: ordering, apply: (a, b) => compareValues(a, b, '<') < 0 }],
  ['>', { typeOf: ordering, apply: (a, b) => compareValues(a, b, '>') > 0 }],
  ['<=', { typeOf: ordering, apply: (a, b) => compareValues(a, b, '<=') <= 0 }],
  ['>=', { typeOf: ordering, apply: (a, b) => compareValues(a, b, '>=') >= 0 }],
  ['+', { typeOf: addition, apply: add }],
  ['-', { typeOf: arithmetic, apply: (a, b) => calculate('-', a, b) }],
  ['*', { typeOf: arithmetic, apply: (a, b) => calculate('*', a, b) }],
  ['/', { typeOf: division, apply: (a, b) => calculate('/', a, b) }],
  ['**', { typeOf: division, apply: (a, b) => calculate('**', a, b) }],
  ['^', { typeOf: division, apply: (a, b) => calculate('^', a, b) }],
  ['%', { typeOf: (a, b) => both(a, b, ['int'], INT), apply: modulo }],
  ['..', { typeOf: (a, b) => both(a, b, ['int'], arrayOf(INT)), apply: range }],
  ['in', { typeOf: membership, apply: isIn }],
  ['contains', textOperation('contains', (a, b) => a.includes(b))],
  ['startsWith', textOperation('startsWith', (a, b) => a.startsWith(b))],
  ['endsWith', textOperation('endsWith', (a, b) => a.endsWith(b))],
])

/** Returns `result` if both operands are, or can be, of the given kinds. */
export function both(
  left: Type,
  right: Type,
  kinds: readonly Kind[],
  result: Type,
): Type | undefined {
  const fits = ({ kind }: Type): boolean => kind === 'unknown' || kinds.includes(kind)
  return fits(left) && fits(right) ? result : undefined
}

function equality(left: Type, right: Type): Type | undefined {
  return isComparable(left, right) ? BOOL : undefined
}

function ordering(left: Type, right: Type): Type | undefined {
  return both(left, right, NUMBERS, BOOL) ?? both(left, right, ['string'], BOOL)
}

function arithmetic(left: Type, right: Type): Type | undefined {
  if (!isNumber(left) || !isNumber(right)) {
    const isOpen = left.kind === 'unknown' || right.kind === 'unknown'
    return isOpen ? both(left, right, NUMBERS, UNKNOWN) : undefined
  }
  return left.kind === 'float' || right.kind === 'float' ? FLOAT : INT
}

function addition(left: Type, right: Type): Type | undefined {
  const isText = left.kind === 'string' && right.kind === 'string'
  return arithmetic(left, right) ?? both(left, right, ['string'], isText ? STRING : UNKNOWN)
}

function division(left: Type, right: Type): Type | undefined {
  return both(left, right, NUMBERS, FLOAT)
}

function membership(left: Type, right: Type): Type | undefined {
  switch (right.kind) {
    case 'unknown':
      return BOOL
    case 'map':
      return left.kind === 'string' || left.kind === 'unknown' ? BOOL : undefined
    case 'array':
      return equality(left, right.element)
    case 'string':
      return left.kind === 'unknown' ? BOOL : undefined
    default:
      return undefined
  }
}

/** Returns an operator on strings; it is false if an operand is nil. */
function textOperation(name: string, test: (a: string, b: string) => boolean): Operation {
  return {
    typeOf: (left, right) => both(left, right, ['string'], BOOL),
    apply: (a, b) => {
      if (a === undefined || b === undefined) return false
      if (typeof a === 'string' && typeof b === 'string') return test(a, b)
      throw mismatch(a, name, b)
    },
  }
}

function add(a: Value, b: Value): Value {
  return typeof a === 'string' && typeof b === 'string' ? a + b : calculate('+', a, b)
}

type Arithmetic = '+' | '-' | '*' | '/' | '**' | '^'

/** Two ints give an int, except for division and powers, which give floats. */
function calculate(operator: Arithmetic, a: Value, b: Value): Value {
  if (typeof a === 'bigint' && typeof b === 'bigint') {
    if (operator === '+') return toInt64(a + b)
    if (operator === '-') return toInt64(a - b)
    if (operator === '*') return toInt64(a * b)
  }
  if (!isNumeric(a) || !isNumeric(b)) throw mismatch(a, operator, b)
  const [left, right] = [Number(a), Number(b)]
  switch (operator) {
    case '+':
      return left + right
    case '-':
      return left - right
    case '*':
      return left * right
    case '/':
      return left / right
    case '**':
    case '^':
      return left ** right
  }
}

function modulo(a: Value, b: Value): Value {
  if (typeof a !== 'bigint' || typeof b !== 'bigint') throw mismatch(a, '%', b)
  if (b === 0n) throw new ExpressionError('integer modulo by zero')
  return toInt64(a % b)
}

function range(a: Value, b: Value): Value {
  if (typeof a !== 'bigint' || typeof b !== 'bigint') throw mismatch(a, '..', b)
  if (b - a >= RANGE_MAX) throw new ExpressionError(`${a}..${b} has too many elements`)
  return Array.from({ length: Math.max(0, Number(b - a) + 1) }, (_, i) => a + BigInt(i))
}

function isIn(needle: Value, among: Value): Value {
  if (among === undefined) return false
  if (isList(among)) return among.some((item) => equalValues(item, needle))
  if (isMap(among)) return among.has(needle)
  throw mismatch(needle, 'in', among)
}

function mismatch(a: Value, operator: string, b: Value): ExpressionError {
  return new ExpressionError(`"${operator}" does not accept ${typeName(a)} and ${typeName(b)}`)
}

/**
 * Creates the operation for a right operand. Compiles a literal now, another operand when it is
 * evaluated, and keeps the pattern until the operand's value changes.
 * @throws {SyntaxProblem} when a literal is not a valid pattern
 */
export function matchOperation(right: SyntaxNode): Operation {
  const literal = right.kind === 'literal' && typeof right.value === 'string'
  const refuse = (message: string): never => {
    throw new SyntaxProblem(right.at, message)
  }
  let known = literal ? patternOf(String(right.value), refuse) : undefined
  return {
    typeOf: (a, b) => both(a, b, ['string'], BOOL),
    apply: (text, source) => {
      if (text === undefined || source === undefined) return false
      if (typeof text !== 'string' || typeof source !== 'string') {
        throw mismatch(text, 'matches', source)
      }
      if (known?.source !== source) known = patternOf(source, fail)
      return known.test(text)
    },
  }
}

function patternOf(source: string, refuse: (message: string) => never): Pattern {
  try {
    return compilePattern(source)
  } catch (error) {
    if (!(error instanceof PatternError)) throw error
    return refuse(`"${source}" is not a regular expression: ${error.message}`)
  }
}

function fail(message: string): never {
  throw new ExpressionError(message)
}
