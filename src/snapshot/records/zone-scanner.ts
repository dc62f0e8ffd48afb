/**
 * The lexer of zone files (RFC 1035 §5.1): lines, parentheses, quoted strings, escapes, comments.
 * @module
 */

/** A lexeme: a word or a quoted string. */
export type ZoneWord = {
  /** Without quotes; escapes stay, and characters beyond ASCII are `\DDD` bytes. */
  readonly text: string
  readonly isQuoted: boolean
  /** Whether no blank precedes it. */
  readonly isAttached: boolean
  /** Its line, from 1. */
  readonly line: number
  readonly column: number
}

/** A logical line, with at least one word. */
export type ZoneLine = {
  /** Whether it starts with a word, which is an owner or a directive, rather than with a blank. */
  readonly hasOwner: boolean
  readonly words: readonly [ZoneWord, ...ZoneWord[]]
}

/** A zone file is invalid, with the place. */
export class ZoneFileError extends Error {
  override readonly name = 'ZoneFileError'
  readonly file: string
  readonly line: number
  readonly column: number
  /** The problem, without the place. */
  readonly reason: string

  constructor(at: { file: string; line: number; column: number }, reason: string) {
    super(`${at.file}:${at.line}:${at.column}: ${reason}`)
    this.file = at.file
    this.line = at.line
    this.column = at.column
    this.reason = reason
  }
}

const TAB = 0x09
const NEWLINE = 0x0a
const RETURN = 0x0d
const SPACE = 0x20
const QUOTE = 0x22
const OPEN = 0x28
const CLOSE = 0x29
const SEMICOLON = 0x3b
const BACKSLASH = 0x5c

/** Reads the logical lines of one file. */
export class ZoneScanner {
  private readonly file: string
  private readonly text: string
  private at = 0
  private line = 1
  private lineStart = 0
  private depth = 0
  private isAttached = false
  private words: ZoneWord[] = []

  /** @param file its name, for messages */
  constructor(file: string, text: string) {
    this.file = file
    this.text = text
  }

  /**
   * Returns the next line with words; `undefined` at the end.
   * @throws {ZoneFileError} at an unbalanced parenthesis or quote
   */
  next(): ZoneLine | undefined {
    while (this.at < this.text.length) {
      const hasOwner = !isBlank(this.text.charCodeAt(this.at))
      this.words = []
      this.readLine()
      const [first, ...rest] = this.words
      if (first !== undefined) return { hasOwner, words: [first, ...rest] }
    }
    return undefined
  }

  private readLine(): void {
    const { text } = this
    this.isAttached = false
    while (this.at < text.length) {
      const code = text.charCodeAt(this.at)
      if (code === QUOTE) {
        this.readString()
      } else if (isPlain(code)) {
        this.readWord()
      } else {
        this.isAttached = false
        if (code === NEWLINE && this.depth === 0) {
          this.endLine()
          return
        }
        this.skip(code)
      }
    }
    if (this.depth > 0) throw this.error('a "(" is not closed')
  }

  private skip(code: number): void {
    if (code === NEWLINE) {
      this.endLine()
      return
    }
    if (code === SEMICOLON) {
      const end = this.text.indexOf('\n', this.at)
      this.at = end < 0 ? this.text.length : end
      return
    }
    if (code === OPEN) this.depth++
    if (code === CLOSE && --this.depth < 0) throw this.error('a ")" has no "(" before it')
    this.at++
  }

  private endLine(): void {
    this.at++
    this.line++
    this.lineStart = this.at
  }

  private readWord(): void {
    const { text, line, lineStart } = this
    const start = this.at
    while (this.at < text.length && isPlain(text.charCodeAt(this.at))) this.stepOver()
    const word = escapeBytes(text.slice(start, this.at), SPACE + 1)
    this.push(word, false, { line, column: start - lineStart + 1 })
  }

  private readString(): void {
    const { text, line, lineStart } = this
    const start = this.at++
    while (text.charCodeAt(this.at) !== QUOTE) {
      if (this.at >= text.length) {
        const at = { file: this.file, line, column: start - lineStart + 1 }
        throw new ZoneFileError(at, 'a quote is not closed')
      }
      this.stepOver()
    }
    const content = escapeBytes(text.slice(start + 1, this.at), 0)
    this.push(content, true, { line, column: start - lineStart + 1 })
    this.at++
  }

  private push(text: string, isQuoted: boolean, at: { line: number; column: number }): void {
    this.words.push({ text, isQuoted, isAttached: this.isAttached, ...at })
    this.isAttached = true
  }

  /** Skips a character, with the backslash before it. */
  private stepOver(): void {
    const { text } = this
    if (text.charCodeAt(this.at) === BACKSLASH) {
      this.at++
      const isLast = this.at >= text.length || text.charCodeAt(this.at) === NEWLINE
      if (isLast) throw this.error('a backslash ends the line')
    }
    if (text.charCodeAt(this.at) === NEWLINE) this.endLine()
    else this.at++
  }

  private error(reason: string): ZoneFileError {
    const { file, line } = this
    return new ZoneFileError({ file, line, column: this.at - this.lineStart + 1 }, reason)
  }
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB || code === RETURN || code === NEWLINE
}

function isPlain(code: number): boolean {
  if (isBlank(code)) return false
  return code !== QUOTE && code !== OPEN && code !== CLOSE && code !== SEMICOLON
}

/** Escapes characters under `codeMin`, and the bytes of those beyond ASCII, as `\DDD`. */
function escapeBytes(text: string, codeMin: number): string {
  const isOdd = (code: number): boolean => code < codeMin || code > 0x7e
  let at = 0
  while (at < text.length && !isOdd(text.charCodeAt(at))) at++
  if (at === text.length) return text
  return text.replace(/\\([\s\S])|[\s\S]/gu, (whole, escaped?: string) => {
    const char = escaped ?? whole
    if (!isOdd(char.charCodeAt(0))) return whole
    const bytes = new TextEncoder().encode(char)
    return Array.from(bytes, (byte) => `\\${String(byte).padStart(3, '0')}`).join('')
  })
}
