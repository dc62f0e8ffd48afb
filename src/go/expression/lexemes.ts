/**
 * Splits an expression into lexemes (github.com/expr-lang/expr, parser/lexer).
 * @module
 */
import { SyntaxProblem } from './value.ts'

/** A lexeme; `text` of a string is without quotes and escapes. */
export type Lexeme = {
  readonly kind: 'name' | 'number' | 'string' | 'operator' | 'bracket' | 'end'
  readonly text: string
  readonly at: number
}

/** Operators that look like names. */
const WORD_OPERATORS: ReadonlySet<string> = new Set(
  'not in or and matches contains startsWith endsWith let if else'.split(' '),
)
const SKIPPED = /(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)+/y
const NAME = /[\p{L}_$][\p{L}\p{Nd}_$]*/uy
const WHOLE_NUMBER = /0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+/y
const NUMBER = /(?:\d[\d_]*(?:\.(?!\.)[\d_]*)?|\.\d[\d_]*)(?:[eE][+-]?[\d_]+)?/y
const OPERATOR = /\|\||\.\.|\?\.|\?\?|##|[&!=*<>][&=*]?|[|:.?#/,;%+^-]/y
const BRACKET = /[()[\]{}]/y

/** Splits an expression; the last lexeme is the end. @throws {SyntaxProblem} */
export function readLexemes(source: string): Lexeme[] {
  const lexemes: Lexeme[] = []
  let at = 0
  for (;;) {
    at += matchAt(SKIPPED, source, at)?.length ?? 0
    if (at >= source.length) break
    const lexeme = readLexeme(source, at)
    lexemes.push(lexeme.lexeme)
    at = lexeme.end
  }
  lexemes.push({ kind: 'end', text: '', at: source.length })
  return lexemes
}

type Read = { readonly lexeme: Lexeme; readonly end: number }

function readLexeme(source: string, at: number): Read {
  const char = source.charAt(at)
  if (char === "'" || char === '"') return readString(source, at)
  if (char === 'b' && /['"]/.test(source.charAt(at + 1))) {
    throw new SyntaxProblem(at, 'byte strings are not supported; write an array of ints')
  }
  if (char === '`') return readRawString(source, at)
  const number = matchAt(WHOLE_NUMBER, source, at) ?? matchAt(NUMBER, source, at)
  if (number !== undefined) return readNumber(source, number, at)
  const name = matchAt(NAME, source, at)
  if (name !== undefined) return plain(WORD_OPERATORS.has(name) ? 'operator' : 'name', name, at)
  const operator = matchAt(OPERATOR, source, at)
  if (operator !== undefined) return plain('operator', operator, at)
  const bracket = matchAt(BRACKET, source, at)
  if (bracket !== undefined) return plain('bracket', bracket, at)
  throw new SyntaxProblem(at, `"${char}" is not valid in an expression`)
}

function plain(kind: Lexeme['kind'], text: string, at: number): Read {
  return { lexeme: { kind, text, at }, end: at + text.length }
}

function readNumber(source: string, text: string, at: number): Read {
  const end = at + text.length
  if (matchAt(NAME, source, end) !== undefined) {
    throw new SyntaxProblem(at, `"${text}${source.charAt(end)}" is not a number`)
  }
  return plain('number', text, at)
}

function readString(source: string, at: number): Read {
  const quote = source.charAt(at)
  let text = ''
  let next = at + 1
  while (next < source.length && source.charAt(next) !== quote) {
    const char = source.charAt(next)
    if (char === '\n') break
    if (char === '\\') {
      const escaped = readEscape(source, next, quote)
      if (escaped === undefined) {
        const hint = 'write two backslashes for a backslash'
        throw new SyntaxProblem(next, `"\\${source.charAt(next + 1)}" is not an escape; ${hint}`)
      }
      text += escaped.text
      next = escaped.end
    } else {
      text += char
      next++
    }
  }
  if (source.charAt(next) !== quote) throw new SyntaxProblem(at, `this ${quote} is not closed`)
  return { lexeme: { kind: 'string', text, at }, end: next + 1 }
}

/** Reads a string in back quotes: no escapes but two back quotes for one. */
function readRawString(source: string, at: number): Read {
  const [whole = '', text = ''] = /^`((?:[^`]|``)*)`/.exec(source.slice(at)) ?? []
  if (whole === '') throw new SyntaxProblem(at, 'this ` is not closed')
  return {
    lexeme: { kind: 'string', text: text.replaceAll('``', '`'), at },
    end: at + whole.length,
  }
}

/** Returns the match of a sticky pattern at an offset; `undefined` for none. */
export function matchAt(pattern: RegExp, source: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(source)?.[0]
}

/** Characters by the letter of their escape. */
export const SIMPLE_ESCAPES: Readonly<Record<string, string>> = {
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

/** Reads the escape at a backslash: its text, and its end; `undefined` if it is invalid. */
export function readEscape(
  source: string,
  at: number,
  quote: string,
): { readonly text: string; readonly end: number } | undefined {
  const char = source.charAt(at + 1)
  if (char === quote) return { text: quote, end: at + 2 }
  if (Object.hasOwn(SIMPLE_ESCAPES, char)) return { text: SIMPLE_ESCAPES[char] ?? '', end: at + 2 }
  CODE.lastIndex = at
  const [whole = '', octal, ...hex] = CODE.exec(source) ?? []
  const value = octal === undefined ? Number.parseInt(hex.join(''), 16) : Number.parseInt(octal, 8)
  const isValid = whole !== '' && value <= CODE_POINT_MAX
  return isValid ? { text: String.fromCodePoint(value), end: at + whole.length } : undefined
}
