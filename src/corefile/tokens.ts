/**
 * Splits a Corefile into words, as CoreDNS's lexer does (github.com/coredns/caddy,
 * caddyfile/lexer.go).
 *
 * Blanks separate words; `#` outside of quotes begins a comment that runs to the end of the line,
 * but within a word only to the next blank; double quotes keep blanks and line ends, and `\"` in
 * them is a quote, but not behind another backslash; back quotes mean nothing.
 * @module
 */
import { configError, type Position } from './problem.ts'

/** A word and where it begins. */
export type Token = Position & {
  readonly text: string
  /** The line that the word ends in: a quoted one may go over several. */
  readonly lastLine: number
  /** Whether it stood in quotes, so that braces in it mean nothing. */
  readonly isQuoted: boolean
  /** What its writer hardly meant: a quote that never closes, or `#` within the word. */
  readonly mishap?: 'open quote' | 'hash within'
}

/** Words of a Corefile with all that it imports: 100 times those of a large one. */
export const WORDS_MAX = 1_000_000

const BYTE_ORDER_MARK = '\ufeff'
/** What Go takes for a blank (unicode.IsSpace). */
const BLANK = /[^\S\ufeff]|\u0085/

/** A word with what follows it. */
type Read = Pick<Token, 'text' | 'mishap'> & { readonly end: number }

/**
 * Splits text into words. A quote that is not closed runs to the end of the file.
 * @throws {ConfigError} at the first word beyond `WORDS_MAX`
 */
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
    } else if (BLANK.test(char)) at++
    else if (char === '#') at = endOfLine(text, at)
    else {
      const position = { file, line, column: at - lineStart + 1 }
      if (tokens.length === WORDS_MAX) throw configError(position, `over ${WORDS_MAX} words`)
      const isQuoted = char === '"'
      const { end, ...word } = isQuoted ? readQuoted(text, at + 1) : readWord(text, at)
      const breaks = text.slice(at, end).split('\n').length - 1
      if (breaks > 0) lineStart = text.lastIndexOf('\n', end - 1) + 1
      line += breaks
      const isNothing = word.text === '' && word.mishap !== undefined
      if (!isNothing) tokens.push({ ...position, ...word, lastLine: line, isQuoted })
      at = end
    }
  }
  return tokens
}

/** Whether a word is a brace, which in quotes it is not. */
export function isBrace(token: Token | undefined, brace: '{' | '}'): boolean {
  return token?.text === brace && !token.isQuoted
}

/** Whether a word is a brace of either kind. */
export function isAnyBrace(token: Token): boolean {
  return isBrace(token, '{') || isBrace(token, '}')
}

/** A word of a snippet is never on the line of what came before it: its lines are above. */
export function isSameLine(previous: Token, token: Token): boolean {
  return token.file === previous.file && token.line === previous.lastLine
}

/** Carriage returns are left out, wherever they stand. */
function readWord(text: string, start: number): Read {
  let end = start
  while (end < text.length && !isEndOfWord(text.charAt(end))) end++
  const word = text.slice(start, end)
  const hash = word.indexOf('#')
  if (hash < 0) return { text: word.replaceAll('\r', ''), end }
  return { text: word.slice(0, hash).replaceAll('\r', ''), end, mishap: 'hash within' }
}

function isEndOfWord(char: string): boolean {
  return char !== '\r' && BLANK.test(char)
}

function readQuoted(text: string, start: number): Read {
  let word = ''
  for (let at = start; at < text.length; at++) {
    const char = text.charAt(at)
    if (char === '"') return { text: word, end: at + 1 }
    if (char === '\\') {
      const next = text.charAt(++at)
      word += next === '"' || next === '' ? next : char + next
    } else word += char
  }
  return { text: word, end: text.length, mishap: 'open quote' }
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end < 0 ? text.length : end
}
