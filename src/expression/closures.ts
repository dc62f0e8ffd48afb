/**
 * Functions that apply a closure to each element of a list
 * (github.com/expr-lang/expr, compiler/compiler.go).
 * @module
 */
import { truthOf } from './built-in.ts'
import { ExpressionError } from './errors.ts'
import { sortValues } from './list-functions.ts'
import { OPERATIONS } from './operators.ts'
import type { Evaluate, Run } from './run.ts'
import { ARRAY, arrayOf, BOOL, INT, MAP, type Type, UNKNOWN } from './type.ts'
import type { Value } from './value.ts'

/** What such a function works with. */
export type ClosureCall<C> = {
  readonly run: Run<C>
  readonly list: readonly Value[]
  /** Gives the element itself where the function may do without a closure. */
  readonly closure: Evaluate<C>
  /** What stands behind the closure. */
  readonly extra: Evaluate<C> | undefined
}

/** Such a function. */
export type ClosureFunction = {
  /** Whether its closure tells elements apart, so that it gives truth. */
  readonly isTest: boolean
  readonly gives: (element: Type, closure: Type) => Type
  /** @throws {ExpressionError} */
  readonly call: <C>(call: ClosureCall<C>) => Value
}

/** By name. */
export const CLOSURE_FUNCTIONS: Readonly<Record<string, ClosureFunction>> = {
  all: test(BOOL, (call) => indexWhere(call, false) < 0),
  none: test(BOOL, (call) => indexWhere(call, true) < 0),
  any: test(BOOL, (call) => indexWhere(call, true) >= 0),
  one: test(BOOL, (call) => countWhere(call) === 1),
  count: test(INT, (call) => BigInt(countWhere(call))),
  filter: {
    isTest: true,
    gives: arrayOf,
    call: (call) => call.list.filter((_, i) => truthAt(call, i)),
  },
  map: {
    isTest: false,
    gives: (_, closure) => arrayOf(closure),
    call: (call) => call.list.map((_, i) => valueAt(call, i)),
  },
  find: { isTest: true, gives: (element) => element, call: find },
  findLast: { isTest: true, gives: (element) => element, call: (call) => find(reversed(call)) },
  findIndex: test(INT, findIndex),
  findLastIndex: test(INT, (call) => {
    const index = findIndex(reversed(call))
    return index === undefined ? undefined : BigInt(call.list.length - 1) - index
  }),
  sum: { isTest: false, gives: (_, closure) => closure, call: sum },
  groupBy: { isTest: false, gives: () => MAP, call: groupBy },
  sortBy: {
    isTest: false,
    gives: () => ARRAY,
    call: (call) => {
      const order = call.extra === undefined ? 'asc' : call.extra(call.run)
      const values = call.list.map((_, i) => valueAt(call, i))
      return sortValues(call.list, values, order)
    },
  },
  reduce: { isTest: false, gives: () => UNKNOWN, call: reduce },
}

function test(gives: Type, call: ClosureFunction['call']): ClosureFunction {
  return { isTest: true, gives: () => gives, call }
}

/** Applies the closure to an element; closures within it leave its frame as it was. */
function valueAt<C>(
  { run, list, closure }: ClosureCall<C>,
  index: number,
  accumulator?: Value,
): Value {
  run.spend(1)
  const { frame } = run
  run.frame = { item: list[index], index, accumulator }
  const value = closure(run)
  run.frame = frame
  return value
}

function truthAt<C>(call: ClosureCall<C>, index: number): boolean {
  return truthOf(valueAt(call, index))
}

function indexWhere<C>(call: ClosureCall<C>, wanted: boolean): number {
  return call.list.findIndex((_, i) => truthAt(call, i) === wanted)
}

function countWhere<C>(call: ClosureCall<C>): number {
  return call.list.filter((_, i) => truthAt(call, i)).length
}

function find<C>(call: ClosureCall<C>): Value {
  return call.list.find((_, i) => truthAt(call, i))
}

function findIndex<C>(call: ClosureCall<C>): bigint | undefined {
  const index = indexWhere(call, true)
  return index < 0 ? undefined : BigInt(index)
}

function reversed<C>(call: ClosureCall<C>): ClosureCall<C> {
  return { ...call, list: call.list.toReversed() }
}

function sum<C>(call: ClosureCall<C>): Value {
  const add = OPERATIONS.get('+')
  return call.list.reduce((total: Value, _, i) => add?.apply(valueAt(call, i), total), 0n)
}

function groupBy<C>(call: ClosureCall<C>): Value {
  return Map.groupBy(call.list, (_, i) => valueAt(call, i))
}

function reduce<C>(call: ClosureCall<C>): Value {
  const { list, extra, run } = call
  if (extra === undefined && list.length === 0) {
    throw new ExpressionError('"reduce" of an empty list needs a value to begin with')
  }
  let total = extra === undefined ? list[0] : extra(run)
  for (let i = extra === undefined ? 1 : 0; i < list.length; i++) {
    total = run.made(valueAt(call, i, total))
  }
  return total
}
