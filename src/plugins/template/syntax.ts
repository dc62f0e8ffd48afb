/**
 * The tree of a template, and its text again in Go's normal form (Go, text/template/parse/node.go),
 * which CoreDNS's metrics have for a label.
 * @module
 */

/** A part of a template. */
export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'action'; readonly pipe: Pipe }
  | Branch
  | { readonly kind: 'template'; readonly name: string; readonly pipe: Pipe | undefined }
  | { readonly kind: 'break' }
  | { readonly kind: 'continue' }

/** `if`, `with` or `range`. */
export type Branch = {
  readonly kind: 'if' | 'with' | 'range'
  readonly pipe: Pipe
  readonly body: readonly Part[]
  readonly otherwise: readonly Part[] | undefined
}

/** Commands of which each is given the result of the one before; the last is kept in variables. */
export type Pipe = {
  readonly variables: readonly string[]
  /** Whether the variables were there before. */
  readonly isAssigned: boolean
  readonly commands: readonly Command[]
}

/** What is done, and what with. */
export type Command = readonly [Operand, ...Operand[]]

/** A value, a function, or a way to one. */
export type Operand =
  | { readonly kind: 'dot' }
  | { readonly kind: 'nil' }
  | { readonly kind: 'literal'; readonly value: string | boolean; readonly text: string }
  | NumberOperand
  | { readonly kind: 'function'; readonly name: string }
  | { readonly kind: 'variable'; readonly name: string; readonly path: readonly string[] }
  | { readonly kind: 'field'; readonly path: readonly string[] }
  | { readonly kind: 'pipe'; readonly pipe: Pipe }
  | { readonly kind: 'chain'; readonly from: Operand; readonly path: readonly string[] }

/** A number, which has no type before it is used. */
export type NumberOperand = {
  readonly kind: 'number'
  readonly value: bigint | number
  readonly text: string
}

/** A template and those that it defines. */
export type Template = {
  readonly parts: readonly Part[]
  readonly definitions: ReadonlyMap<string, readonly Part[]>
}

/** Formats parts as Go does. */
export function formatParts(parts: readonly Part[]): string {
  return parts.map(formatPart).join('')
}

function formatPart(part: Part): string {
  switch (part.kind) {
    case 'text':
      return part.text
    case 'action':
      return `{{${formatPipe(part.pipe)}}}`
    case 'template': {
      const pipe = part.pipe === undefined ? '' : ` ${formatPipe(part.pipe)}`
      return `{{template ${JSON.stringify(part.name)}${pipe}}}`
    }
    case 'break':
    case 'continue':
      return `{{${part.kind}}}`
    default: {
      const otherwise = part.otherwise === undefined ? '' : `{{else}}${formatParts(part.otherwise)}`
      const head = `{{${part.kind} ${formatPipe(part.pipe)}}}`
      return `${head}${formatParts(part.body)}${otherwise}{{end}}`
    }
  }
}

function formatPipe({ variables, isAssigned, commands }: Pipe): string {
  const names = variables.length === 0 ? '' : `${variables.join(', ')} ${isAssigned ? '=' : ':='} `
  return names + commands.map((command) => command.map(formatOperand).join(' ')).join(' | ')
}

function formatOperand(operand: Operand): string {
  switch (operand.kind) {
    case 'dot':
      return '.'
    case 'nil':
      return 'nil'
    case 'literal':
    case 'number':
      return operand.text
    case 'function':
      return operand.name
    case 'variable':
      return [operand.name, ...operand.path].join('.')
    case 'field':
      return operand.path.map((name) => `.${name}`).join('')
    case 'pipe':
      return `(${formatPipe(operand.pipe)})`
    case 'chain':
      return [formatOperand(operand.from), ...operand.path].join('.')
  }
}
