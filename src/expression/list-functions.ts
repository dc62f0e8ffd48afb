/**
 * Functions of lists and maps (github.com/expr-lang/expr, builtin/builtin.go). Maps keep the order
 * in which they were written, which Go does not.
 * @module
 */
import {
  type BuiltIn,
  countOf,
  elementType,
  firstType,
  listOf,
  mapOf,
  textOf,
  unfit,
} from './built-in.ts'
import { ExpressionError } from './errors.ts'
import { ARRAY, INT, MAP } from './type.ts'
import { compareValues, equalValues, isList, isMap, type Value } from './value.ts'

/** Elements of a list of which each is compared with each. */
const UNIQUE_MAX = 1000

/** By name. */
export const LIST_FUNCTIONS: Readonly<Record<string, BuiltIn>> = {
  len: { takes: ['array|map|string'], gives: INT, call: (value) => BigInt(lengthOf(value)) },
  first: { takes: ['array'], gives: elementType, call: (list) => listOf(list)[0] },
  last: { takes: ['array'], gives: elementType, call: (list) => listOf(list).at(-1) },
  get: { takes: ['array|map', 'any'], gives: elementType, call: get },
  take: {
    takes: ['array', 'int'],
    gives: firstType,
    call: (list, count) => {
      if (countOf(count) < 0) throw new ExpressionError('"take" takes no negative number')
      return listOf(list).slice(0, countOf(count))
    },
  },
  keys: { takes: ['map'], gives: ARRAY, call: (map) => [...mapOf(map).keys()] },
  values: { takes: ['map'], gives: ARRAY, call: (map) => [...mapOf(map).values()] },
  toPairs: { takes: ['map'], gives: ARRAY, call: (map) => [...mapOf(map)] },
  fromPairs: { takes: ['array'], gives: MAP, call: (list) => new Map(listOf(list).map(pairOf)) },
  reverse: { takes: ['array'], gives: ARRAY, call: (list) => listOf(list).toReversed() },
  uniq: { takes: ['array'], gives: ARRAY, call: (list) => unique(listOf(list)) },
  concat: { takes: ['array', 'array...'], gives: ARRAY, call: (...lists) => lists.flatMap(listOf) },
  flatten: { takes: ['array'], gives: ARRAY, call: (list) => flatten(listOf(list)) },
  sort: {
    takes: ['array', 'string?'],
    gives: ARRAY,
    call: (list, order = 'asc') => sortValues(listOf(list), listOf(list), order),
  },
}

/** Sorts a list by a value that goes with each element. @throws {ExpressionError} */
export function sortValues(
  list: readonly Value[],
  by: readonly Value[],
  order: Value,
): readonly Value[] {
  const direction = order === 'asc' ? 1 : order === 'desc' ? -1 : 0
  if (direction === 0)
    throw new ExpressionError(`the order is "asc" or "desc", not "${textOf(order)}"`)
  return list
    .map((item, i): [Value, Value] => [item, by[i]])
    .sort(([, a], [, b]) => direction * compareValues(a, b, '<'))
    .map(([item]) => item)
}

function lengthOf(value: Value): number {
  if (typeof value === 'string') return [...value].length
  if (isMap(value)) return value.size
  return listOf(value).length
}

function get(from: Value, key: Value): Value {
  return isMap(from) ? from.get(key) : listOf(from).at(countOf(key))
}

function pairOf(value: Value): [Value, Value] {
  if (isList(value) && value.length === 2) return [value[0], value[1]]
  throw unfit('a list of two', value)
}

function unique(list: readonly Value[]): Value[] {
  if (list.length > UNIQUE_MAX) {
    throw new ExpressionError(`"uniq" takes at most ${UNIQUE_MAX} elements`)
  }
  const kept: Value[] = []
  for (const item of list) if (!kept.some((other) => equalValues(other, item))) kept.push(item)
  return kept
}

function flatten(list: readonly Value[]): Value[] {
  return list.flatMap((item) => (isList(item) ? flatten(item) : [item]))
}
