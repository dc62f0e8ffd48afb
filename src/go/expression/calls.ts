/**
 * Compiles calls: finds the function and checks the types of its arguments. Also holds the
 * functions that apply a closure to each element of an array (expr-lang, compiler/compiler.go).
 * @module
 */
import { type Environment, type EnvironmentFunction, truthOf, valueList } from './built-in.ts'
import { EXPRESSION_FUNCTIONS } from './functions.ts'
import type { Call, SyntaxNode } from './grammar.ts'
import type { Compiled, Evaluate, Run } from './run.ts'
import { arrayOf, BOOL, formatExpressionType, INT, type Type, UNKNOWN } from './type.ts'
import { SyntaxProblem, type Value } from './value.ts'

/** The part of the compiler that calls need. */
export type CallCompiler<C> = {
  readonly environment: Environment<C>
  readonly compile: (node: SyntaxNode) => Compiled<C>
  readonly compileClosure: (body: SyntaxNode, element: Type) => Compiled<C>
}

/** Functions of expr-lang that are left out; see README.md. */
const LEFT_OUT: ReadonlySet<string> = new Set(
  (
    'abs bitand bitnand bitnot bitor bitshl bitshr bitushr bitxor ceil date duration findLast ' +
    'findLastIndex flatten float floor fromBase64 fromJSON fromPairs groupBy keys lastIndexOf ' +
    'mean median now reduce repeat reverse round sort sortBy splitAfter sum take timezone ' +
    'toBase64 toJSON toPairs type uniq values'
  ).split(' '),
)

/** Returns whether expr-lang has a built-in function of this name. */
export function isBuiltIn(name: string): boolean {
  return (
    EXPRESSION_FUNCTIONS.has(name) || Object.hasOwn(CLOSURE_FUNCTIONS, name) || LEFT_OUT.has(name)
  )
}

/** Compiles a call. @throws {SyntaxProblem} */
export function compileCall<C>(call: Call, at: number, compiler: CallCompiler<C>): Compiled<C> {
  const { name, args } = call
  const known = compiler.environment.get(name)
  if (known?.kind === 'variable') throw new SyntaxProblem(at, `"${name}" is not a function`)
  if (known !== undefined) {
    const compiled = args.map((arg) => compiler.compile(arg))
    checkArguments(call, at, { takes: known.takes, given: compiled })
    return { type: known.gives, evaluate: evaluateKnown(known, compiled) }
  }
  const closure = Object.hasOwn(CLOSURE_FUNCTIONS, name) ? CLOSURE_FUNCTIONS[name] : undefined
  if (closure !== undefined) return compileClosureCall(call, closure, compiler)
  return compileBuiltIn(call, at, compiler)
}

/** Up to two arguments need no array, which takes a third less time. */
function evaluateKnown<C>(
  { call }: EnvironmentFunction<C>,
  given: readonly Compiled<C>[],
): Evaluate<C> {
  const [first, second] = given.map(({ evaluate }) => evaluate)
  if (first === undefined) return (run) => run.made(call(run.context))
  if (second === undefined) return (run) => run.made(call(run.context, first(run)))
  if (given.length === 2) {
    return (run) => run.made(call(run.context, first(run), second(run)))
  }
  return (run) => run.made(call(run.context, ...given.map(({ evaluate }) => evaluate(run))))
}

function compileBuiltIn<C>(call: Call, at: number, compiler: CallCompiler<C>): Compiled<C> {
  const { name, args } = call
  const builtIn = EXPRESSION_FUNCTIONS.get(name)
  if (builtIn === undefined) {
    const problem = LEFT_OUT.has(name) ? 'of expr-lang is not supported' : 'does not exist'
    throw new SyntaxProblem(at, `the function "${name}" ${problem}`)
  }
  const given = args.map((arg) => compiler.compile(arg))
  checkArguments(call, at, { takes: builtIn.takes, given })
  const { gives } = builtIn
  const evaluates = given.map(({ evaluate }) => evaluate)
  return {
    type: typeof gives === 'function' ? gives(given.map(({ type }) => type)) : gives,
    evaluate: (run) => {
      const values = evaluates.map((evaluate) => run.made(evaluate(run)))
      return run.made(builtIn.call(...values))
    },
  }
}

function compileClosureCall<C>(
  { name, args }: Call,
  fn: ClosureFunction,
  compiler: CallCompiler<C>,
): Compiled<C> {
  const [listNode, closureNode] = args
  if (listNode === undefined) throw new TypeError('A parsed call has its list')
  const list = compiler.compile(listNode)
  if (list.type.kind !== 'array' && list.type.kind !== 'unknown') {
    const got = formatExpressionType(list.type)
    throw new SyntaxProblem(listNode.at, `"${name}" takes an array, got ${got}`)
  }
  const element = list.type.kind === 'array' ? list.type.element : UNKNOWN
  const closure =
    closureNode?.kind === 'closure'
      ? compiler.compileClosure(closureNode.body, element)
      : { type: element, evaluate: itemOf }
  const { kind } = closure.type
  if (fn.isTest && closureNode !== undefined && kind !== 'bool' && kind !== 'unknown') {
    throw new SyntaxProblem(
      closureNode.at,
      `"${name}" takes a closure that returns a bool, this one returns ${kind}`,
    )
  }
  return {
    type: fn.gives(element, closure.type),
    evaluate: (run) => {
      const call = { run, list: valueList(list.evaluate(run)), closure: closure.evaluate }
      return run.made(fn.call(call))
    },
  }
}

const itemOf: Evaluate<unknown> = ({ item }) => item

function checkArguments<C>(
  { name, args }: Pick<Call, 'name' | 'args'>,
  at: number,
  { takes, given }: { readonly takes: readonly string[]; readonly given: readonly Compiled<C>[] },
): void {
  const isOpen = takes.at(-1)?.endsWith('...') === true
  const min = takes.filter((kinds) => !kinds.endsWith('?') && !kinds.endsWith('...')).length
  if (given.length < min || (!isOpen && given.length > takes.length)) {
    const max = takes.length
    const wanted = isOpen ? `${min} or more` : min === max ? String(min) : `${min} to ${max}`
    throw new SyntaxProblem(at, `"${name}" takes ${wanted} argument(s), got ${given.length}`)
  }
  given.forEach(({ type }, i) => {
    const kinds = (takes[i] ?? takes.at(-1) ?? 'any').replace(/\?$|\.\.\.$/, '').split('|')
    if (type.kind === 'unknown' || kinds.includes('any') || kinds.includes(type.kind)) return
    const wanted = kinds.join(' or ')
    throw new SyntaxProblem(
      args[i]?.at ?? at,
      `"${name}" takes ${wanted}, got ${formatExpressionType(type)}`,
    )
  })
}

type ClosureCall<C> = {
  readonly run: Run<C>
  readonly list: readonly Value[]
  /** Returns the element itself if the call has no closure, as `count` may. */
  readonly closure: Evaluate<C>
}

type ClosureFunction = {
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
