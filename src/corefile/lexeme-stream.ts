/**
 * The lexemes of a Corefile in order; snippets and files replace their `import`
 * (github.com/coredns/caddy, caddyfile/parse.go, `doImport`).
 * @module
 */
import type { Steps } from '../dns/bytes/steps.ts'
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
  /** Returns the same text for all paths of one file; the path itself when absent. */
  readonly identify?: (path: string) => string
  readonly environment: Variables
}

/** Without imported files and environment variables. */
export const NO_FILES: CorefileSource = {
  readText: () => undefined,
  glob: () => [],
  resolvePath: (_, path) => path,
  environment: () => undefined,
}

/** Maximum number of imports: snippets that import others several times multiply. */
const IMPORTS_MAX = 10_000
/** Maximum number of imports within each other. */
const IMPORT_DEPTH_MAX = 100
/** Maximum number of imported files, and of characters in all of them. */
const IMPORTED_FILES_MAX = 10_000
const IMPORTED_CHARACTERS_MAX = 16 * 1024 * 1024

/** The Corefile, or a file or snippet that is imported, with the one that imports it. */
type Origin = {
  /** The lexemes of a snippet, or what identifies a file. */
  readonly id: readonly Lexeme[] | string
  /** The name in messages. */
  readonly name: string
  readonly importedBy?: Origin
  readonly depth: number
}

/** Lexemes of one origin, and those of them that were passed. */
type Frame = { readonly lexemes: readonly Lexeme[]; readonly origin: Origin; at: number }

/** The lexemes, and a cursor. */
export class LexemeStream {
  /** Warnings about likely mistakes. */
  readonly warnings: Problem[] = []
  /** Whether `giveUp` was called. */
  hasGivenUp = false
  /** Those with lexemes to come, the innermost last. */
  private frames: Frame[] = []
  private readonly passed: Lexeme[] = []
  private readonly source: CorefileSource
  private readonly snippets = new Map<string, readonly Lexeme[]>()
  private readonly files = new Map<string, readonly Lexeme[]>()
  /** What identifies the file at a path. */
  private readonly ids = new Map<string, string>()
  /** Unset variables that have a warning already. */
  private readonly unset = new Set<string>()
  private wordCount = 0
  private importCount = 0
  private importedCharacters = 0

  private constructor(source: CorefileSource) {
    this.source = source
  }

  /** Opens the lexemes of a text, in steps. @throws {ConfigError} beyond the bound on words */
  static *of(text: string, file: string, source: CorefileSource): Steps<LexemeStream> {
    const stream = new LexemeStream(source)
    const origin = { id: stream.identify(file), name: `"${file}"`, depth: 0 }
    stream.open(yield* stream.read(text, file), origin)
    return stream
  }

  /** The next lexeme; `undefined` at the end. */
  get lexeme(): Lexeme | undefined {
    const frame = this.frames.at(-1)
    return frame?.lexemes[frame.at]
  }

  /** The lexeme before the next one. */
  get previous(): Lexeme | undefined {
    return this.passed.at(-1)
  }

  /** Moves past the next lexeme. */
  advance(): void {
    const { lexeme } = this
    if (lexeme === undefined) return
    this.passed.push(lexeme)
    this.drop()
  }

  /** Returns whether the next lexeme is the first of its line. */
  isLineStart(): boolean {
    const { lexeme, previous } = this
    if (lexeme === undefined || previous === undefined) return true
    return !isSameLine(previous, lexeme)
  }

  /** Moves to the end and creates the error with the reason. */
  giveUp(at: Position, message: string): ConfigError {
    this.frames = []
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
    return findUnclosed([...this.passed, ...this.rest()], opening)
  }

  /** Moves past the closing brace of a block after its opening brace; false if it has none. */
  skipBlock(): boolean {
    let depth = 1
    for (let { lexeme } = this; depth > 0 && lexeme !== undefined; { lexeme } = this) {
      if (isBrace(lexeme, '{')) depth++
      if (isBrace(lexeme, '}')) depth--
      this.advance()
    }
    return depth === 0
  }

  /** Moves to the next line, or to a brace before it. */
  skipWords(): void {
    do this.advance()
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
    const start = this.passed.length
    const isClosed = this.skipBlock()
    const words = this.passed.slice(start, isClosed ? -1 : undefined)
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
   * Replaces `import NAME`, which is next, with the lexemes of a snippet or of files, in steps.
   * @throws {ConfigError} if there is no such snippet or file, with `import` still next; with the
   *   stream at its end for an import of what is being imported, and beyond the bounds
   */
  *expandImport(directive: Lexeme): Steps<void> {
    const [name, surplus] = this.after()
    if (name === undefined || isAnyBrace(name) || !isSameLine(directive, name)) {
      throw configError(directive, '"import" needs a snippet, a file or a pattern')
    }
    if (surplus !== undefined && isSameLine(name, surplus) && !isBrace(surplus, '}')) {
      throw configError(surplus, '"import" takes only one snippet, file or pattern')
    }
    if (++this.importCount > IMPORTS_MAX) {
      throw this.giveUp(directive, `more than ${IMPORTS_MAX} imports`)
    }
    const imported = yield* this.openImports(this.expand(name), name, directive)
    if (surplus !== undefined && isSameLine(name, surplus)) this.noteCrowded(surplus)
    this.drop()
    this.drop()
    for (const { lexemes, origin } of imported.reverse()) this.open(lexemes, origin)
    if (this.wordCount > WORDS_MAX) {
      throw this.giveUp(directive, `more than ${WORDS_MAX} words with all imports`)
    }
  }

  /** Returns the snippet or the files, in order. */
  private *openImports(name: string, at: Lexeme, directive: Lexeme): Steps<Frame[]> {
    const snippet = this.snippets.get(name)
    if (snippet !== undefined) {
      const origin = this.originOf(snippet, `snippet "${name}"`, directive)
      return [{ lexemes: snippet, origin, at: 0 }]
    }
    const frames: Frame[] = []
    for (const path of this.pathsOf(name, at)) {
      const origin = this.originOf(this.identify(path), `"${path}"`, directive)
      frames.push({ lexemes: yield* this.readFile(path, name, at), origin, at: 0 })
      yield
    }
    return frames
  }

  private pathsOf(name: string, at: Lexeme): readonly string[] {
    if (name === '') throw configError(at, `"${at.text}" is empty: nothing to import`)
    const path = this.source.resolvePath(at.file, name)
    if (/\[.*\]|\].*\[/.test(path)) {
      throw configError(at, `"${name}" has brackets; a pattern can have one "*" and one "?"`)
    }
    if (/\*.*\*|\?.*\?/.test(path)) throw configError(at, `"${name}" has more than one wildcard`)
    if (!/[*?]/.test(path)) return [path]
    const paths = this.source.glob(path)
    if (paths.length === 0) this.warn(at, `no file matches "${path}"; nothing imported`)
    return paths
  }

  /** @throws {ConfigError} if this is imported already, by itself or by what it imports */
  private originOf(id: Origin['id'], name: string, directive: Lexeme): Origin {
    const importedBy = this.frames.at(-1)?.origin
    const through: string[] = []
    for (let above = importedBy; above !== undefined; above = above.importedBy) {
      if (above.id === id) {
        const way = through.length === 0 ? '' : ` by way of ${through.reverse().join(', ')}`
        throw this.giveUp(directive, `${name} imports itself${way}`)
      }
      through.push(above.name)
    }
    const depth = (importedBy?.depth ?? 0) + 1
    if (depth > IMPORT_DEPTH_MAX) {
      throw this.giveUp(directive, `more than ${IMPORT_DEPTH_MAX} imports within each other`)
    }
    return { id, name, depth, ...(importedBy && { importedBy }) }
  }

  private *readFile(path: string, name: string, at: Position): Steps<readonly Lexeme[]> {
    const known = this.files.get(path)
    if (known !== undefined) return known
    const text = this.source.readText(path)
    if (text === undefined) throw configError(at, `cannot import "${path}": ${this.hint(name, at)}`)
    this.importedCharacters += text.length
    if (this.files.size === IMPORTED_FILES_MAX) {
      throw this.giveUp(at, `more than ${IMPORTED_FILES_MAX} imported files`)
    }
    if (this.importedCharacters > IMPORTED_CHARACTERS_MAX) {
      throw this.giveUp(at, `more than ${IMPORTED_CHARACTERS_MAX} characters in imported files`)
    }
    const lexemes = yield* this.read(text, path)
    this.files.set(path, lexemes)
    return lexemes
  }

  /** Returns why there is nothing to import by a name. */
  private hint(name: string, at: Position): string {
    const rest = this.rest()
    const below = rest.find(({ text, file }, i) => {
      return text === `(${name})` && file === at.file && isBrace(rest[i + 1], '{')
    })
    if (below !== undefined) {
      return `the snippet is defined below, on line ${below.line}; move it up`
    }
    const near = nearest(name, [...this.snippets.keys()])
    const meant = near === undefined ? '' : `; did you mean the snippet "${near}"?`
    return `no such snippet above, and no such file${meant}`
  }

  private identify(path: string): string {
    const id = this.ids.get(path) ?? this.source.identify?.(path) ?? path
    this.ids.set(path, id)
    return id
  }

  private open(lexemes: readonly Lexeme[], origin: Origin): void {
    this.wordCount += lexemes.length
    if (lexemes.length > 0) this.frames.push({ lexemes, origin, at: 0 })
  }

  /** Removes the next lexeme. */
  private drop(): void {
    const frame = this.frames.at(-1)
    if (frame !== undefined && ++frame.at === frame.lexemes.length) this.frames.pop()
  }

  /** Returns the two lexemes after the next one. */
  private after(): readonly (Lexeme | undefined)[] {
    const inner = this.frames.at(-1)
    const outer = this.frames.at(-2)
    return [
      ...(inner?.lexemes.slice(inner.at + 1, inner.at + 3) ?? []),
      ...(outer?.lexemes.slice(outer.at, outer.at + 2) ?? []),
    ]
  }

  /** Returns all lexemes to come. */
  private rest(): Lexeme[] {
    return this.frames.toReversed().flatMap(({ lexemes, at }) => lexemes.slice(at))
  }

  private *read(text: string, file: string): Steps<Lexeme[]> {
    const lexemes = yield* readLexemes(text, file)
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
export type Variables = (name: string) => string | undefined

/** Maximum number of variables in a word, including those in values of variables. */
const VARIABLES_MAX = 1000
/** Maximum length of an expanded word. */
const CHARACTERS_MAX = 1_000_000

/**
 * Replaces variables with their values, also variables within values (github.com/coredns/caddy,
 * caddyfile/parse.go, `replaceEnvReferences`). Stops at empty braces, which stay as they are.
 */
export function expandVariables(text: string, environment: Variables): string {
  return expandBetween(expandBetween(text, ['{%', '%}'], environment), ['{$', '}'], environment)
}

function expandBetween(
  text: string,
  [opening, closing]: readonly [string, string],
  environment: Variables,
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
