/**
 * Parses an expression to its syntax tree (github.com/expr-lang/expr, parser).
 * @module
 */
import {
  BINARY,
  CLOSURE_CALLS,
  COMPARISONS,
  FROM_THE_RIGHT,
  NEGATABLE,
  type SyntaxNode,
  UNARY,
} from './grammar.ts'
import { type Lexeme, readLexemes } from './lexemes.ts'
import { SyntaxProblem, type Value } from './value.ts'

/** Maximum length of an expression. */
const SOURCE_MAX = 65_536
/** Maximum number of nodes, as in expr-lang. */
const NODES_MAX = 10_000
/** Maximum depth of nested nodes. */
const DEPTH_MAX = 200

const INT_MAX = 2n ** 63n - 1n
const END: Lexeme = { kind: 'end', text: '', at: 0 }
const NAME_LIKE = /^[\p{L}_$][\p{L}\p{Nd}_$]*$/u

/**
 * Parses an expression.
 * @param isOverridden whether a function of the environment shadows a built-in one
 * @throws {SyntaxProblem}
 */
export function parseExpression(
  source: string,
  isOverridden: (name: string) => boolean,
): SyntaxNode {
  if (source.length > SOURCE_MAX) {
    throw new SyntaxProblem(0, `an expression has at most ${SOURCE_MAX} characters`)
  }
  return new Parser(readLexemes(source), isOverridden).parse()
}

/** A binary operator that the parser has seen but not consumed. */
type Operator = { readonly text: string; readonly isNegated: boolean; readonly precedence: number }

class Parser {
  private readonly lexemes: readonly Lexeme[]
  private readonly isOverridden: (name: string) => boolean
  private index = 0
  private nodeCount = 0
  private depth = 0
  /** Number of enclosing closures. */
  private closureDepth = 0

  constructor(lexemes: readonly Lexeme[], isOverridden: (name: string) => boolean) {
    this.lexemes = lexemes
    this.isOverridden = isOverridden
  }

  parse(): SyntaxNode {
    const node = this.sequence()
    if (this.current.kind !== 'end') throw this.unexpected()
    return node
  }

  private sequence(): SyntaxNode {
    const { at } = this.current
    const nodes = [this.expression(0)]
    while (this.accept(';') && this.current.kind !== 'end') nodes.push(this.expression(0))
    const [only] = nodes
    return only !== undefined && nodes.length === 1
      ? only
      : this.made({ kind: 'sequence', at, nodes })
  }

  private expression(precedence: number): SyntaxNode {
    this.depth++
    if (this.depth > DEPTH_MAX) {
      throw new SyntaxProblem(
        this.current.at,
        `an expression has at most ${DEPTH_MAX} nested parts`,
      )
    }
    const node = this.operation(precedence)
    this.depth--
    return node
  }

  private operation(precedence: number): SyntaxNode {
    if (precedence === 0 && this.is('let')) return this.declaration()
    if (precedence === 0 && this.is('if')) return this.ifElse()
    let left = this.primary()
    let before = ''
    for (;;) {
      const operator = this.nextOperator()
      if (operator === undefined || operator.precedence < precedence) break
      if (before === '??' && operator.text !== '??' && operator.text !== '|') {
        throw this.unexpected('put "??" and its operands in parentheses before another operator')
      }
      left = this.binary(left, operator)
      before = operator.text
    }
    return precedence === 0 ? this.ternary(left) : left
  }

  private nextOperator(): Operator | undefined {
    const { kind, text } = this.current
    if (kind !== 'operator') return undefined
    const isNegated = text === 'not'
    const lexeme = isNegated ? this.lexemes[this.index + 1] : this.current
    if (isNegated && !NEGATABLE.has(lexeme?.text ?? '')) throw this.unexpected()
    const precedence = BINARY.get(lexeme?.text ?? '')
    return precedence === undefined || lexeme === undefined
      ? undefined
      : { text: lexeme.text, isNegated, precedence }
  }

  private binary(left: SyntaxNode, { text, isNegated, precedence }: Operator): SyntaxNode {
    if (isNegated) this.index++
    const { at } = this.current
    this.index++
    if (text === '|') return this.call(this.expectName(), left)
    if (COMPARISONS.has(text)) return this.comparison(left, { at, text, precedence })
    const right = this.expression(FROM_THE_RIGHT.has(text) ? precedence : precedence + 1)
    const node = this.made({ kind: 'binary', at, operator: text, left, right })
    return isNegated ? this.made({ kind: 'unary', at, operator: 'not', operand: node }) : node
  }

  /** Parses `a < b < c` as `a < b and b < c`. */
  private comparison(
    first: SyntaxNode,
    { at, text: operator, precedence }: Omit<Operator, 'isNegated'> & { readonly at: number },
  ): SyntaxNode {
    const right = this.expression(precedence + 1)
    const node = this.made({ kind: 'binary', at, operator, left: first, right })
    const next = this.current
    if (next.kind !== 'operator' || !COMPARISONS.has(next.text)) return node
    this.index++
    const rest = this.comparison(right, { at: next.at, text: next.text, precedence })
    return this.made({ kind: 'binary', at, operator: '&&', left: node, right: rest })
  }

  private ternary(first: SyntaxNode): SyntaxNode {
    let node = first
    while (this.is('?')) {
      const { at } = this.current
      this.index++
      const condition = node
      const then = this.is(':') ? condition : this.expression(0)
      this.expect(':')
      const otherwise = this.expression(0)
      node = this.made({ kind: 'conditional', at, condition, then, otherwise })
    }
    return node
  }

  private declaration(): SyntaxNode {
    this.expect('let')
    const { at, text: name } = this.expectName()
    this.expect('=')
    const value = this.expression(0)
    this.expect(';')
    return this.made({ kind: 'let', at, name, value, body: this.sequence() })
  }

  private ifElse(): SyntaxNode {
    const { at } = this.current
    this.expect('if')
    const condition = this.expression(0)
    const then = this.braced()
    this.expect('else')
    const otherwise = this.is('if') ? this.expression(0) : this.braced()
    return this.made({ kind: 'conditional', at, condition, then, otherwise })
  }

  private braced(): SyntaxNode {
    this.expect('{')
    const node = this.sequence()
    this.expect('}')
    return node
  }

  private primary(): SyntaxNode {
    const { kind, text, at } = this.current
    const precedence = kind === 'operator' ? UNARY.get(text) : undefined
    if (precedence !== undefined) {
      this.index++
      const operand = this.expression(precedence)
      return this.postfix(this.made({ kind: 'unary', at, operator: text, operand }))
    }
    if (this.accept('(')) {
      const node = this.sequence()
      this.expect(')')
      return this.postfix(node)
    }
    if (this.closureDepth > 0 && (this.is('#') || this.is('.'))) {
      if (this.accept('#') && this.current.at === at + 1 && this.current.kind === 'name') {
        throw new SyntaxProblem(at, `"#${this.current.text}" is not supported, only "#" is`)
      }
      return this.postfix(this.made({ kind: 'pointer', at }))
    }
    return this.operand()
  }

  private operand(): SyntaxNode {
    const lexeme = this.current
    const { kind, text, at } = lexeme
    if (this.is('[')) return this.postfix(this.array())
    if (this.is('{')) return this.postfix(this.map())
    this.index++
    if (kind === 'number') {
      return this.made({ kind: 'literal', at, value: parseNumber(lexeme) })
    }
    if (kind === 'string') {
      return this.postfix(this.made({ kind: 'literal', at, value: text }))
    }
    if (kind === 'name') {
      if (text === 'nil') return this.made({ kind: 'literal', at, value: undefined })
      if (text === 'true' || text === 'false') {
        return this.made({ kind: 'literal', at, value: text === 'true' })
      }
      const node = this.is('(') ? this.call(lexeme) : this.made({ kind: 'name', at, name: text })
      return this.postfix(node)
    }
    this.index--
    throw this.unexpected()
  }

  private call({ text: name, at }: Lexeme, piped?: SyntaxNode): SyntaxNode {
    const args = piped === undefined ? [] : [piped]
    this.expect('(')
    if (!CLOSURE_CALLS.has(name) || this.isOverridden(name)) args.push(...this.args())
    else {
      if (piped === undefined) args.push(this.expression(0))
      const hasClosure = name !== 'count' || !this.is(')')
      if (hasClosure && piped === undefined) this.expect(',')
      if (hasClosure) args.push(this.closure())
      this.accept(',')
      this.expect(')')
    }
    return this.made({ kind: 'call', at, name, args })
  }

  /** Parses arguments after the opening parenthesis. */
  private args(): SyntaxNode[] {
    return this.list(')', () => this.expression(0))
  }

  private closure(): SyntaxNode {
    const { at } = this.current
    this.closureDepth++
    const body = this.is('{') ? this.braced() : this.expression(0)
    this.closureDepth--
    return this.made({ kind: 'closure', at, body })
  }

  private array(): SyntaxNode {
    const { at } = this.current
    this.index++
    return this.made({ kind: 'array', at, items: this.list(']', () => this.expression(0)) })
  }

  private map(): SyntaxNode {
    const { at } = this.current
    this.index++
    return this.made({ kind: 'map', at, pairs: this.list('}', () => this.pair()) })
  }

  private pair(): readonly [SyntaxNode, SyntaxNode] {
    const { kind, text, at } = this.current
    const isPlain = kind === 'number' || kind === 'string' || kind === 'name'
    if (isPlain) this.index++
    else if (!this.is('(')) throw this.unexpected('expected a key or a parenthesized key')
    const key = isPlain ? this.made({ kind: 'literal', at, value: text }) : this.expression(0)
    this.expect(':')
    return [key, this.expression(0)]
  }

  /**
   * Parses a comma-separated list up to and including its closing bracket; accepts a final comma.
   */
  private list<T>(closing: string, read: () => T): T[] {
    const items: T[] = []
    while (!this.accept(closing)) {
      if (items.length > 0) this.expect(',')
      if (items.length > 0 && this.accept(closing)) break
      items.push(read())
    }
    return items
  }

  private postfix(first: SyntaxNode): SyntaxNode {
    let node = first
    let isOptional = false
    for (;;) {
      const { at } = this.current
      const isChain = this.accept('?.')
      isOptional ||= isChain
      if (this.accept('.') || (isChain && !this.is('['))) {
        const property = this.property()
        if (this.is('(') && first.kind === 'name' && first.name === '$env') {
          throw new SyntaxProblem(first.at, '"$env" is not supported; write the name without it')
        }
        if (this.is('(')) {
          const { value } = property
          const hint = `write ${value}(…), or "| ${value}(…)"`
          throw new SyntaxProblem(property.at, `values have no methods; ${hint}`)
        }
        node = this.made({ kind: 'member', property, at, target: node, isOptional })
      } else if (this.accept('[')) node = this.element(node, at, isOptional)
      else return node
    }
  }

  private property(): { kind: 'literal'; at: number; value: string } {
    const { kind, text, at } = this.current
    if (kind !== 'name' && !(kind === 'operator' && NAME_LIKE.test(text))) {
      throw this.unexpected('expected a name')
    }
    this.index++
    return { kind: 'literal', at, value: text }
  }

  /** Parses an index or a slice after the opening bracket. */
  private element(target: SyntaxNode, at: number, isOptional: boolean): SyntaxNode {
    const from = this.is(':') ? undefined : this.expression(0)
    if (!this.accept(':')) {
      this.expect(']')
      const property = from ?? target
      return this.made({ kind: 'member', at, target, property, isOptional })
    }
    const to = this.is(']') ? undefined : this.expression(0)
    this.expect(']')
    return this.made({ kind: 'slice', at, target, from, to })
  }

  private get current(): Lexeme {
    return this.lexemes[this.index] ?? END
  }

  private is(text: string): boolean {
    const { kind, text: own } = this.current
    return (kind === 'operator' || kind === 'bracket') && own === text
  }

  private accept(text: string): boolean {
    const isHere = this.is(text)
    if (isHere) this.index++
    return isHere
  }

  private expect(text: string): void {
    if (!this.accept(text)) throw this.unexpected(`expected "${text}"`)
  }

  private expectName(): Lexeme {
    const lexeme = this.current
    if (lexeme.kind !== 'name') throw this.unexpected('expected a name')
    this.index++
    return lexeme
  }

  private unexpected(wanted = 'expected a value or an operator'): SyntaxProblem {
    const { kind, text, at } = this.current
    if (kind === 'end') return new SyntaxProblem(at, `${wanted}, got the end of the expression`)
    const hint = text === '=' ? '; write "==" to compare' : ''
    return new SyntaxProblem(at, `${wanted}, got "${text}"${hint}`)
  }

  private made(node: SyntaxNode): SyntaxNode {
    this.nodeCount++
    if (this.nodeCount > NODES_MAX) {
      throw new SyntaxProblem(node.at, `an expression has at most ${NODES_MAX} parts`)
    }
    return node
  }
}

function parseNumber({ text, at }: Lexeme): Value {
  const digits = text.replaceAll('_', '')
  const isWhole = /^0[xob]/i.test(digits) || !/[.e]/i.test(digits)
  if (!isWhole) return Number(digits)
  const value = BigInt(digits)
  if (value > INT_MAX) throw new SyntaxProblem(at, `${text} is over ${INT_MAX}`)
  return value
}
