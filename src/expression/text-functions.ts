/**
 * Functions of strings (github.com/expr-lang/expr, builtin/builtin.go). Positions count UTF-16 code
 * units, Go's count bytes: the same in ASCII.
 * @module
 */
import { type BuiltIn, countOf, listOf, textOf } from './built-in.ts'
import { ExpressionError } from './errors.ts'
import { formatValue } from './format-value.ts'
import { arrayOf, BOOL, INT, STRING } from './type.ts'
import type { Value } from './value.ts'

/** Maximum length of a result. */
const TEXT_MAX = 65_536

/** The functions by name. */
export const TEXT_FUNCTIONS: Readonly<Record<string, BuiltIn>> = {
  string: { takes: ['any'], gives: STRING, call: (value) => formatValue(value) },
  upper: { takes: ['string'], gives: STRING, call: (text) => textOf(text).toUpperCase() },
  lower: { takes: ['string'], gives: STRING, call: (text) => textOf(text).toLowerCase() },
  trim: {
    takes: ['string', 'string?'],
    gives: STRING,
    call: (text, characters) =>
      characters === undefined ? textOf(text).trim() : trim(textOf(text), textOf(characters)),
  },
  trimPrefix: {
    takes: ['string', 'string?'],
    gives: STRING,
    call: (text, prefix = ' ') =>
      textOf(text).startsWith(textOf(prefix))
        ? textOf(text).slice(textOf(prefix).length)
        : textOf(text),
  },
  trimSuffix: {
    takes: ['string', 'string?'],
    gives: STRING,
    call: (text, suffix = ' ') =>
      textOf(text).endsWith(textOf(suffix))
        ? textOf(text).slice(0, textOf(text).length - textOf(suffix).length)
        : textOf(text),
  },
  split: {
    takes: ['string', 'string', 'int?'],
    gives: arrayOf(STRING),
    call: (text, separator, max = -1n) => split(textOf(text), textOf(separator), countOf(max)),
  },
  replace: {
    takes: ['string', 'string', 'string', 'int?'],
    gives: STRING,
    call: (text, from, to, max = -1n) =>
      bounded(replace(textOf(text), { from: textOf(from), to: textOf(to), max: countOf(max) })),
  },
  join: {
    takes: ['array', 'string?'],
    gives: STRING,
    call: (list, glue = '') => bounded(listOf(list).map(textOf).join(textOf(glue))),
  },
  indexOf: {
    takes: ['string', 'string'],
    gives: INT,
    call: (text, part) => BigInt(textOf(text).indexOf(textOf(part))),
  },
  hasPrefix: {
    takes: ['string', 'string'],
    gives: BOOL,
    call: (text, prefix) => textOf(text).startsWith(textOf(prefix)),
  },
  hasSuffix: {
    takes: ['string', 'string'],
    gives: BOOL,
    call: (text, suffix) => textOf(text).endsWith(textOf(suffix)),
  },
}

function trim(text: string, characters: string): string {
  const isCut = (at: number): boolean => characters.includes(text.charAt(at))
  let start = 0
  let end = text.length
  while (start < end && isCut(start)) start++
  while (end > start && isCut(end - 1)) end--
  return text.slice(start, end)
}

function split(text: string, separator: string, max: number): Value[] {
  if (max === 0) return []
  const whole = separator === '' ? [...text] : text.split(separator)
  const parts = max > 0 && whole.length > max ? whole.slice(0, max - 1) : whole
  if (parts !== whole) parts.push(whole.slice(max - 1).join(separator))
  return parts
}

function replace(
  text: string,
  { from, to, max }: { readonly from: string; readonly to: string; readonly max: number },
): string {
  if (max < 0) return text.replaceAll(from, () => to)
  let count = 0
  return text.replaceAll(from, () => (count++ < max ? to : from))
}

function bounded(text: string): string {
  if (text.length <= TEXT_MAX) return text
  throw new ExpressionError(`text is over ${TEXT_MAX} characters`)
}
