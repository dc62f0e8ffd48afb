/**
 * The grammar of expressions: the tree that they make, operators and how closely they bind, and the
 * functions that take a closure (github.com/expr-lang/expr, ast, parser).
 * @module
 */
import type { Value } from './value.ts'

/** A part of an expression; `at` is where it stands in the text. */
export type Node = { readonly at: number } & (
  | { readonly kind: 'literal'; readonly value: Value }
  | { readonly kind: 'name'; readonly name: string }
  /** `#`, `#index` or `#acc` within a closure. */
  | { readonly kind: 'pointer'; readonly name: string }
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
  | MethodCall
  /** What a built-in function is given to apply to each element of a list. */
  | { readonly kind: 'closure'; readonly body: Node }
  | { readonly kind: 'let'; readonly name: string; readonly value: Node; readonly body: Node }
  | { readonly kind: 'sequence'; readonly nodes: readonly Node[] }
)

/** Two operands and what is between them. */
export type Binary = {
  readonly kind: 'binary'
  readonly operator: string
  readonly left: Node
  readonly right: Node
}

/** An element of a list or a map. */
export type Member = {
  readonly kind: 'member'
  readonly target: Node
  readonly property: Node
  /** Whether nil instead of a list or map gives nil, as behind `?.`. */
  readonly isOptional: boolean
}

/** A function and what it is given. */
export type Call = {
  readonly kind: 'call'
  readonly name: string
  readonly args: readonly Node[]
  /** Whether functions of the environment are passed over, as behind `::`. */
  readonly isBuiltin: boolean
}

/** A method of a value, and what it is given. */
export type MethodCall = {
  readonly kind: 'method'
  readonly at: number
  readonly target: Node
  readonly name: string
  readonly args: readonly Node[]
  /** Whether nil has it and gives nil, as behind `?.`. */
  readonly isOptional: boolean
}

/** How closely an operator before its operand binds. */
export const UNARY: ReadonlyMap<string, number> = new Map([
  ['not', 50],
  ['!', 50],
  ['-', 90],
  ['+', 90],
])
/** How closely an operator between its operands binds. */
export const BINARY: ReadonlyMap<string, number> = new Map([
  ['|', 0],
  ['or', 10],
  ['||', 10],
  ['and', 15],
  ['&&', 15],
  ['==', 20],
  ['!=', 20],
  ['<', 20],
  ['>', 20],
  ['>=', 20],
  ['<=', 20],
  ['in', 20],
  ['matches', 20],
  ['contains', 20],
  ['startsWith', 20],
  ['endsWith', 20],
  ['..', 25],
  ['+', 30],
  ['-', 30],
  ['*', 60],
  ['/', 60],
  ['%', 60],
  ['**', 100],
  ['^', 100],
  ['??', 500],
])
/** Operators that may be chained: `1 < x < 9`. */
export const COMPARISONS: ReadonlySet<string> = new Set(['<', '>', '>=', '<='])
/** Operators of which several are taken from the right. */
export const FROM_THE_RIGHT: ReadonlySet<string> = new Set(['**', '^'])
/** Operators that `not` may stand before. */
export const NEGATABLE: ReadonlySet<string> = new Set([
  'in',
  'matches',
  'contains',
  'startsWith',
  'endsWith',
])

/** What may stand behind a list in the call of a function that applies a closure. */
export type ClosureArg = 'closure' | 'closure?' | 'value?'

/** What functions that apply a closure take behind the list. */
export const CLOSURE_ARGS: ReadonlyMap<string, readonly ClosureArg[]> = new Map([
  ...['all', 'none', 'any', 'one', 'filter', 'map', 'find', 'findIndex', 'findLast'].map(
    (name): [string, readonly ClosureArg[]] => [name, ['closure']],
  ),
  ['findLastIndex', ['closure']],
  ['groupBy', ['closure']],
  ['count', ['closure?']],
  ['sum', ['closure?']],
  ['sortBy', ['closure', 'value?']],
  ['reduce', ['closure', 'value?']],
])
