/**
 * The built-in functions of strings, numbers, arrays and maps (github.com/expr-lang/expr, builtin).
 * Positions in strings count UTF-16 code units, Go's count bytes: the same in ASCII.
 * @module
 */
import {
  type BuiltIn,
  countOf,
  elementType,
  firstType,
  unfit,
  valueList,
  valueText,
} from './built-in.ts'
import { ARRAY, arrayOf, BOOL, INT, STRING, type Type, UNKNOWN } from './type.ts'
import {
  compareValues,
  ExpressionError,
  formatValue,
  isList,
  isMap,
  isNumeric,
  toInt64,
  type Value,
} from './value.ts'

const NUMBERS = 'int|float|array'
const INT_MIN = -(2n ** 63n)
const INT_MAX = 2n ** 63n - 1n

/** The functions by name. */
export const EXPRESSION_FUNCTIONS: ReadonlyMap<string, BuiltIn> = new Map<string, BuiltIn>([
  ['string', { takes: ['any'], gives: STRING, call: formatValue }],
  ['upper', ofTexts(['string'], STRING, (text) => text.toUpperCase())],
  ['lower', ofTexts(['string'], STRING, (text) => text.toLowerCase())],
  ['trim', ofTexts(['string', 'string?'], STRING, trim)],
  ['trimPrefix', ofTexts(['string', 'string?'], STRING, trimPrefix)],
  ['trimSuffix', ofTexts(['string', 'string?'], STRING, trimSuffix)],
  ['indexOf', ofTexts(['string', 'string'], INT, (text, part) => BigInt(text.indexOf(part)))],
  ['hasPrefix', ofTexts(['string', 'string'], BOOL, (text, prefix) => text.startsWith(prefix))],
  ['hasSuffix', ofTexts(['string', 'string'], BOOL, (text, suffix) => text.endsWith(suffix))],
  ['split', { takes: ['string', 'string', 'int?'], gives: arrayOf(STRING), call: split }],
  ['replace', { takes: ['string', 'string', 'string', 'int?'], gives: STRING, call: replace }],
  ['join', { takes: ['array', 'string?'], gives: STRING, call: join }],
  ['len', { takes: ['array|map|string'], gives: INT, call: (value) => BigInt(lengthOf(value)) }],
  ['first', { takes: ['array'], gives: elementType, call: (list) => valueList(list)[0] }],
  ['last', { takes: ['array'], gives: elementType, call: (list) => valueList(list).at(-1) }],
  ['get', { takes: ['array|map', 'any'], gives: elementType, call: get }],
  [
    'concat',
    { takes: ['array', 'array...'], gives: ARRAY, call: (...all) => all.flatMap(valueList) },
  ],
  ['int', { takes: ['int|float|string'], gives: INT, call: toInt }],
  ['max', ofNumbers((...args) => extreme(args, 1))],
  ['min', ofNumbers((...args) => extreme(args, -1))],
])

function ofTexts(
  takes: readonly string[],
  gives: Type,
  call: (...texts: string[]) => Value,
): BuiltIn {
  return { takes, gives, call: (...args) => call(...args.map(valueText)) }
}

/** Creates a function of numbers and arrays of numbers. */
function ofNumbers(call: BuiltIn['call']): BuiltIn {
  return { takes: [NUMBERS, `${NUMBERS}...`], gives: extremeType, call }
}

function trim(text = '', characters?: string): string {
  if (characters === undefined) return text.trim()
  const isCut = (at: number): boolean => characters.includes(text.charAt(at))
  let start = 0
  let end = text.length
  while (start < end && isCut(start)) start++
  while (end > start && isCut(end - 1)) end--
  return text.slice(start, end)
}

function trimPrefix(text = '', prefix = ' '): string {
  return text.startsWith(prefix) ? text.slice(prefix.length) : text
}

function trimSuffix(text = '', suffix = ' '): string {
  return text.endsWith(suffix) ? text.slice(0, text.length - suffix.length) : text
}

function split(text: Value, by: Value, limit: Value = -1n): Value[] {
  const [separator, max] = [valueText(by), countOf(limit)]
  if (max === 0) return []
  const whole = separator === '' ? [...valueText(text)] : valueText(text).split(separator)
  const parts = max > 0 && whole.length > max ? whole.slice(0, max - 1) : whole
  if (parts !== whole) parts.push(whole.slice(max - 1).join(separator))
  return parts
}

function replace(text: Value, from: Value, to: Value, limit: Value = -1n): string {
  const [old, by, max] = [valueText(from), valueText(to), countOf(limit)]
  let count = 0
  return valueText(text).replaceAll(old, () => (max < 0 || count++ < max ? by : old))
}

function join(list: Value, glue: Value = ''): string {
  return valueList(list).map(valueText).join(valueText(glue))
}

function lengthOf(value: Value): number {
  if (typeof value === 'string') return [...value].length
  if (isMap(value)) return value.size
  return valueList(value).length
}

function get(from: Value, key: Value): Value {
  return isMap(from) ? from.get(key) : valueList(from).at(countOf(key))
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
