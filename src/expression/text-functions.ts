/**
 * Functions of text (github.com/expr-lang/expr, builtin/builtin.go). Positions count UTF-16 units,
 * which are Go's bytes in ASCII.
 * @module
 */
import { type BuiltIn, countOf, listOf, textOf } from './built-in.ts'
import { ExpressionError } from './errors.ts'
import { formatValue } from './format-value.ts'
import { parseJson, writeJson } from './json.ts'
import { arrayOf, BOOL, INT, STRING, UNKNOWN } from './type.ts'
import type { Value } from './value.ts'

/** Characters that a function may give: expressions answer queries. */
const TEXT_MAX = 65_536

/** By name. */
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
    call: (text, separator, max = -1n) =>
      split(textOf(text), textOf(separator), { max: countOf(max), keeps: false }),
  },
  splitAfter: {
    takes: ['string', 'string', 'int?'],
    gives: arrayOf(STRING),
    call: (text, separator, max = -1n) =>
      split(textOf(text), textOf(separator), { max: countOf(max), keeps: true }),
  },
  replace: {
    takes: ['string', 'string', 'string', 'int?'],
    gives: STRING,
    call: (text, from, to, max = -1n) =>
      bounded(replace(textOf(text), { from: textOf(from), to: textOf(to), max: countOf(max) })),
  },
  repeat: {
    takes: ['string', 'int'],
    gives: STRING,
    call: (text, count) => repeat(textOf(text), countOf(count)),
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
  lastIndexOf: {
    takes: ['string', 'string'],
    gives: INT,
    call: (text, part) => BigInt(textOf(text).lastIndexOf(textOf(part))),
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
  toJSON: { takes: ['any'], gives: STRING, call: (value) => bounded(writeJson(value)) },
  fromJSON: { takes: ['string'], gives: UNKNOWN, call: (text) => parseJson(textOf(text)) },
  toBase64: { takes: ['string'], gives: STRING, call: (text) => toBase64(textOf(text)) },
  fromBase64: { takes: ['string'], gives: STRING, call: (text) => fromBase64(textOf(text)) },
}

function trim(text: string, characters: string): string {
  const isCut = (at: number): boolean => characters.includes(text.charAt(at))
  let start = 0
  let end = text.length
  while (start < end && isCut(start)) start++
  while (end > start && isCut(end - 1)) end--
  return text.slice(start, end)
}

function split(
  text: string,
  separator: string,
  { max, keeps }: { readonly max: number; readonly keeps: boolean },
): Value[] {
  if (max === 0) return []
  const whole = separator === '' ? [...text] : text.split(separator)
  const parts = max > 0 && whole.length > max ? whole.slice(0, max - 1) : whole
  if (parts !== whole) parts.push(whole.slice(max - 1).join(separator))
  return keeps ? parts.map((part, i) => part + (i < parts.length - 1 ? separator : '')) : parts
}

function replace(
  text: string,
  { from, to, max }: { readonly from: string; readonly to: string; readonly max: number },
): string {
  if (max < 0) return text.replaceAll(from, () => to)
  let count = 0
  return text.replaceAll(from, () => (count++ < max ? to : from))
}

function repeat(text: string, count: number): string {
  if (count < 0) throw new ExpressionError('"repeat" takes no negative number')
  if (text.length * count > TEXT_MAX) throw tooLong()
  return text.repeat(count)
}

function bounded(text: string): string {
  if (text.length > TEXT_MAX) throw tooLong()
  return text
}

function tooLong(): ExpressionError {
  return new ExpressionError(`text is over ${TEXT_MAX} characters`)
}

function toBase64(text: string): string {
  let octets = ''
  for (const octet of new TextEncoder().encode(text)) octets += String.fromCharCode(octet)
  return btoa(octets)
}

function fromBase64(text: string): string {
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text)) {
    throw new ExpressionError('"fromBase64" takes base64 only')
  }
  const octets = Uint8Array.from(atob(text), (octet) => octet.charCodeAt(0))
  return new TextDecoder().decode(octets)
}
