/**
 * Functions of arrays and maps (github.com/expr-lang/expr, builtin/builtin.go).
 * @module
 */
import { type BuiltIn, countOf, elementType, listOf } from './built-in.ts'
import { ARRAY, INT } from './type.ts'
import { isMap, type Value } from './value.ts'

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
