/**
 * Static types of expressions, to find mistakes before an evaluation (github.com/expr-lang/expr,
 * checker).
 * @module
 */

/** A static type. `unknown` is known only at evaluation and is accepted everywhere. */
export type Type = ScalarType | { readonly kind: 'array'; readonly element: Type }
type ScalarType = {
  readonly kind: 'unknown' | 'nil' | 'bool' | 'int' | 'float' | 'string' | 'map'
}

/** Known only when the expression is evaluated. */
export const UNKNOWN: Type = { kind: 'unknown' }
/** The type of nil. */
export const NIL: Type = { kind: 'nil' }
/** True or false. */
export const BOOL: Type = { kind: 'bool' }
/** 64-bit integers. */
export const INT: Type = { kind: 'int' }
/** Floating-point numbers. */
export const FLOAT: Type = { kind: 'float' }
/** Strings. */
export const STRING: Type = { kind: 'string' }
/** Maps with string keys. */
export const MAP: Type = { kind: 'map' }
/** Arrays with elements of any type. */
export const ARRAY: Type = { kind: 'array', element: UNKNOWN }

/** Returns the type of an array. */
export function arrayOf(element: Type): Type {
  return { kind: 'array', element }
}

/** Returns whether values of the type are numbers. */
export function isNumber({ kind }: Type): boolean {
  return kind === 'int' || kind === 'float'
}

/** Returns whether `==` accepts these types. */
export function isComparable(a: Type, b: Type): boolean {
  const hasNone = [a.kind, b.kind].some((kind) => kind === 'unknown' || kind === 'nil')
  return hasNone || a.kind === b.kind || (isNumber(a) && isNumber(b))
}

/** Returns the common type of two: the same type, or else `unknown`. */
export function commonType(a: Type, b: Type): Type {
  if (a.kind === 'array' && b.kind === 'array') return arrayOf(commonType(a.element, b.element))
  return a.kind === b.kind ? a : UNKNOWN
}

/** Formats a type for messages, such as `array of string`. */
export function formatExpressionType(type: Type): string {
  if (type.kind !== 'array') return type.kind
  return type.element.kind === 'unknown'
    ? 'array'
    : `array of ${formatExpressionType(type.element)}`
}
