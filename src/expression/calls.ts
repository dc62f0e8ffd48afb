/**
 * Calls of functions: which function a name is, and whether it takes what it is given.
 * @module
 */
import { type BuiltIn, type Environment, type EnvironmentFunction, listOf } from './built-in.ts'
import { CLOSURE_FUNCTIONS, type ClosureFunction } from './closures.ts'
import type { Compiled } from './compile.ts'
import { ExpressionError, SyntaxProblem } from './errors.ts'
import type { Call, MethodCall, Node } from './grammar.ts'
import { LIST_FUNCTIONS } from './list-functions.ts'
import { findMethod, hasMethods, type Method } from './methods.ts'
import { NUMBER_FUNCTIONS } from './number-functions.ts'
import type { Evaluate } from './run.ts'
import { TEXT_FUNCTIONS } from './text-functions.ts'
import { TIME_FUNCTIONS } from './time-functions.ts'
import { formatType, type Type, UNKNOWN } from './type.ts'
import { typeName, type Value } from './value.ts'

/** What compiling a call needs of the compiler. */
export type CallCompiler<C> = {
  readonly environment: Environment<C>
  readonly compile: (node: Node) => Compiled<C>
  readonly compileClosure: (
    body: Node,
    scope: { readonly element: Type; readonly names: readonly string[] },
  ) => Compiled<C>
}

const FUNCTIONS: ReadonlyMap<string, BuiltIn> = new Map(
  Object.entries({
    ...TEXT_FUNCTIONS,
    ...NUMBER_FUNCTIONS,
    ...LIST_FUNCTIONS,
    ...TIME_FUNCTIONS,
  }),
)
/** What only who has a clock can add. */
const ABSENT: ReadonlySet<string> = new Set(['now'])
/** What may stand behind `#` beside nothing. */
const POINTER_NAMES: Readonly<Record<string, readonly string[]>> = {
  map: ['index'],
  reduce: ['index', 'acc'],
}

/** Tells whether a built-in function has a name. */
export function isBuiltIn(name: string): boolean {
  return FUNCTIONS.has(name) || Object.hasOwn(CLOSURE_FUNCTIONS, name) || ABSENT.has(name)
}

/** Compiles a call. @throws {SyntaxProblem} */
export function compileCall<C>(call: Call, at: number, compiler: CallCompiler<C>): Compiled<C> {
  const { name, args } = call
  const known = call.isBuiltin ? undefined : compiler.environment.get(name)
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

/** Nearly all have two arguments at most, for which nothing is made: a third less time. */
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
  const builtIn = FUNCTIONS.get(name)
  if (builtIn === undefined) {
    const problem = ABSENT.has(name) ? 'is not supported' : 'does not exist'
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

/** Compiles the call of a method: one that its value's type has. @throws {SyntaxProblem} */
export function compileMethod<C>(node: MethodCall, compiler: CallCompiler<C>): Compiled<C> {
  const { name, args, at, isOptional } = node
  const target = compiler.compile(node.target)
  const given = args.map((arg) => compiler.compile(arg))
  const { kind } = target.type
  const known = findMethod(kind, name)
  if (known === undefined && kind !== 'unknown') {
    const hint = hasMethods(kind) ? '' : `; write ${name}(…), or "| ${name}(…)"`
    throw new SyntaxProblem(at, `${formatType(target.type)} has no method "${name}"${hint}`)
  }
  if (known !== undefined) checkArguments(node, at, { takes: known.takes, given })
  const gives = known?.gives
  return {
    type: gives === undefined || typeof gives === 'function' ? UNKNOWN : gives,
    evaluate: (run) => {
      const value = target.evaluate(run)
      if (isOptional && value === undefined) return undefined
      const method = known ?? methodOf(value, name)
      return run.made(method.call(value, ...given.map(({ evaluate }) => evaluate(run))))
    },
  }
}

function methodOf(value: Value, name: string): Method {
  const isOfTime = typeof value === 'object' && 'type' in value
  const method = isOfTime ? findMethod(value.type, name) : undefined
  if (method !== undefined) return method
  throw new ExpressionError(`${typeName(value)} has no method "${name}"`)
}

function compileClosureCall<C>(
  { name, args }: Call,
  fn: ClosureFunction,
  compiler: CallCompiler<C>,
): Compiled<C> {
  const [listNode, closureNode, extraNode] = args
  if (listNode === undefined) throw new TypeError('A parsed call has its list')
  const list = compiler.compile(listNode)
  if (list.type.kind !== 'array' && list.type.kind !== 'unknown') {
    const got = formatType(list.type)
    throw new SyntaxProblem(listNode.at, `"${name}" takes an array, got ${got}`)
  }
  const element = list.type.kind === 'array' ? list.type.element : UNKNOWN
  const closure =
    closureNode?.kind === 'closure'
      ? compiler.compileClosure(closureNode.body, { element, names: POINTER_NAMES[name] ?? [] })
      : { type: element, evaluate: itemOf }
  const { kind } = closure.type
  if (fn.isTest && closureNode !== undefined && kind !== 'bool' && kind !== 'unknown') {
    throw new SyntaxProblem(
      closureNode.at,
      `"${name}" takes a closure that is true or false, this is ${kind}`,
    )
  }
  const extra = extraNode === undefined ? undefined : compiler.compile(extraNode).evaluate
  return {
    type: fn.gives(element, closure.type),
    evaluate: (run) => {
      const call = { run, list: listOf(list.evaluate(run)), closure: closure.evaluate, extra }
      return run.made(fn.call(call))
    },
  }
}

const itemOf: Evaluate<unknown> = ({ frame }) => frame.item

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
    throw new SyntaxProblem(args[i]?.at ?? at, `"${name}" takes ${wanted}, got ${formatType(type)}`)
  })
}
