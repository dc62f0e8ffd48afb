/**
 * Splits a Corefile into words, as CoreDNS's lexer does (github.com/coredns/caddy,
 * caddyfile/lexer.go).
 *
 * Blanks separate words; `#` outside of quotes begins a comment, also within a word; double quotes
 * keep blanks and line ends, and `\"` in them is a quote, but not behind another backslash; back
 * quotes mean nothing.
 * @module
 */
import type { Position } from './problem.ts'

/** A word and where it begins. */
export type Token = Position & {
  readonly text: string
  /** The line that the word ends in: a quoted one may go over several. */
  readonly lastLine: number
  /** Whether it stood in quotes, so that braces in it mean nothing. */
  readonly isQuoted: boolean
}

const BYTE_ORDER_MARK = '\ufeff'

/** Splits text into words. A quote that is not closed runs to the end of the file. */
export function readTokens(text: string, file: string): Token[] {
  const tokens: Token[] = []
  let at = text.startsWith(BYTE_ORDER_MARK) ? 1 : 0
  let line = 1
  let lineStart = at
  while (at < text.length) {
    const char = text.charAt(at)
    if (char === '\n') {
      line++
      lineStart = ++at
    } else if (/\s/.test(char)) at++
    else if (char === '#') at = endOfLine(text, at)
    else {
      const position = { file, line, column: at - lineStart + 1 }
      const { word, end } = char === '"' ? readQuoted(text, at + 1) : readWord(text, at)
      const breaks = text.slice(at, end).split('\n').length - 1
      if (breaks > 0) lineStart = text.lastIndexOf('\n', end - 1) + 1
      line += breaks
      if (char === '"' || word !== '') {
        tokens.push({ ...position, text: word, lastLine: line, isQuoted: char === '"' })
      }
      at = end
    }
  }
  return tokens
}

function readWord(text: string, start: number): { word: string; end: number } {
  let end = start
  while (end < text.length && !/[\s#]/.test(text.charAt(end))) end++
  return { word: text.slice(start, end), end }
}

function readQuoted(text: string, start: number): { word: string; end: number } {
  let word = ''
  for (let at = start; at < text.length; at++) {
    const char = text.charAt(at)
    if (char === '"') return { word, end: at + 1 }
    if (char === '\\' && at + 1 < text.length) {
      const next = text.charAt(++at)
      word += next === '"' ? next : char + next
    } else word += char
  }
  return { word, end: text.length }
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end < 0 ? text.length : end
}
