/**
 * Reads what a backslash begins, where it stands for characters.
 * @module
 */
import type { PatternScanner } from './scanner.ts'
import { type CharacterSet, negated, PatternError } from './syntax.ts'

const CONTROLS: Readonly<Record<string, number>> = { a: 7, f: 12, t: 9, n: 10, r: 13, v: 11 }
const CODE_POINT_MAX = 0x10ffff

/** Reads an escaped character and returns its code point. @throws {PatternError} */
export function parseCodePoint(scanner: PatternScanner): number {
  scanner.skip(1)
  if (scanner.isAtEnd) throw new PatternError('it ends with a backslash')
  const hex = /^x(?:\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{2}))/.exec(scanner.rest())
  if (hex !== null) {
    const code = Number.parseInt(hex[1] ?? hex[2] ?? '', 16)
    if (code > CODE_POINT_MAX) throw new PatternError(`"\\${hex[0]}" is no character`)
    scanner.skip(hex[0].length)
    return code
  }
  const octal = /^(?:0[0-7]{0,2}|[1-7][0-7]{1,2})/.exec(scanner.rest(3))?.[0]
  if (octal !== undefined) {
    scanner.skip(octal.length)
    return Number.parseInt(octal, 8)
  }
  const character = scanner.next()
  const control = CONTROLS[character]
  if (control !== undefined) return control
  const code = character.codePointAt(0) ?? 0
  if (code < 0x80 && !/[0-9A-Za-z]/.test(character)) return code
  throw new PatternError(`"\\${character}" means nothing in Go's expressions`)
}

/** Reads `\pX`, `\p{Name}` and their opposites; `undefined` when none comes next. */
export function parseProperty(scanner: PatternScanner, folds: boolean): CharacterSet | undefined {
  const found = /^\\(p|P)(?:\{(\^?)(\w+)\}|([A-Z]))/.exec(scanner.rest())
  if (found === null) return undefined
  const [text, letter, caret = '', long, short = ''] = found
  const property = long ?? short
  if (property !== 'Any' && propertyExpression(property) === undefined) {
    throw new PatternError(`"${text}" names no kind of characters`)
  }
  scanner.skip(text.length)
  const ranges = property === 'Any' ? ([[0, CODE_POINT_MAX]] as const) : []
  const named = property === 'Any' ? {} : { property }
  const set: CharacterSet = { ranges, sets: [], isNegated: false, folds, ...named }
  return (letter === 'P') === (caret === '^') ? set : negated(set)
}

/**
 * The expression for one character with a Unicode property, a category or a script; `undefined`
 * for a name that is neither.
 */
export function propertyExpression(name: string): RegExp | undefined {
  if (!/^\w+$/.test(name)) return undefined
  for (const property of [`gc=${name}`, `sc=${name}`]) {
    try {
      return new RegExp(`^\\p{${property}}$`, 'u')
    } catch {
      // Not a name of this kind.
    }
  }
  return undefined
}
