/**
 * Reads a text from left to right, character by character.
 * @module
 */
import { PatternError } from './syntax.ts'

/** A place in an expression's text. */
export class PatternScanner {
  private readonly text: string
  private at = 0

  constructor(text: string) {
    this.text = text
  }

  /** Whether all was read. */
  get isAtEnd(): boolean {
    return this.at >= this.text.length
  }

  /** What is left, or the beginning of it. */
  rest(length: number = Infinity): string {
    return this.text.slice(this.at, this.at + length)
  }

  /** Whether a word comes next. */
  sees(word: string): boolean {
    return this.text.startsWith(word, this.at)
  }

  /** Steps over a word when it comes next, and tells whether it did. */
  take(word: string): boolean {
    const isNext = this.sees(word)
    if (isNext) this.at += word.length
    return isNext
  }

  /** Steps over characters that were looked at. */
  skip(length: number): void {
    this.at += length
  }

  /** Reads the next character, whole also when it takes two code units. @throws {PatternError} */
  next(): string {
    const code = this.text.codePointAt(this.at)
    if (code === undefined) throw new PatternError('it ends too early')
    const character = String.fromCodePoint(code)
    this.at += character.length
    return character
  }

  /** Reads up to a word and over it, or to the end. */
  takeUntil(word: string): string {
    const found = this.text.indexOf(word, this.at)
    const end = found < 0 ? this.text.length : found
    const taken = this.text.slice(this.at, end)
    this.at = found < 0 ? end : end + word.length
    return taken
  }
}
