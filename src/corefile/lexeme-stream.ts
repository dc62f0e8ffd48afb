/**
 * The lexemes of a Corefile in order; snippets and files replace their `import`
 * (github.com/coredns/caddy, caddyfile/parse.go, `doImport`).
 * @module
 */
import { nearest } from './arguments.ts'
import { isAnyBrace, isBrace, isSameLine, type Lexeme, readLexemes, WORDS_MAX } from './lexemes.ts'
import { type ConfigError, configError, type Position, type Problem } from './problem.ts'
import { findUnclosed, type UnclosedBrace } from './unclosed-brace.ts'

/** Access to imported files and the environment. */
export type CorefileSource = {
  /** Reads a file; `undefined` if it is missing or not a file. */
  readonly readText: (path: string) => string | undefined
  /** Lists the files that match a pattern, sorted. The pattern has at most one `*` and one `?`. */
  readonly glob: (pattern: string) => readonly string[]
  /** Resolves a path relative to the folder of the file `from`. */
  readonly resolvePath: (from: string, path: string) => string
  readonly environment: Environment
}

/** Without imported files and environment variables. */
export const NO_FILES: CorefileSource = {
  readText: () => undefined,
  glob: () => [],
  resolvePath: (_, path) => path,
  environment: () => undefined,
}

/** Maximum number of imports; beyond it, the Corefile probably imports itself. */
const IMPORTS_MAX = 10_000
/** Lexemes inserted at once: they are arguments of one call, which the stack must hold. */
const SPLICE_MAX = 10_000

/** The lexemes, and a cursor. */
export class LexemeStream {
  /** Warnings about likely mistakes. */
  readonly warnings: Problem[] = []
  /** Whether `giveUp` was called. */
  hasGivenUp = false
  private readonly lexemes: Lexeme[]
  private readonly source: CorefileSource
  private readonly snippets = new Map<string, readonly Lexeme[]>()
  /** Unset variables that have a warning already. */
  private readonly unset = new Set<string>()
  private at = 0
  private importCount = 0

  constructor(text: string, file: string, source: CorefileSource) {
    this.lexemes = this.read(text, file)
    this.source = source
  }

  /** The next lexeme; `undefined` at the end. */
  get lexeme(): Lexeme | undefined {
    return this.lexemes[this.at]
  }

  /** The lexeme before the next one. */
  get previous(): Lexeme | undefined {
    return this.lexemes[this.at - 1]
  }

  /** Moves past the next lexeme. */
  advance(): void {
    this.at++
  }

  /** Returns whether the next lexeme is the first of its line. */
  isLineStart(): boolean {
    const { lexeme, previous } = this
    if (lexeme === undefined || previous === undefined) return true
    return !isSameLine(previous, lexeme)
  }

  /** Moves to the end and creates the error with the reason. */
  giveUp(at: Position, message: string): ConfigError {
    this.at = this.lexemes.length
    this.hasGivenUp = true
    return configError(at, message)
  }

  /** Warns about a closing brace after other words on its line. */
  noteCrowded(brace: Lexeme): void {
    this.warn(brace, 'CoreDNS accepts this "}" only on a line of its own')
  }

  /** Warns about a closing brace that ends the file and closes nothing. */
  noteSurplus(brace: Lexeme): void {
    this.warn(brace, 'this "}" closes nothing and is ignored; CoreDNS serves it as a zone')
  }

  /** Warns about a server block that only the end of the file closes. */
  noteUnclosed(opening: Lexeme): void {
    this.warn(opening, 'this "{" is not closed; CoreDNS accepts that only at the end of the file')
  }

  /** Returns the error for a brace that is not closed until the end. */
  unclosed(opening: Lexeme): UnclosedBrace {
    return findUnclosed(this.lexemes, opening)
  }

  /** Moves past the closing brace of a block after its opening brace; false if it has none. */
  skipBlock(): boolean {
    let depth = 1
    for (; depth > 0 && this.lexeme !== undefined; this.at++) {
      if (isBrace(this.lexeme, '{')) depth++
      if (isBrace(this.lexeme, '}')) depth--
    }
    return depth === 0
  }

  /** Moves to the next line, or to a brace before it. */
  skipWords(): void {
    do this.at++
    while (this.lexeme !== undefined && !this.isLineStart() && !isAnyBrace(this.lexeme))
  }

  /** Returns a lexeme's text with its variables replaced by their values. */
  expand(lexeme: Lexeme): string {
    const { environment } = this.source
    return expandVariables(lexeme.text, (name) => {
      const value = environment(name)
      if (value === undefined && !this.unset.has(name)) {
        this.unset.add(name)
        this.warn(lexeme, `environment variable "${name}" is not set; using an empty value`)
      }
      return value
    })
  }

  /**
   * Stores the lexemes up to the closing brace as a snippet. Returns false without a closing brace.
   * @throws {ConfigError} if the snippet imports itself
   */
  keepSnippet(name: string): boolean {
    const start = this.at
    const isClosed = this.skipBlock()
    const words = this.lexemes.slice(start, isClosed ? this.at - 1 : this.at)
    const itself = words.find((word, i) => {
      const isImport = word.text === 'import' && words[i + 1]?.text === name
      return isImport && (i === 0 || !isSameLine(words[i - 1] ?? word, word))
    })
    this.snippets.set(name, itself === undefined ? words : [])
    if (itself !== undefined) throw configError(itself, `snippet "${name}" imports itself`)
    return isClosed
  }

  /** Returns whether a snippet of this name is defined so far. */
  hasSnippet(name: string): boolean {
    return this.snippets.has(name)
  }

  /**
   * Replaces `import NAME`, which is next, with the lexemes of a snippet or of files.
   * @throws {ConfigError} if there is no such snippet or file, with `import` still next; or beyond
   *   the bound on imports, with the stream at its end
   */
  expandImport(directive: Lexeme): void {
    const name = this.lexemes[this.at + 1]
    if (name === undefined || isAnyBrace(name) || !isSameLine(directive, name)) {
      throw configError(directive, '"import" needs a snippet, a file or a pattern')
    }
    const surplus = this.lexemes[this.at + 2]
    if (surplus !== undefined && isSameLine(name, surplus) && !isBrace(surplus, '}')) {
      throw configError(surplus, '"import" takes only one snippet, file or pattern')
    }
    if (++this.importCount > IMPORTS_MAX)
      throw this.giveUp(directive, `more than ${IMPORTS_MAX} imports: a file imports itself`)
    const imported = this.importLexemes(this.expand(name), name)
    if (this.lexemes.length + imported.length > WORDS_MAX) {
      throw this.giveUp(directive, `more than ${WORDS_MAX} words with all imports`)
    }
    if (surplus !== undefined && isSameLine(name, surplus)) this.noteCrowded(surplus)
    this.lexemes.splice(this.at, 2)
    for (let i = 0; i < imported.length; i += SPLICE_MAX) {
      this.lexemes.splice(this.at + i, 0, ...imported.slice(i, i + SPLICE_MAX))
    }
  }

  private importLexemes(name: string, at: Lexeme): readonly Lexeme[] {
    const snippet = this.snippets.get(name)
    if (snippet !== undefined) return snippet
    if (name === '') throw configError(at, `"${at.text}" is empty: nothing to import`)
    const path = this.source.resolvePath(at.file, name)
    if (/\[.*\]|\].*\[/.test(path)) {
      throw configError(at, `"${name}" has brackets; a pattern can have one "*" and one "?"`)
    }
    if (/\*.*\*|\?.*\?/.test(path)) throw configError(at, `"${name}" has more than one wildcard`)
    if (!/[*?]/.test(path)) return this.readFile(path, name, at)
    const paths = this.source.glob(path)
    if (paths.length === 0) this.warn(at, `no file matches "${path}"; nothing imported`)
    return paths.flatMap((one) => this.readFile(one, name, at))
  }

  private readFile(path: string, name: string, at: Position): Lexeme[] {
    const text = this.source.readText(path)
    if (text !== undefined) return this.read(text, path)
    const below = this.lexemes.find(({ text: word, file, line }, i) => {
      const isBelow = word === `(${name})` && file === at.file && line > at.line
      return isBelow && isBrace(this.lexemes[i + 1], '{')
    })
    const near = nearest(name, [...this.snippets.keys()])
    let hint = 'no such snippet above, and no such file'
    if (near !== undefined) hint += `; did you mean the snippet "${near}"?`
    if (below !== undefined) {
      hint = `the snippet is defined below, on line ${below.line}; move it up`
    }
    throw configError(at, `cannot import "${path}": ${hint}`)
  }

  private read(text: string, file: string): Lexeme[] {
    const lexemes = readLexemes(text, file)
    for (const lexeme of lexemes) {
      if (lexeme.mishap !== 'hash within') continue
      this.warn(
        lexeme,
        '"#" within a word hides the rest of that word; put a space before a comment',
      )
    }
    return lexemes
  }

  private warn({ file, line, column }: Position, message: string): void {
    this.warnings.push({ file, line, column, message })
  }
}

/** Returns the value of a variable; `undefined` if it is not set. */
export type Environment = (name: string) => string | undefined

/** Maximum number of variables in a word, including those in values of variables. */
const VARIABLES_MAX = 1000
/** Maximum length of an expanded word. */
const CHARACTERS_MAX = 1_000_000

/**
 * Replaces variables with their values, also variables within values (github.com/coredns/caddy,
 * caddyfile/parse.go, `replaceEnvReferences`). Stops at empty braces, which stay as they are.
 */
export function expandVariables(text: string, environment: Environment): string {
  return expandBetween(expandBetween(text, ['{%', '%}'], environment), ['{$', '}'], environment)
}

function expandBetween(
  text: string,
  [opening, closing]: readonly [string, string],
  environment: Environment,
): string {
  let expanded = text
  for (let i = 0; i < VARIABLES_MAX; i++) {
    const start = expanded.indexOf(opening)
    const end = start < 0 ? -1 : expanded.indexOf(closing, start)
    const name = expanded.slice(start + opening.length, end)
    if (end <= start + opening.length || expanded.length > CHARACTERS_MAX) break
    const value = environment(name) ?? ''
    expanded = expanded.split(opening + name + closing).join(value)
  }
  return expanded
}
