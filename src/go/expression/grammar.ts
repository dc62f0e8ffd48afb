/**
 * The grammar of expressions: the syntax tree, the precedence of operators, and the functions that
 * take a closure (github.com/expr-lang/expr, ast, parser).
 * @module
 */
import type { Value } from './value.ts'

/** A node of the syntax tree; `at` is its offset in the source. */
export type SyntaxNode = { readonly at: number } & (
  | { readonly kind: 'literal'; readonly value: Value }
  | { readonly kind: 'name'; readonly name: string }
  /** `#` within a closure. */
  | { readonly kind: 'pointer' }
  | { readonly kind: 'unary'; readonly operator: string; readonly operand: SyntaxNode }
  | Binary
  | {
      readonly kind: 'conditional'
      readonly condition: SyntaxNode
      readonly then: SyntaxNode
      readonly otherwise: SyntaxNode
    }
  | { readonly kind: 'array'; readonly items: readonly SyntaxNode[] }
  | {
      readonly kind: 'map'
      readonly pairs: readonly (readonly [key: SyntaxNode, value: SyntaxNode])[]
    }
  | MemberNode
  | {
      readonly kind: 'slice'
      readonly target: SyntaxNode
      readonly from: SyntaxNode | undefined
      readonly to: SyntaxNode | undefined
    }
  | Call
  /** An argument that a function applies to each element of an array. */
  | { readonly kind: 'closure'; readonly body: SyntaxNode }
  | {
      readonly kind: 'let'
      readonly name: string
      readonly value: SyntaxNode
      readonly body: SyntaxNode
    }
  | { readonly kind: 'sequence'; readonly nodes: readonly SyntaxNode[] }
)

/** Two operands and the operator between them. */
export type Binary = {
  readonly kind: 'binary'
  readonly operator: string
  readonly left: SyntaxNode
  readonly right: SyntaxNode
}

/** An element of an array or a map. */
export type MemberNode = {
  readonly kind: 'member'
  readonly target: SyntaxNode
  readonly property: SyntaxNode
  /** Whether an element of nil is nil, as after `?.`. */
  readonly isOptional: boolean
}

/** A function call. */
export type Call = {
  readonly kind: 'call'
  readonly name: string
  readonly args: readonly SyntaxNode[]
}

/** Precedence of the unary operators. */
export const UNARY: ReadonlyMap<string, number> = new Map([
  ['not', 50],
  ['!', 50],
  ['-', 90],
  ['+', 90],
])
/** The binary operators by precedence. */
const BY_PRECEDENCE: Readonly<Record<number, string>> = {
  0: '|',
  10: 'or ||',
  15: 'and &&',
  20: '== != < > >= <= in matches contains startsWith endsWith',
  25: '..',
  30: '+ -',
  60: '* / %',
  100: '** ^',
  500: '??',
}
/** Precedence of the binary operators. */
export const BINARY: ReadonlyMap<string, number> = new Map(
  Object.entries(BY_PRECEDENCE).flatMap(([precedence, operators]) =>
    operators.split(' ').map((operator) => [operator, Number(precedence)]),
  ),
)
/** Operators that can be chained: `1 < x < 9`. */
export const COMPARISONS: ReadonlySet<string> = new Set(['<', '>', '>=', '<='])
/** Right-associative operators. */
export const FROM_THE_RIGHT: ReadonlySet<string> = new Set(['**', '^'])
/** Operators that accept `not` before them: `x not in y`. */
export const NEGATABLE: ReadonlySet<string> = new Set(
  'in matches contains startsWith endsWith'.split(' '),
)

/** Functions that take a closure after the array. Only `count` can do without it. */
export const CLOSURE_CALLS: ReadonlySet<string> = new Set(
  'all none any one filter map find findIndex count'.split(' '),
)
