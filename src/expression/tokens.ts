/**
 * Splits an expression into tokens (github.com/expr-lang/expr, parser/lexer).
 * @module
 */

import { SyntaxProblem } from './errors.ts'
import { readEscape } from './escapes.ts'

/** A token: `text` is what it stands for, for a string without quotes and escapes. */
export type Token = {
  readonly kind: 'name' | 'number' | 'string' | 'bytes' | 'operator' | 'bracket' | 'end'
  readonly text: string
  /** Where it begins. */
  readonly at: number
}

/** Names that are operators. */
const WORD_OPERATORS: ReadonlySet<string> = new Set(
  'not in or and matches contains startsWith endsWith let if else'.split(' '),
)
const SKIPPED = /(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)+/y
const NAME = /[\p{L}_$][\p{L}\p{Nd}_$]*/uy
const WHOLE_NUMBER = /0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+/y
const NUMBER = /(?:\d[\d_]*(?:\.(?!\.)[\d_]*)?|\.\d[\d_]*)(?:[eE][+-]?[\d_]+)?/y
const OPERATOR = /\|\||::|\.\.|\?\.|\?\?|##|[&!=*<>][&=*]?|[|:.?#/,;%+^-]/y
const BRACKET = /[()[\]{}]/y
/** Behind `#` also digits make a name. */
const POINTER_NAME = /[\p{L}\p{Nd}_$]+/uy

/** Splits an expression; the last token is the end. @throws {SyntaxProblem} */
export function readTokens(source: string): Token[] {
  const tokens: Token[] = []
  let at = 0
  for (;;) {
    at += matchAt(SKIPPED, source, at)?.length ?? 0
    if (at >= source.length) break
    const token = readToken(source, at, tokens.at(-1))
    tokens.push(token.token)
    at = token.end
  }
  tokens.push({ kind: 'end', text: '', at: source.length })
  return tokens
}

type Read = { readonly token: Token; readonly end: number }

function readToken(source: string, at: number, before: Token | undefined): Read {
  const char = source.charAt(at)
  if (char === "'" || char === '"') return readString(source, at)
  if (char === 'b' && /['"]/.test(source.charAt(at + 1))) return readBytes(source, at)
  if (char === '`') return readRawString(source, at)
  const isPointer = before?.kind === 'operator' && before.text === '#' && before.at === at - 1
  const pointer = isPointer ? matchAt(POINTER_NAME, source, at) : undefined
  if (pointer !== undefined) return plain('name', pointer, at)
  const number = matchAt(WHOLE_NUMBER, source, at) ?? matchAt(NUMBER, source, at)
  if (number !== undefined) return readNumber(source, number, at)
  const name = matchAt(NAME, source, at)
  if (name !== undefined) return plain(WORD_OPERATORS.has(name) ? 'operator' : 'name', name, at)
  const operator = matchAt(OPERATOR, source, at)
  if (operator !== undefined) return plain('operator', operator, at)
  const bracket = matchAt(BRACKET, source, at)
  if (bracket !== undefined) return plain('bracket', bracket, at)
  throw new SyntaxProblem(at, `"${char}" means nothing in an expression`)
}

function plain(kind: Token['kind'], text: string, at: number): Read {
  return { token: { kind, text, at }, end: at + text.length }
}

function readNumber(source: string, text: string, at: number): Read {
  const end = at + text.length
  if (matchAt(POINTER_NAME, source, end) !== undefined) {
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
      text += escaped.text
      next = escaped.end
    } else {
      text += char
      next++
    }
  }
  if (source.charAt(next) !== quote) throw new SyntaxProblem(at, `this ${quote} is never closed`)
  return { token: { kind: 'string', text, at }, end: next + 1 }
}

/** Reads bytes in quotes: `text` has one character for each, those of text by UTF-8. */
function readBytes(source: string, at: number): Read {
  const { end } = readString(source, at + 1)
  let text = ''
  let next = at + 2
  while (next < end - 1) {
    const isEscape = source.charAt(next) === '\\'
    if (isEscape && /[uU]/.test(source.charAt(next + 1))) {
      throw new SyntaxProblem(next, 'bytes have no escapes of characters; write those of bytes')
    }
    if (isEscape) {
      const escaped = readEscape(source, next, source.charAt(at + 1))
      text += escaped.text
      next = escaped.end
    } else {
      const char = String.fromCodePoint(source.codePointAt(next) ?? 0)
      text += String.fromCharCode(...new TextEncoder().encode(char))
      next += char.length
    }
  }
  return { token: { kind: 'bytes', text, at }, end }
}

/** Between back quotes everything stands for itself; two of them for one. */
function readRawString(source: string, at: number): Read {
  const [whole = '', text = ''] = /^`((?:[^`]|``)*)`/.exec(source.slice(at)) ?? []
  if (whole === '') throw new SyntaxProblem(at, 'this ` is never closed')
  return {
    token: { kind: 'string', text: text.replaceAll('``', '`'), at },
    end: at + whole.length,
  }
}

function matchAt(pattern: RegExp, source: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(source)?.[0]
}
