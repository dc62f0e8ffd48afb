/**
 * The syntax tree of a template, and its text in Go's normal form (Go,
 * text/template/parse/node.go), a label of CoreDNS's metrics.
 * @module
 */

/** A part of a template. */
export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'action'; readonly pipe: Pipe }
  | Branch
  | { readonly kind: 'break' }
  | { readonly kind: 'continue' }

/** `if`, `with` or `range`. */
export type Branch = {
  readonly kind: 'if' | 'with' | 'range'
  readonly pipe: Pipe
  readonly body: readonly Part[]
  readonly otherwise: readonly Part[] | undefined
}

/** Commands that pass their results on; the variables receive the last result. */
export type Pipe = {
  readonly variables: readonly string[]
  /** Whether the variables were declared before (`=`, not `:=`). */
  readonly isAssigned: boolean
  readonly commands: readonly Command[]
}

/** An operand and its arguments. */
export type Command = readonly [Operand, ...Operand[]]

/** A value, a function, or a path to a field or method. */
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

/** A number, whose type depends on its use. */
export type NumberOperand = {
  readonly kind: 'number'
  readonly value: bigint | number
  readonly text: string
}

/** Formats parts in Go's normal form. */
export function formatParts(parts: readonly Part[]): string {
  return parts.map(formatPart).join('')
}

function formatPart(part: Part): string {
  switch (part.kind) {
    case 'text':
      return part.text
    case 'action':
      return `{{${formatPipe(part.pipe)}}}`
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
