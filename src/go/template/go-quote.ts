/**
 * Quotes and unquotes text as Go does (strconv, quote.go), and parses numbers in its syntax.
 * @module
 */
import { readEscape, SIMPLE_ESCAPES } from '../expression/lexemes.ts'

const NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries(SIMPLE_ESCAPES).map(([name, char]) => [char, name]),
)

/** Returns the text of a quoted literal; `undefined` if it is invalid. */
export function unquote(literal: string): string | undefined {
  const quote = literal.charAt(0)
  const content = literal.slice(1, -1)
  if (quote === '`') return content.replaceAll('\r', '')
  let text = ''
  for (let at = 0; at < content.length; ) {
    if (content.charAt(at) !== '\\') {
      text += content.charAt(at++)
      continue
    }
    const escaped = readEscape(content, at, quote)
    if (escaped === undefined) return undefined
    text += escaped.text
    at = escaped.end
  }
  return text
}

/** Quotes text and escapes invisible characters. */
export function quote(text: string): string {
  return `"${[...text].map((char) => escapeCharacter(char, '"')).join('')}"`
}

/** Quotes a character, given its code point. */
export function quoteCharacter(code: number): string {
  return `'${escapeCharacter(String.fromCodePoint(code), "'")}'`
}

function escapeCharacter(char: string, quoteMark: string): string {
  if (char === quoteMark) return `\\${char}`
  const name = NAMES.get(char)
  if (name !== undefined) return `\\${name}`
  if (/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u.test(char)) return char
  const code = char.codePointAt(0) ?? 0
  const digits = code.toString(16)
  if (code < 0x80) return `\\x${digits.padStart(2, '0')}`
  return code < 0x10000 ? `\\u${digits.padStart(4, '0')}` : `\\U${digits.padStart(8, '0')}`
}

const INT_MIN = -(2n ** 63n)
const INT_MAX = 2n ** 63n - 1n
const RADIX: Readonly<Record<string, number>> = { '0x': 16, '0o': 8, '0b': 2 }
const DIGITS = '0123456789abcdefghijklmnopqrstuvwxyz'
const FLOAT = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/

/** Parses a number or a quoted character; `undefined` if it is invalid or over 64 bits. */
export function parseNumber(text: string): bigint | number | undefined {
  if (text.startsWith("'")) {
    const [char, ...rest] = unquote(text) ?? ''
    const code = rest.length === 0 ? char?.codePointAt(0) : undefined
    return code === undefined ? undefined : BigInt(code)
  }
  const [, sign = '', prefix = '', digits = ''] =
    /^([+-]?)(0[xXoObB]_?|0_?(?=[\d_]))?(\w+)$/.exec(text) ?? []
  const radix = RADIX[prefix.slice(0, 2).toLowerCase()] ?? (prefix === '' ? 10 : 8)
  const value = /^_|__|_$/.test(digits) ? undefined : parseDigits(digits.replaceAll('_', ''), radix)
  if (value !== undefined) {
    const signed = sign === '-' ? -value : value
    return signed < INT_MIN || signed > INT_MAX ? undefined : signed
  }
  return FLOAT.test(text) && /[.eE]/.test(text) ? Number(text) : undefined
}

/** Parses digits of a radix from 2 to 36; `undefined` if there are none or invalid ones. */
export function parseDigits(digits: string, radix: number): bigint | undefined {
  if (digits === '') return undefined
  let value = 0n
  for (const digit of digits.toLowerCase()) {
    const index = DIGITS.indexOf(digit)
    if (index < 0 || index >= radix) return undefined
    value = value * BigInt(radix) + BigInt(index)
  }
  return value
}
