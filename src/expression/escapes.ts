/**
 * Escapes in quoted strings (github.com/expr-lang/expr, parser/lexer/utils.go).
 * @module
 */
import { SyntaxProblem } from './errors.ts'

const SIMPLE: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
}
const HEX = '[0-9a-fA-F]'
const CODE = new RegExp(
  String.raw`\\(?:([0-3][0-7]{2})|x(${HEX}{2})|u(${HEX}{4})|u\{(${HEX}{1,6})\}|U(${HEX}{8}))`,
  'y',
)
const CODE_POINT_MAX = 0x10ffff

/**
 * Reads the escape at a backslash. Returns its text and its end.
 * @throws {SyntaxProblem}
 */
export function readEscape(
  source: string,
  at: number,
  quote: string,
): { readonly text: string; readonly end: number } {
  const char = source.charAt(at + 1)
  const simple = char === quote ? quote : Object.hasOwn(SIMPLE, char) ? SIMPLE[char] : undefined
  if (simple !== undefined) return { text: simple, end: at + 2 }
  CODE.lastIndex = at
  const [whole = '', octal, ...hex] = CODE.exec(source) ?? []
  const value = octal === undefined ? Number.parseInt(hex.join(''), 16) : Number.parseInt(octal, 8)
  if (whole === '' || value > CODE_POINT_MAX) {
    const hint = 'write two backslashes for a backslash'
    throw new SyntaxProblem(at, `"\\${char}" is not an escape; ${hint}`)
  }
  return { text: String.fromCodePoint(value), end: at + whole.length }
}
