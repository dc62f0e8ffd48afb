/**
 * Compiles a syntax tree to a function and checks its types, so that `check` reports most mistakes
 * (github.com/expr-lang/expr, checker/checker.go).
 * @module
 */
import { countOf, type Environment, truthOf, valueText } from './built-in.ts'
import { type CallCompiler, compileCall, isBuiltIn } from './calls.ts'
import type { Binary, MemberNode, SyntaxNode } from './grammar.ts'
import { both, matchOperation, OPERATIONS } from './operators.ts'
import type { Compiled, Evaluate } from './run.ts'
import {
  arrayOf,
  BOOL,
  commonType,
  FLOAT,
  formatExpressionType,
  INT,
  isNumber,
  MAP,
  NIL,
  STRING,
  type Type,
  UNKNOWN,
} from './type.ts'
import {
  ExpressionError,
  isList,
  isMap,
  isNumeric,
  SyntaxProblem,
  toInt64,
  typeName,
  type Value,
} from './value.ts'

/** Compiles a syntax tree. @throws {SyntaxProblem} */
export function compileNode<C>(node: SyntaxNode, environment: Environment<C>): Compiled<C> {
  return new Compiler(environment).compile(node)
}

type Variable = { readonly name: string; readonly type: Type }

class Compiler<C> implements CallCompiler<C> {
  readonly environment: Environment<C>
  /** Element types of the enclosing closures. */
  private readonly elements: Type[] = []
  private readonly variables: Variable[] = []

  constructor(environment: Environment<C>) {
    this.environment = environment
  }

  compile(node: SyntaxNode): Compiled<C> {
    switch (node.kind) {
      case 'literal':
        return { type: literalType(node.value), evaluate: () => node.value }
      case 'name':
        return this.name(node.name, node.at)
      case 'pointer':
        return this.pointer(node.at)
      case 'unary':
        return this.unary(node.operator, this.compile(node.operand), node.at)
      case 'binary':
        return this.binary(node, node.at)
      case 'conditional':
        return this.conditional(node)
      case 'array':
        return this.array(node.items)
      case 'map':
        return this.map(node.pairs)
      case 'member':
        return this.member(node)
      case 'slice':
        return this.slice(node)
      case 'call':
        return compileCall(node, node.at, this)
      case 'closure':
        throw new SyntaxProblem(node.at, 'a closure is not allowed here')
      case 'let':
        return this.declaration(node)
      case 'sequence':
        return this.sequence(node.nodes)
    }
  }

  /** Compiles the body of a closure that is applied to elements of a type. */
  compileClosure(body: SyntaxNode, element: Type): Compiled<C> {
    this.elements.push(element)
    const compiled = this.compile(body)
    this.elements.pop()
    return compiled
  }

  private name(name: string, at: number): Compiled<C> {
    const index = this.variables.findLastIndex((variable) => variable.name === name)
    const variable = this.variables[index]
    if (variable !== undefined) {
      return { type: variable.type, evaluate: (run) => run.variable(index) }
    }
    if (name === '$env') {
      throw new SyntaxProblem(at, '"$env" is not supported; write the name without it')
    }
    const known = this.environment.get(name)
    if (known?.kind === 'variable') {
      return { type: known.type, evaluate: ({ context }) => known.read(context) }
    }
    if (known !== undefined) throw new SyntaxProblem(at, `"${name}" is a function; write ${name}()`)
    throw new SyntaxProblem(at, `unknown name "${name}"; put strings in quotes`)
  }

  private pointer(at: number): Compiled<C> {
    const type = this.elements.at(-1)
    if (type === undefined) throw new SyntaxProblem(at, '"#" is only valid in a closure')
    return { type, evaluate: ({ item }) => item }
  }

  private unary(operator: string, { type, evaluate }: Compiled<C>, at: number): Compiled<C> {
    if (operator === 'not' || operator === '!') {
      if (type.kind !== 'bool' && type.kind !== 'unknown') throw unfitOperand(at, operator, type)
      return { type: BOOL, evaluate: (run) => !truthOf(evaluate(run)) }
    }
    if (!isNumber(type) && type.kind !== 'unknown') throw unfitOperand(at, operator, type)
    const apply = operator === '-' ? negate : (value: Value): Value => value
    return { type, evaluate: (run) => apply(evaluate(run)) }
  }

  private binary({ operator, left, right }: Binary, at: number): Compiled<C> {
    const a = this.compile(left)
    const b = this.compile(right)
    if (operator === '??') return alternative(a, b)
    const isAnd = operator === 'and' || operator === '&&'
    if (isAnd || operator === 'or' || operator === '||') {
      if (both(a.type, b.type, ['bool'], BOOL) === undefined) throw unfit(at, operator, a, b)
      const evaluate: Evaluate<C> = isAnd
        ? (run) => truthOf(a.evaluate(run)) && truthOf(b.evaluate(run))
        : (run) => truthOf(a.evaluate(run)) || truthOf(b.evaluate(run))
      return { type: BOOL, evaluate }
    }
    const operation = operator === 'matches' ? matchOperation(right) : OPERATIONS.get(operator)
    const type = operation?.typeOf(a.type, b.type)
    if (operation === undefined || type === undefined) throw unfit(at, operator, a, b)
    return {
      type,
      evaluate: (run) => {
        const first = a.evaluate(run)
        const second = b.evaluate(run)
        if (isList(second)) run.spend(second.length)
        return run.made(operation.apply(first, second))
      },
    }
  }

  private conditional(node: Extract<SyntaxNode, { kind: 'conditional' }>): Compiled<C> {
    const condition = this.compile(node.condition)
    if (condition.type.kind !== 'bool' && condition.type.kind !== 'unknown') {
      const got = formatExpressionType(condition.type)
      throw new SyntaxProblem(node.condition.at, `a condition must be a bool, this is ${got}`)
    }
    const then = this.compile(node.then)
    const otherwise = this.compile(node.otherwise)
    return {
      type: eitherType(then.type, otherwise.type),
      evaluate: (run) => (truthOf(condition.evaluate(run)) ? then : otherwise).evaluate(run),
    }
  }

  private array(nodes: readonly SyntaxNode[]): Compiled<C> {
    const items = nodes.map((node) => this.compile(node))
    const [first, ...rest] = items.map(({ type }) => type)
    const element = first === undefined ? UNKNOWN : rest.reduce(commonType, first)
    if (nodes.every(({ kind }) => kind === 'literal')) {
      const list = nodes.map((node) => (node.kind === 'literal' ? node.value : undefined))
      return { type: arrayOf(element), evaluate: () => list }
    }
    return {
      type: arrayOf(element),
      evaluate: (run) => run.made(items.map(({ evaluate }) => evaluate(run))),
    }
  }

  private map(nodes: readonly (readonly [SyntaxNode, SyntaxNode])[]): Compiled<C> {
    const pairs = nodes.map(([key, value]) => [this.compile(key), this.compile(value)] as const)
    return {
      type: MAP,
      evaluate: (run) => {
        run.spend(pairs.length)
        return new Map(
          pairs.map(([key, value]) => [valueText(key.evaluate(run)), value.evaluate(run)]),
        )
      },
    }
  }

  private member(node: MemberNode & { readonly at: number }): Compiled<C> {
    const { isOptional, property } = node
    const target = this.compile(node.target)
    const key = this.compile(property)
    const { kind } = target.type
    const isFit =
      kind === 'unknown' ||
      (kind === 'map' && (key.type.kind === 'string' || key.type.kind === 'unknown')) ||
      (kind === 'array' && (key.type.kind === 'int' || key.type.kind === 'unknown'))
    if (!isFit) {
      const of = formatExpressionType(target.type)
      throw new SyntaxProblem(
        property.at,
        `${of} has no element by ${formatExpressionType(key.type)}`,
      )
    }
    return {
      type: target.type.kind === 'array' ? target.type.element : UNKNOWN,
      evaluate: (run) => {
        const from = target.evaluate(run)
        return isOptional && from === undefined ? undefined : memberOf(from, key.evaluate(run))
      },
    }
  }

  private slice({ target, from, to }: Extract<SyntaxNode, { kind: 'slice' }>): Compiled<C> {
    const whole = this.compile(target)
    const { kind } = whole.type
    if (kind !== 'string' && kind !== 'array' && kind !== 'unknown') {
      throw new SyntaxProblem(target.at, `${formatExpressionType(whole.type)} cannot be sliced`)
    }
    const ends = [from, to].map((node) => (node === undefined ? undefined : this.end(node)))
    const [start, end] = ends
    return {
      type: whole.type,
      evaluate: (run) => {
        const value = whole.evaluate(run)
        return run.made(sliceOf(value, start?.(run), end?.(run)))
      },
    }
  }

  private end(node: SyntaxNode): Evaluate<C> {
    const { type, evaluate } = this.compile(node)
    if (type.kind === 'int' || type.kind === 'unknown') return evaluate
    throw new SyntaxProblem(
      node.at,
      `the end of a slice must be an int, not ${formatExpressionType(type)}`,
    )
  }

  private declaration(node: Extract<SyntaxNode, { kind: 'let' }>): Compiled<C> {
    const { name } = node
    const isVariable = this.variables.some((one) => one.name === name)
    if (isVariable || isBuiltIn(name) || this.environment.has(name))
      throw new SyntaxProblem(node.at, `"${name}" is already defined`)
    const { type, evaluate } = this.compile(node.value)
    const index = this.variables.push({ name, type }) - 1
    const body = this.compile(node.body)
    this.variables.pop()
    return {
      type: body.type,
      evaluate: (run) => {
        run.setVariable(index, evaluate(run))
        return body.evaluate(run)
      },
    }
  }

  private sequence(nodes: readonly SyntaxNode[]): Compiled<C> {
    const parts = nodes.map((node) => this.compile(node))
    return {
      type: parts.at(-1)?.type ?? UNKNOWN,
      evaluate: (run) => {
        let last: Value
        for (const { evaluate } of parts) last = evaluate(run)
        return last
      },
    }
  }
}

function literalType(value: Value): Type {
  switch (typeof value) {
    case 'undefined':
      return NIL
    case 'boolean':
      return BOOL
    case 'bigint':
      return INT
    case 'number':
      return FLOAT
    case 'string':
      return STRING
    case 'object':
      return isList(value) ? arrayOf(INT) : UNKNOWN
  }
}

function eitherType(a: Type, b: Type): Type {
  if (a.kind === 'nil') return b
  return b.kind === 'nil' ? a : commonType(a, b)
}

function alternative<C>(a: Compiled<C>, b: Compiled<C>): Compiled<C> {
  return {
    type: eitherType(a.type, b.type),
    evaluate: (run) => a.evaluate(run) ?? b.evaluate(run),
  }
}

function negate(value: Value): Value {
  if (typeof value === 'bigint') return toInt64(-value)
  if (isNumeric(value)) return -value
  throw new ExpressionError(`"-" does not accept ${typeName(value)}`)
}

function memberOf(from: Value, key: Value): Value {
  if (isMap(from)) return from.get(key)
  if (!isList(from)) throw new ExpressionError(`${typeName(from)} has no elements`)
  const index = countOf(key)
  if (index >= from.length || index < -from.length) {
    throw new ExpressionError(`index ${index} is out of range of ${from.length} elements`)
  }
  return from.at(index)
}

/** Clamps the ends to the value; negative ends count from its end. */
function sliceOf(value: Value, from: Value, to: Value): Value {
  if (typeof value !== 'string' && !isList(value)) {
    throw new ExpressionError(`${typeName(value)} cannot be sliced`)
  }
  return value.slice(
    from === undefined ? 0 : countOf(from),
    to === undefined ? undefined : countOf(to),
  )
}

function unfitOperand(at: number, operator: string, type: Type): SyntaxProblem {
  return new SyntaxProblem(at, `"${operator}" does not accept ${formatExpressionType(type)}`)
}

function unfit<C>(at: number, operator: string, a: Compiled<C>, b: Compiled<C>): SyntaxProblem {
  const types = `${formatExpressionType(a.type)} and ${formatExpressionType(b.type)}`
  return new SyntaxProblem(at, `"${operator}" does not accept ${types}`)
}
