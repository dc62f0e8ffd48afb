/**
 * What a regular expression is made of, and the error for a text that is none.
 * @module
 */

/** An expression that cannot be used; the message says why, for people. */
export class PatternError extends Error {
  override readonly name = 'PatternError'
}

/** A range of code points, both ends in it. */
export type CodeRange = readonly [first: number, last: number]

/** A set of characters: those in any of the ranges or with any of the Unicode properties. */
export type CharacterSet = {
  readonly ranges: readonly CodeRange[]
  /** Sets that count as well, such as those of `\D` and `\pL` within brackets. */
  readonly sets: readonly CharacterSet[]
  /** Name of a Unicode property, as in `\p{Greek}`. */
  readonly property?: string
  readonly isNegated: boolean
  /** Whether letter case does not matter. */
  readonly folds: boolean
}

/** A condition on a place between characters. */
export type Assertion = 'text-start' | 'text-end' | 'line-start' | 'line-end' | 'word' | 'not-word'

/** A part of an expression. */
export type Node =
  | { readonly kind: 'empty' }
  | { readonly kind: 'set'; readonly set: CharacterSet }
  | { readonly kind: 'assertion'; readonly assertion: Assertion }
  | { readonly kind: 'group'; readonly index: number; readonly body: Node }
  | { readonly kind: 'sequence'; readonly parts: readonly Node[] }
  | { readonly kind: 'choice'; readonly parts: readonly Node[] }
  | {
      readonly kind: 'repeat'
      readonly body: Node
      readonly min: number
      /** Infinity for any number. */
      readonly max: number
      /** Whether few are tried before many. */
      readonly isLazy: boolean
    }

/** The part that matches nothing but the place itself. */
export const EMPTY_NODE: Node = { kind: 'empty' }

/** Makes a set of ranges. */
export function setOf(ranges: readonly CodeRange[], folds = false): CharacterSet {
  return { ranges, sets: [], isNegated: false, folds }
}

/** Makes the set of what is not in another. */
export function negated(set: CharacterSet): CharacterSet {
  return { ranges: [], sets: [set], isNegated: true, folds: false }
}

/** The one character that a set stands for, as a string; `undefined` when it is not one. */
export function onlyCharacter(set: CharacterSet): string | undefined {
  const [range, ...others] = set.ranges
  if (range === undefined || others.length > 0 || set.sets.length > 0) return undefined
  const text = String.fromCodePoint(range[0])
  const isOne = range[0] === range[1] && !set.isNegated && set.property === undefined
  const hasCase = set.folds && text.toLowerCase() !== text.toUpperCase()
  return isOne && !hasCase ? text : undefined
}
