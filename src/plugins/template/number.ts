/**
 * Parses numbers in Go's syntax (strconv, text/template/parse/node.go).
 * @module
 */
import { unquote } from './go-quote.ts'

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
