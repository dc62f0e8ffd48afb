/**
 * The grammar of expressions: the syntax tree, the precedence of operators, and the functions that
 * take a closure (github.com/expr-lang/expr, ast, parser).
 * @module
 */
import type { Value } from './value.ts'

/** A node of the syntax tree; `at` is its offset in the source. */
export type Node = { readonly at: number } & (
  | { readonly kind: 'literal'; readonly value: Value }
  | { readonly kind: 'name'; readonly name: string }
  /** `#` within a closure. */
  | { readonly kind: 'pointer' }
  | { readonly kind: 'unary'; readonly operator: string; readonly operand: Node }
  | Binary
  | {
      readonly kind: 'conditional'
      readonly condition: Node
      readonly then: Node
      readonly otherwise: Node
    }
  | { readonly kind: 'array'; readonly items: readonly Node[] }
  | { readonly kind: 'map'; readonly pairs: readonly (readonly [key: Node, value: Node])[] }
  | Member
  | {
      readonly kind: 'slice'
      readonly target: Node
      readonly from: Node | undefined
      readonly to: Node | undefined
    }
  | Call
  /** An argument that a function applies to each element of an array. */
  | { readonly kind: 'closure'; readonly body: Node }
  | { readonly kind: 'let'; readonly name: string; readonly value: Node; readonly body: Node }
  | { readonly kind: 'sequence'; readonly nodes: readonly Node[] }
)

/** Two operands and the operator between them. */
export type Binary = {
  readonly kind: 'binary'
  readonly operator: string
  readonly left: Node
  readonly right: Node
}

/** An element of an array or a map. */
export type Member = {
  readonly kind: 'member'
  readonly target: Node
  readonly property: Node
  /** Whether an element of nil is nil, as after `?.`. */
  readonly isOptional: boolean
}

/** A function call. */
export type Call = {
  readonly kind: 'call'
  readonly name: string
  readonly args: readonly Node[]
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
