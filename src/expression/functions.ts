/**
 * The built-in functions of strings, numbers, arrays and maps (github.com/expr-lang/expr, builtin).
 * Positions in strings count UTF-16 code units, Go's count bytes: the same in ASCII.
 * @module
 */
import { type BuiltIn, countOf, elementType, firstType, listOf, textOf, unfit } from './built-in.ts'
import { ExpressionError } from './errors.ts'
import { ARRAY, arrayOf, BOOL, INT, STRING, type Type, UNKNOWN } from './type.ts'
import {
  compareValues,
  formatValue,
  isList,
  isMap,
  isNumeric,
  toInt64,
  type Value,
} from './value.ts'

/** Maximum length of a result. */
const TEXT_MAX = 65_536

/** The functions by name. */
export const TEXT_FUNCTIONS: Readonly<Record<string, BuiltIn>> = {
  string: { takes: ['any'], gives: STRING, call: (value) => formatValue(value) },
  upper: { takes: ['string'], gives: STRING, call: (text) => textOf(text).toUpperCase() },
  lower: { takes: ['string'], gives: STRING, call: (text) => textOf(text).toLowerCase() },
  trim: {
    takes: ['string', 'string?'],
    gives: STRING,
    call: (text, characters) =>
      characters === undefined ? textOf(text).trim() : trim(textOf(text), textOf(characters)),
  },
  trimPrefix: {
    takes: ['string', 'string?'],
    gives: STRING,
    call: (text, prefix = ' ') =>
      textOf(text).startsWith(textOf(prefix))
        ? textOf(text).slice(textOf(prefix).length)
        : textOf(text),
  },
  trimSuffix: {
    takes: ['string', 'string?'],
    gives: STRING,
    call: (text, suffix = ' ') =>
      textOf(text).endsWith(textOf(suffix))
        ? textOf(text).slice(0, textOf(text).length - textOf(suffix).length)
        : textOf(text),
  },
  split: {
    takes: ['string', 'string', 'int?'],
    gives: arrayOf(STRING),
    call: (text, separator, max = -1n) => split(textOf(text), textOf(separator), countOf(max)),
  },
  replace: {
    takes: ['string', 'string', 'string', 'int?'],
    gives: STRING,
    call: (text, from, to, max = -1n) =>
      bounded(replace(textOf(text), { from: textOf(from), to: textOf(to), max: countOf(max) })),
  },
  join: {
    takes: ['array', 'string?'],
    gives: STRING,
    call: (list, glue = '') => bounded(listOf(list).map(textOf).join(textOf(glue))),
  },
  indexOf: {
    takes: ['string', 'string'],
    gives: INT,
    call: (text, part) => BigInt(textOf(text).indexOf(textOf(part))),
  },
  hasPrefix: {
    takes: ['string', 'string'],
    gives: BOOL,
    call: (text, prefix) => textOf(text).startsWith(textOf(prefix)),
  },
  hasSuffix: {
    takes: ['string', 'string'],
    gives: BOOL,
    call: (text, suffix) => textOf(text).endsWith(textOf(suffix)),
  },
}

function trim(text: string, characters: string): string {
  const isCut = (at: number): boolean => characters.includes(text.charAt(at))
  let start = 0
  let end = text.length
  while (start < end && isCut(start)) start++
  while (end > start && isCut(end - 1)) end--
  return text.slice(start, end)
}

function split(text: string, separator: string, max: number): Value[] {
  if (max === 0) return []
  const whole = separator === '' ? [...text] : text.split(separator)
  const parts = max > 0 && whole.length > max ? whole.slice(0, max - 1) : whole
  if (parts !== whole) parts.push(whole.slice(max - 1).join(separator))
  return parts
}

function replace(
  text: string,
  { from, to, max }: { readonly from: string; readonly to: string; readonly max: number },
): string {
  if (max < 0) return text.replaceAll(from, () => to)
  let count = 0
  return text.replaceAll(from, () => (count++ < max ? to : from))
}

function bounded(text: string): string {
  if (text.length <= TEXT_MAX) return text
  throw new ExpressionError(`text is over ${TEXT_MAX} characters`)
}

/** The functions by name. */
export const LIST_FUNCTIONS: Readonly<Record<string, BuiltIn>> = {
  len: { takes: ['array|map|string'], gives: INT, call: (value) => BigInt(lengthOf(value)) },
  first: { takes: ['array'], gives: elementType, call: (list) => listOf(list)[0] },
  last: { takes: ['array'], gives: elementType, call: (list) => listOf(list).at(-1) },
  get: { takes: ['array|map', 'any'], gives: elementType, call: get },
  concat: { takes: ['array', 'array...'], gives: ARRAY, call: (...lists) => lists.flatMap(listOf) },
}

function lengthOf(value: Value): number {
  if (typeof value === 'string') return [...value].length
  if (isMap(value)) return value.size
  return listOf(value).length
}

function get(from: Value, key: Value): Value {
  return isMap(from) ? from.get(key) : listOf(from).at(countOf(key))
}

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
