/**
 * Types of expressions, by which mistakes are found before anything is evaluated
 * (github.com/expr-lang/expr, checker).
 * @module
 */

/** A type. `unknown` is for what is only known when it is evaluated, and goes with everything. */
export type Type = ScalarType | { readonly kind: 'array'; readonly element: Type }
type ScalarType = {
  readonly kind: 'unknown' | 'nil' | 'bool' | 'int' | 'float' | 'string' | 'map' | TimeKind
}
type TimeKind = 'time.Time' | 'time.Duration' | 'time.Location' | 'time.Weekday' | 'time.Month'

/** What is only known when it is evaluated. */
export const UNKNOWN: Type = { kind: 'unknown' }
/** Nothing. */
export const NIL: Type = { kind: 'nil' }
/** Truth. */
export const BOOL: Type = { kind: 'bool' }
/** Whole numbers. */
export const INT: Type = { kind: 'int' }
/** Floating-point numbers. */
export const FLOAT: Type = { kind: 'float' }
/** Text. */
export const STRING: Type = { kind: 'string' }
/** Maps. */
export const MAP: Type = { kind: 'map' }
/** Points in time. */
export const TIME: Type = { kind: 'time.Time' }
/** Lengths of time. */
export const DURATION: Type = { kind: 'time.Duration' }
/** Zones of time. */
export const LOCATION: Type = { kind: 'time.Location' }
/** Days of the week. */
export const WEEKDAY: Type = { kind: 'time.Weekday' }
/** Months. */
export const MONTH: Type = { kind: 'time.Month' }
/** Lists of anything. */
export const ARRAY: Type = { kind: 'array', element: UNKNOWN }

/** Makes the type of a list. */
export function arrayOf(element: Type): Type {
  return { kind: 'array', element }
}

/** Tells whether a value of the type may be a number. */
export function isNumber({ kind }: Type): boolean {
  return kind === 'int' || kind === 'float'
}

/** Tells whether two values may be compared for being equal. */
export function isComparable(a: Type, b: Type): boolean {
  const hasNone = [a.kind, b.kind].some((kind) => kind === 'unknown' || kind === 'nil')
  return hasNone || a.kind === b.kind || (isNumber(a) && isNumber(b))
}

/** What both of two types are: the same type, or else `unknown`. */
export function commonType(a: Type, b: Type): Type {
  if (a.kind === 'array' && b.kind === 'array') return arrayOf(commonType(a.element, b.element))
  return a.kind === b.kind ? a : UNKNOWN
}

/** Formats a type for messages. */
export function formatType(type: Type): string {
  if (type.kind !== 'array') return type.kind
  return type.element.kind === 'unknown' ? 'array' : `array of ${formatType(type.element)}`
}
