/**
 * Functions that apply a closure to each element of an array
 * (github.com/expr-lang/expr, compiler/compiler.go).
 * @module
 */
import { truthOf } from './built-in.ts'
import type { Evaluate, Run } from './run.ts'
import { arrayOf, BOOL, INT, type Type } from './type.ts'
import type { Value } from './value.ts'

/** Arguments of such a call. */
export type ClosureCall<C> = {
  readonly run: Run<C>
  readonly list: readonly Value[]
  /** Returns the element itself if the call has no closure, as `count` may. */
  readonly closure: Evaluate<C>
}

/** A function that takes a closure. */
export type ClosureFunction = {
  /** Whether its closure must return a bool. */
  readonly isTest: boolean
  readonly gives: (element: Type, closure: Type) => Type
  /** @throws {ExpressionError} */
  readonly call: <C>(call: ClosureCall<C>) => Value
}

/** The functions by name. */
export const CLOSURE_FUNCTIONS: Readonly<Record<string, ClosureFunction>> = {
  all: test(BOOL, (call) => indexWhere(call, false) < 0),
  none: test(BOOL, (call) => indexWhere(call, true) < 0),
  any: test(BOOL, (call) => indexWhere(call, true) >= 0),
  one: test(BOOL, (call) => truths(call).length === 1),
  count: test(INT, (call) => BigInt(truths(call).length)),
  filter: { isTest: true, gives: arrayOf, call: truths },
  map: {
    isTest: false,
    gives: (_, closure) => arrayOf(closure),
    call: (call) => call.list.map((item) => valueFor(call, item)),
  },
  find: {
    isTest: true,
    gives: (element) => element,
    call: (call) => call.list.find((item) => truthOf(valueFor(call, item))),
  },
  findIndex: test(INT, (call) => {
    const index = indexWhere(call, true)
    return index < 0 ? undefined : BigInt(index)
  }),
}

function test(gives: Type, call: ClosureFunction['call']): ClosureFunction {
  return { isTest: true, gives: () => gives, call }
}

/** Applies the closure to an element; restores the element of an enclosing closure. */
function valueFor<C>({ run, closure }: ClosureCall<C>, item: Value): Value {
  run.spend(1)
  const outer = run.item
  run.item = item
  const value = closure(run)
  run.item = outer
  return value
}

function indexWhere<C>(call: ClosureCall<C>, wanted: boolean): number {
  return call.list.findIndex((item) => truthOf(valueFor(call, item)) === wanted)
}

function truths<C>(call: ClosureCall<C>): Value[] {
  return call.list.filter((item) => truthOf(valueFor(call, item)))
}
