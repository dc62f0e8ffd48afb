/**
 * Splits a Corefile into lexemes, as CoreDNS's lexer does (github.com/coredns/caddy,
 * caddyfile/lexer.go).
 *
 * White space separates lexemes. `#` starts a comment up to the end of the line, within a word only
 * up to the next white space. Double quotes keep white space and line breaks; `\"` in them is a
 * quote, but not after another backslash. Back quotes have no meaning.
 * @module
 */
import type { Steps } from '../dns/bytes/steps.ts'
import { configError, type Position } from './problem.ts'

/** A word or a brace, with its position. */
export type Lexeme = Position & {
  readonly text: string
  /** The line of its end; a quoted lexeme can span several lines. */
  readonly lastLine: number
  /** Whether it was quoted; a quoted brace has no meaning. */
  readonly isQuoted: boolean
  /** A likely mistake: a quote that is not closed, or `#` within the word. */
  readonly mishap?: 'open quote' | 'hash within'
}

/** Maximum number of lexemes with all imports: 100 times those of a large Corefile. */
export const WORDS_MAX = 1_000_000

const BYTE_ORDER_MARK = '\ufeff'
/** Go's white space (unicode.IsSpace). */
const BLANK = /[^\S\ufeff]|\u0085/

const QUOTE_OR_BACKSLASH = /["\\]/g

/** A lexeme's text, and the offset of its end. */
type Read = Pick<Lexeme, 'text' | 'mishap'> & { readonly end: number }

/** Words, comments and characters of white space in a step. */
const STEP_READS = 1000

/**
 * Splits text into lexemes, in steps. A quote that is not closed runs to the end of the file.
 * @throws {ConfigError} at the first lexeme beyond `WORDS_MAX`
 */
export function* readLexemes(text: string, file: string): Steps<Lexeme[]> {
  const lexemes: Lexeme[] = []
  let at = text.startsWith(BYTE_ORDER_MARK) ? 1 : 0
  let line = 1
  let lineStart = at
  let reads = 0
  while (at < text.length) {
    if (++reads % STEP_READS === 0) yield
    const char = text.charAt(at)
    if (char === '\n') {
      line++
      lineStart = ++at
    } else if (BLANK.test(char)) at++
    else if (char === '#') at = endOfLine(text, at)
    else {
      const position = { file, line, column: at - lineStart + 1 }
      if (lexemes.length === WORDS_MAX) throw configError(position, `more than ${WORDS_MAX} words`)
      const isQuoted = char === '"'
      const { end, ...word } = isQuoted ? readQuoted(text, at + 1) : readWord(text, at)
      const breaks = text.slice(at, end).split('\n').length - 1
      if (breaks > 0) lineStart = text.lastIndexOf('\n', end - 1) + 1
      line += breaks
      const isNothing = word.text === '' && word.mishap !== undefined
      if (!isNothing) lexemes.push({ ...position, ...word, lastLine: line, isQuoted })
      at = end
    }
  }
  return lexemes
}

/** Returns whether a lexeme is this brace, unquoted. */
export function isBrace(lexeme: Lexeme | undefined, brace: '{' | '}'): boolean {
  return lexeme?.text === brace && !lexeme.isQuoted
}

/** Returns whether a lexeme is a brace, unquoted. */
export function isAnyBrace(lexeme: Lexeme): boolean {
  return isBrace(lexeme, '{') || isBrace(lexeme, '}')
}

/**
 * Returns whether a lexeme is on the line where the previous one ends. A snippet's lexemes keep the
 * lines of their definition, so its first one is never on the line of the import.
 */
export function isSameLine(previous: Lexeme, lexeme: Lexeme): boolean {
  return lexeme.file === previous.file && lexeme.line === previous.lastLine
}

/** Reads an unquoted word; removes carriage returns everywhere. */
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
  let at = start
  for (;;) {
    QUOTE_OR_BACKSLASH.lastIndex = at
    const found = QUOTE_OR_BACKSLASH.exec(text)
    const end = found?.index ?? text.length
    word += text.slice(at, end)
    if (found === null) return { text: word, end, mishap: 'open quote' }
    if (found[0] === '"') return { text: word, end: end + 1 }
    const next = text.charAt(end + 1)
    word += next === '"' || next === '' ? next : `\\${next}`
    at = end + 2
  }
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end < 0 ? text.length : end
}
