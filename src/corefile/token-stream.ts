/**
 * The words of a Corefile one after the other, with those of snippets and files in the places of
 * `import` (github.com/coredns/caddy, caddyfile/parse.go, `doImport`).
 * @module
 */
import { nearest } from './arguments.ts'
import { type Environment, expandVariables } from './environment.ts'
import { type ConfigError, configError, type Position, type Problem } from './problem.ts'
import { isAnyBrace, isBrace, isSameLine, readTokens, type Token, WORDS_MAX } from './tokens.ts'
import { findUnclosed, type UnclosedBrace } from './unclosed-brace.ts'

/** Where a Corefile and what it imports come from. */
export type CorefileSource = {
  /** Reads a file; `undefined` when it is not there or not a file. */
  readonly readText: (path: string) => string | undefined
  /** Lists the files that a pattern with one `*` and one `?` at most matches, sorted. */
  readonly glob: (pattern: string) => readonly string[]
  /** Makes a path that is relative to the folder of the file `from` absolute. */
  readonly resolvePath: (from: string, path: string) => string
  readonly environment: Environment
}

/** Imports in one Corefile; more means that it imports itself. */
const IMPORTS_MAX = 10_000
/** Words put in at once: they are arguments of one call, for which the stack has to have room. */
const SPLICE_MAX = 10_000

/** The words, and the one that is read next. */
export class TokenStream {
  /** What works, but hardly as it was meant. */
  readonly warnings: Problem[] = []
  /** Whether the end came before the end of the words. */
  hasGivenUp = false
  private readonly tokens: Token[]
  private readonly source: CorefileSource
  private readonly snippets = new Map<string, readonly Token[]>()
  /** Variables that were missed already. */
  private readonly unset = new Set<string>()
  private at = 0
  private importCount = 0

  constructor(text: string, file: string, source: CorefileSource) {
    this.tokens = this.read(text, file)
    this.source = source
  }

  /** The next word; `undefined` at the end. */
  get token(): Token | undefined {
    return this.tokens[this.at]
  }

  /** The word that was read last. */
  get previous(): Token | undefined {
    return this.tokens[this.at - 1]
  }

  /** Goes on to the word after the next. */
  advance(): void {
    this.at++
  }

  /** Whether the next word is the first of its line. */
  isLineStart(): boolean {
    const { token, previous } = this
    if (token === undefined || previous === undefined) return true
    return !isSameLine(previous, token)
  }

  /** Reads no further, and makes the error that says why. */
  giveUp(at: Position, message: string): ConfigError {
    this.at = this.tokens.length
    this.hasGivenUp = true
    return configError(at, message)
  }

  /** Notes a closing brace that has words before it on its line. */
  noteCrowded(brace: Token): void {
    this.warn(brace, 'CoreDNS takes this "}" only on a line of its own')
  }

  /** Notes a server block that only the end of the file closes. */
  noteUnclosed(opening: Token): void {
    this.warn(opening, 'this "{" is never closed, which only the end of the file makes good')
  }

  /** What to say of a brace that nothing closes until the end. */
  unclosed(opening: Token): UnclosedBrace {
    return findUnclosed(this.tokens, opening)
  }

  /** Goes on behind the brace that closes a block whose opening brace was read, if any does. */
  skipBlock(): boolean {
    let depth = 1
    for (; depth > 0 && this.token !== undefined; this.at++) {
      if (isBrace(this.token, '{')) depth++
      if (isBrace(this.token, '}')) depth--
    }
    return depth === 0
  }

  /** Goes on to the next line, or to a brace before it. */
  skipWords(): void {
    do this.at++
    while (this.token !== undefined && !this.isLineStart() && !isAnyBrace(this.token))
  }

  /** Returns a word's text with variables in their places. */
  expand(token: Token): string {
    const { environment } = this.source
    return expandVariables(token.text, (name) => {
      const value = environment(name)
      if (value === undefined && !this.unset.has(name)) {
        this.unset.add(name)
        this.warn(token, `environment variable "${name}" is not set, and stands for nothing`)
      }
      return value
    })
  }

  /**
   * Keeps the words up to the closing brace, which is skipped, as a snippet. Returns false when no
   * brace closes it.
   * @throws {ConfigError} when it imports itself
   */
  keepSnippet(name: string): boolean {
    const start = this.at
    const isClosed = this.skipBlock()
    const words = this.tokens.slice(start, isClosed ? this.at - 1 : this.at)
    const itself = words.find((word, i) => {
      const isImport = word.text === 'import' && words[i + 1]?.text === name
      return isImport && (i === 0 || !isSameLine(words[i - 1] ?? word, word))
    })
    this.snippets.set(name, itself === undefined ? words : [])
    if (itself !== undefined) throw configError(itself, `snippet "${name}" imports itself`)
    return isClosed
  }

  /** Whether there is a snippet of this name yet. */
  hasSnippet(name: string): boolean {
    return this.snippets.has(name)
  }

  /**
   * Puts the words of a snippet or of files in the place of `import NAME`, which is next.
   * @throws {ConfigError} when there is no such thing, with `import` still next; or when imports
   * never end, with nothing left to read
   */
  expandImport(directive: Token): void {
    const name = this.tokens[this.at + 1]
    if (name === undefined || isAnyBrace(name) || !isSameLine(directive, name)) {
      throw configError(directive, 'import needs a snippet, a file or a pattern')
    }
    const surplus = this.tokens[this.at + 2]
    if (surplus !== undefined && isSameLine(name, surplus) && !isBrace(surplus, '}')) {
      throw configError(surplus, 'import takes one snippet, file or pattern')
    }
    if (++this.importCount > IMPORTS_MAX) throw this.giveUp(directive, 'import never ends')
    const imported = this.importTokens(this.expand(name), name)
    if (this.tokens.length + imported.length > WORDS_MAX) {
      throw this.giveUp(directive, `over ${WORDS_MAX} words with all imports`)
    }
    if (surplus !== undefined && isSameLine(name, surplus)) this.noteCrowded(surplus)
    this.tokens.splice(this.at, 2)
    for (let i = 0; i < imported.length; i += SPLICE_MAX) {
      this.tokens.splice(this.at + i, 0, ...imported.slice(i, i + SPLICE_MAX))
    }
  }

  private importTokens(name: string, at: Token): readonly Token[] {
    const snippet = this.snippets.get(name)
    if (snippet !== undefined) return snippet
    if (name === '') throw configError(at, `"${at.text}" is empty: there is nothing to import`)
    const path = this.source.resolvePath(at.file, name)
    if (/\[.*\]|\].*\[/.test(path)) {
      throw configError(at, `"${name}" has brackets; a pattern may have one "*" and one "?"`)
    }
    if (/\*.*\*|\?.*\?/.test(path)) throw configError(at, `"${name}" has more than one wildcard`)
    if (!/[*?]/.test(path)) return this.readFile(path, name, at)
    const paths = this.source.glob(path)
    if (paths.length === 0) this.warn(at, `no file matches "${path}": nothing is imported`)
    return paths.flatMap((one) => this.readFile(one, name, at))
  }

  private readFile(path: string, name: string, at: Position): Token[] {
    const text = this.source.readText(path)
    if (text !== undefined) return this.read(text, path)
    const below = this.tokens.find(({ text: word, file, line }, i) => {
      const isBelow = word === `(${name})` && file === at.file && line > at.line
      return isBelow && isBrace(this.tokens[i + 1], '{')
    })
    const near = nearest(name, [...this.snippets.keys()])
    let hint = 'no such snippet before here, and no such file'
    if (near !== undefined) hint += `; did you mean the snippet "${near}"?`
    if (below !== undefined) {
      hint = `the snippet is defined below, in line ${below.line}; move it up`
    }
    throw configError(at, `cannot import "${path}": ${hint}`)
  }

  private read(text: string, file: string): Token[] {
    const tokens = readTokens(text, file)
    for (const token of tokens) {
      if (token.mishap !== 'hash within') continue
      this.warn(
        token,
        '"#" within a word hides the rest of that word; put a blank before a comment',
      )
    }
    return tokens
  }

  private warn({ file, line, column }: Position, message: string): void {
    this.warnings.push({ file, line, column, message })
  }
}
