/**
 * Classes of characters by name (golang.org, regexp/syntax/perl_groups.go).
 * @module
 */
import type { CodeRange } from './syntax.ts'

/** Ranges by pairs of characters: `09AZ` is 0 to 9 and A to Z. */
function pairs(text: string): CodeRange[] {
  return [...text.matchAll(/(.)(.)/gs)].map(([, first = '', last = '']) => [
    first.charCodeAt(0),
    last.charCodeAt(0),
  ])
}

const DIGIT = pairs('09')
const WORD = pairs('09AZ__az')
const SPACE = pairs('\t\n\f\r  ')

/** Classes that a backslash and a small letter name; the capital names all others. */
export const PERL_CLASSES: Readonly<Record<string, readonly CodeRange[]>> = {
  d: DIGIT,
  s: SPACE,
  w: WORD,
}

/** Classes that stand between `[:` and `:]`. */
export const POSIX_CLASSES: Readonly<Record<string, readonly CodeRange[]>> = {
  alnum: pairs('09AZaz'),
  alpha: pairs('AZaz'),
  ascii: pairs('\x00\x7f'),
  blank: pairs('\t\t  '),
  cntrl: pairs('\x00\x1f\x7f\x7f'),
  digit: DIGIT,
  graph: pairs('!~'),
  lower: pairs('az'),
  print: pairs(' ~'),
  punct: pairs('!/:@[`{~'),
  space: pairs('\t\r  '),
  upper: pairs('AZ'),
  word: WORD,
  xdigit: pairs('09AFaf'),
}

/** Whether a character is one of a word, for `\b`. */
export function isWordCharacter(code: number): boolean {
  return WORD.some(([first, last]) => first <= code && code <= last)
}
