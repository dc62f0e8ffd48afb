/**
 * Parses a template into its tree (Go, text/template/parse/parse.go), except for complex numbers
 * and nested templates.
 * @module
 */
import { TemplateError } from './datum.ts'
import { parseNumber, unquote } from './go-quote.ts'
import { checkFormat } from './printf.ts'
import type { Branch, Command, NumberOperand, Operand, Part, Pipe } from './syntax.ts'
import { readTokens, type Token } from './tokens.ts'

/** Nested parts and parentheses. */
const DEPTH_MAX = 100
/** Keywords, which cannot be functions. */
const KEYWORDS: ReadonlySet<string> = new Set(
  'block break continue define else end if nil range template with'.split(' '),
)

/**
 * Parses a template.
 * @param functions names of the known functions
 * @throws {TemplateError}
 */
export function parseTemplate(text: string, functions: ReadonlySet<string>): readonly Part[] {
  return new Parser(readTokens(text), functions).parse()
}

/** Go's functions that no DNS record needs. */
const LEFT_OUT: ReadonlySet<string> = new Set(['call', 'html', 'js', 'urlquery'])

/** How a sequence of parts ends. */
type Ending = 'end' | 'else'

class Parser {
  private readonly tokens: readonly Token[]
  private readonly functions: ReadonlySet<string>
  private readonly variables: string[] = ['$']
  private index = 0
  private depth = 0
  private rangeDepth = 0

  constructor(tokens: readonly Token[], functions: ReadonlySet<string>) {
    this.tokens = tokens
    this.functions = functions
  }

  parse(): readonly Part[] {
    const parts: Part[] = []
    while (this.current.kind !== 'end') parts.push(this.part())
    return parts
  }

  /** Parses parts through `{{end}}`, or up to the word after `{{else`. */
  private parts(): { readonly parts: readonly Part[]; readonly ending: Ending } {
    const parts: Part[] = []
    this.enter()
    for (;;) {
      if (this.current.kind === 'open') {
        const ending = this.isWord('end', 1) ? 'end' : this.isWord('else', 1) ? 'else' : undefined
        if (ending !== undefined) {
          this.index += 2
          this.depth--
          return { parts, ending }
        }
      }
      if (this.current.kind === 'end') throw new TemplateError('{{end}} is missing')
      parts.push(this.part())
    }
  }

  private part(): Part {
    const { kind, text } = this.current
    this.index++
    if (kind === 'text') return { kind, text }
    const word = this.current.kind === 'word' ? this.current.text : ''
    switch (word) {
      case 'if':
      case 'with':
      case 'range':
        this.index++
        return this.branch(word)
      case 'define':
      case 'template':
      case 'block':
        throw new TemplateError(`{{${word}}} is not supported: a template is a single record`)
      case 'break':
      case 'continue':
        this.index++
        if (this.rangeDepth === 0) throw new TemplateError(`{{${word}}} is outside of {{range}}`)
        this.expectClose()
        return { kind: word }
      case 'end':
      case 'else':
        throw new TemplateError(`unexpected {{${word}}}`)
      default:
        return { kind: 'action', pipe: this.pipe('close') }
    }
  }

  private branch(kind: Branch['kind']): Branch {
    const { length } = this.variables
    const pipe = this.pipe('close', kind === 'range' ? 2 : 1)
    if (kind === 'range') this.rangeDepth++
    const { parts: body, ending } = this.parts()
    if (kind === 'range') this.rangeDepth--
    const otherwise = ending === 'end' ? undefined : this.otherwise(kind)
    if (ending === 'end') this.expectClose()
    this.variables.length = length
    return { kind, pipe, body, otherwise }
  }

  /** Parses what follows `else`: parts, or an `if` or `with` that consumes the `{{end}}`. */
  private otherwise(kind: Branch['kind']): readonly Part[] {
    if (kind !== 'range' && this.isWord(kind)) {
      this.index++
      this.enter()
      const branch = this.branch(kind)
      this.depth--
      return [branch]
    }
    this.expectClose()
    const { parts, ending } = this.parts()
    if (ending !== 'end') throw new TemplateError('unexpected second {{else}}')
    this.expectClose()
    return parts
  }

  /** Parses a pipeline and its closing token. */
  private pipe(closing: 'close' | ')', variablesMax = 1): Pipe {
    const { variables, isAssigned } = this.declarations(variablesMax)
    const commands: Command[] = []
    while (!this.isAt(closing)) {
      const command = this.command()
      const [{ kind }] = command
      if (commands.length > 0 && ['dot', 'nil', 'literal', 'number'].includes(kind)) {
        throw new TemplateError('only a function or a method can follow "|"')
      }
      commands.push(command)
    }
    if (commands.length === 0) throw this.unexpected('expected a value')
    this.index++
    return { variables, isAssigned, commands }
  }

  private declarations(max: number): Pick<Pipe, 'variables' | 'isAssigned'> {
    const variables: string[] = []
    let ahead = 0
    while (this.tokens[this.index + ahead]?.kind === 'variable') {
      variables.push(this.tokens[this.index + ahead]?.text ?? '')
      const sign = this.tokens[this.index + ahead + 1]
      if (sign?.kind !== 'sign') break
      if (sign.text === ':=' || sign.text === '=') {
        if (variables.length > max) throw new TemplateError('too many variables before ":="')
        this.index += ahead + 2
        this.variables.push(...variables)
        return { variables, isAssigned: sign.text === '=' }
      }
      if (sign.text !== ',') break
      if (variables.length >= max) throw new TemplateError('too many variables')
      ahead += 2
    }
    if (ahead > 0) throw new TemplateError('expected ":=" after the variables')
    return { variables: [], isAssigned: false }
  }

  private command(): Command {
    const first = this.operand()
    const rest: Operand[] = []
    while (!this.isAt('close') && !this.isAt(')')) {
      if (this.isSign('|')) {
        this.index++
        break
      }
      if (!this.current.isSpaced) throw this.unexpected('expected a space')
      rest.push(this.operand())
    }
    const [format] = rest
    if (first.kind === 'function' && first.name === 'printf' && format?.kind === 'literal') {
      checkFormat(String(format.value))
    }
    return [first, ...rest]
  }

  private operand(): Operand {
    const from = this.term()
    const path: string[] = []
    while (this.current.kind === 'field' && !this.current.isSpaced) {
      path.push(this.current.text.slice(1))
      this.index++
    }
    if (path.length === 0) return from
    switch (from.kind) {
      case 'field':
      case 'variable':
        return { ...from, path: [...from.path, ...path] }
      case 'pipe':
      case 'function':
        return { kind: 'chain', from, path }
      default:
        throw new TemplateError(`unexpected ".${path[0]}": the value before it has no fields`)
    }
  }

  private term(): Operand {
    const { kind, text } = this.current
    this.index++
    switch (kind) {
      case 'dot':
        return { kind }
      case 'field':
        return { kind, path: [text.slice(1)] }
      case 'variable':
        if (!this.variables.includes(text)) throw new TemplateError(`there is no variable ${text}`)
        return { kind, name: text, path: [] }
      case 'word':
        return this.word(text)
      case 'string':
        return { kind: 'literal', value: this.unquoted(text), text }
      case 'number':
      case 'character':
        return numberOperand(text)
      case 'sign':
        if (text === '(') return this.parenthesized()
    }
    this.index--
    throw this.unexpected('expected a value')
  }

  private word(text: string): Operand {
    if (text === 'true' || text === 'false') {
      return { kind: 'literal', value: text === 'true', text }
    }
    if (text === 'nil') return { kind: 'nil' }
    if (KEYWORDS.has(text)) throw new TemplateError(`unexpected "${text}"`)
    if (LEFT_OUT.has(text)) throw new TemplateError(`the function "${text}" is not supported`)
    if (!this.functions.has(text)) throw new TemplateError(`there is no function "${text}"`)
    return { kind: 'function', name: text }
  }

  private parenthesized(): Operand {
    this.enter()
    const pipe = this.pipe(')')
    this.depth--
    return { kind: 'pipe', pipe }
  }

  private unquoted(text: string): string {
    const value = unquote(text)
    if (value === undefined) throw new TemplateError(`${text} has an invalid escape`)
    return value
  }

  private enter(): void {
    if (++this.depth > DEPTH_MAX) {
      throw new TemplateError(`over ${DEPTH_MAX} nested parts`)
    }
  }

  private get current(): Token {
    return this.tokens[this.index] ?? { kind: 'end', text: 'the end', isSpaced: false }
  }

  private isWord(text: string, ahead = 0): boolean {
    const token = this.tokens[this.index + ahead]
    return token?.kind === 'word' && token.text === text
  }

  private isSign(text: string): boolean {
    return this.current.kind === 'sign' && this.current.text === text
  }

  private isAt(closing: 'close' | ')'): boolean {
    return closing === 'close' ? this.current.kind === 'close' : this.isSign(')')
  }

  private expectClose(): void {
    if (this.current.kind !== 'close') throw this.unexpected('expected "}}"')
    this.index++
  }

  private unexpected(wanted: string): TemplateError {
    return new TemplateError(`${wanted}, got ${this.current.text}`)
  }
}

function numberOperand(text: string): NumberOperand {
  const value = parseNumber(text)
  if (value === undefined) throw new TemplateError(`${text} is not a number`)
  return { kind: 'number', value, text }
}
