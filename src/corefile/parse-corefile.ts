/**
 * Reads a Corefile: server blocks with their zones, snippets, `import`, and environment variables
 * (github.com/coredns/caddy, caddyfile/parse.go). What plugins make of their directives is theirs.
 * @module
 */
import { type Environment, expandVariables } from './environment.ts'
import { ConfigError, configError, type Position, type Problem } from './problem.ts'
import type { Directive, Line, ServerBlock, Word } from './server-block.ts'
import { readTokens, type Token } from './tokens.ts'
import { parseZoneKey } from './zone-key.ts'

/** Imports in one Corefile; more means that it imports itself. */
const IMPORTS_MAX = 10_000
/** Words of a Corefile with all that it imports. */
const TOKENS_MAX = 1_000_000
/** Blocks within each other, the server block not counted. */
const BLOCKS_WITHIN_MAX = 100
/** Words put in at once: they are arguments of one call, for which the stack has to have room. */
const SPLICE_MAX = 10_000

/** Where a Corefile and what it imports come from. */
export type CorefileSource = {
  /** Reads a file; `undefined` when it is not there or not a file. */
  readonly readText: (path: string) => string | undefined
  /** Lists the files that a pattern with one `*` or `?` matches, sorted. */
  readonly glob: (pattern: string) => readonly string[]
  /** Makes a path that is relative to the folder of the file `from` absolute. */
  readonly resolvePath: (from: string, path: string) => string
  readonly environment: Environment
}

/**
 * Reads a Corefile's text.
 * @throws {ConfigError} with the place of the first thing that is not the language
 */
export function parseCorefile(text: string, file: string, source: CorefileSource): ServerBlock[] {
  return new Parser(readTokens(text, file), source).parseAll()
}

class Parser {
  private readonly tokens: Token[]
  private readonly source: CorefileSource
  private readonly snippets = new Map<string, readonly Token[]>()
  private readonly problems: Problem[] = []
  private at = 0
  private importCount = 0
  /** Blocks within each other at the current word. */
  private depth = 0

  constructor(tokens: Token[], source: CorefileSource) {
    this.tokens = tokens
    this.source = source
  }

  parseAll(): ServerBlock[] {
    const blocks: ServerBlock[] = []
    while (this.at < this.tokens.length) {
      const block = this.parseBlock()
      if (block !== undefined) blocks.push(block)
    }
    if (this.problems.length > 0) throw new ConfigError(this.problems)
    return blocks
  }

  /** Reads a server block, or a snippet, which is none. */
  private parseBlock(): ServerBlock | undefined {
    const keys = this.parseKeys()
    const first = keys[0]
    if (first === undefined) {
      const brace = this.tokens[this.at]
      if (brace !== undefined) throw configError(brace, 'expected a zone before "{"')
      return undefined
    }
    const snippet = keys.length === 1 ? /^\((.*)\)$/.exec(first.text)?.[1] : undefined
    if (snippet !== undefined) {
      this.parseSnippet(snippet, first)
      return undefined
    }
    const opening = this.tokens[this.at]
    const hasBraces = isBrace(opening, '{')
    if (hasBraces) this.at++
    const directives = this.parseDirectives(hasBraces ? opening : undefined)
    return {
      ...place(first),
      keys: keys.flatMap((key) => this.attempt(() => parseZoneKey(key.text, key)) ?? []),
      directives,
    }
  }

  /** Reads up to the brace; commas may separate keys, and one at the end of a line goes on. */
  private parseKeys(): Word[] {
    const keys: Word[] = []
    let needsMore = false
    while (this.at < this.tokens.length) {
      const token = this.current()
      if (token.text === 'import' && this.isLineStart()) {
        this.expandImport()
        continue
      }
      if (isBrace(token, '{')) {
        if (needsMore) throw configError(token, 'expected another zone after the comma, got "{"')
        break
      }
      if (keys.length > 0 && !needsMore && this.isLineStart()) break
      if (isBrace(token, '}')) throw configError(token, 'this "}" closes nothing')
      const text = this.expand(token)
      needsMore = text.endsWith(',')
      const key = needsMore ? text.slice(0, -1) : text
      if (key !== '') keys.push({ ...place(token), text: key })
      this.at++
    }
    const last = keys.at(-1)
    if (needsMore && this.at >= this.tokens.length && last !== undefined) {
      throw configError(last, 'expected another zone after the comma, got the end of the file')
    }
    return keys
  }

  private parseSnippet(name: string, at: Word): void {
    if (this.snippets.has(name)) throw configError(at, `snippet "${name}" is defined twice`)
    const opening = this.tokens[this.at]
    if (!isBrace(opening, '{')) throw configError(at, `snippet "${name}" has no block in braces`)
    const start = ++this.at
    for (let depth = 1; depth > 0; this.at++) {
      const token = this.tokens[this.at]
      if (token === undefined) throw configError(opening ?? at, 'this "{" is never closed')
      if (isBrace(token, '{')) depth++
      if (isBrace(token, '}')) depth--
    }
    this.snippets.set(name, this.tokens.slice(start, this.at - 1))
  }

  private parseDirectives(opening: Token | undefined): Directive[] {
    const directives: Directive[] = []
    for (;;) {
      const token = this.tokens[this.at]
      if (token === undefined) {
        if (opening !== undefined) throw configError(opening, 'this "{" is never closed')
        return directives
      }
      if (isBrace(token, '}')) {
        if (opening === undefined) throw configError(token, 'this "}" closes nothing')
        this.at++
        return directives
      }
      if (token.text === 'import' && !token.isQuoted) {
        this.expandImport()
        continue
      }
      const { words, lines } = this.parseLine()
      const [name, ...args] = words
      if (name !== undefined) directives.push({ ...place(name), name: name.text, args, lines })
    }
  }

  /** Reads the words of a line and, when a brace ends it, the lines of its block. */
  private parseLine(): Line {
    const words: Word[] = []
    do {
      const token = this.current()
      if (isBrace(token, '{')) {
        if (words.length === 0) throw configError(token, 'expected a word before "{" on its line')
        this.at++
        return { words, lines: this.parseLines(token) }
      }
      if (isBrace(token, '}')) return { words, lines: [] }
      words.push({ ...place(token), text: this.expand(token) })
      this.at++
    } while (this.at < this.tokens.length && !this.isLineStart())
    return { words, lines: [] }
  }

  private parseLines(opening: Token): Line[] {
    const lines: Line[] = []
    if (++this.depth > BLOCKS_WITHIN_MAX) {
      throw configError(opening, `over ${BLOCKS_WITHIN_MAX} blocks within each other`)
    }
    for (;;) {
      const token = this.tokens[this.at]
      if (token === undefined) throw configError(opening, 'this "{" is never closed')
      if (isBrace(token, '}')) {
        this.at++
        this.depth--
        return lines
      }
      if (token.text === 'import' && !token.isQuoted && this.isLineStart()) this.expandImport()
      else lines.push(this.parseLine())
    }
  }

  /** Puts the words of a snippet or of files in the place of `import NAME`. */
  private expandImport(): void {
    const directive = this.current()
    const name = this.tokens[this.at + 1]
    if (
      name === undefined ||
      isBrace(name, '{') ||
      isBrace(name, '}') ||
      !isSameLine(directive, name)
    ) {
      throw configError(directive, 'import needs a snippet, a file or a pattern')
    }
    const surplus = this.tokens[this.at + 2]
    if (surplus !== undefined && isSameLine(name, surplus) && !isBrace(surplus, '}')) {
      throw configError(surplus, 'import takes one snippet, file or pattern')
    }
    if (++this.importCount > IMPORTS_MAX) throw configError(directive, 'import never ends')
    const imported = this.importTokens(this.expand(name), name)
    if (this.tokens.length + imported.length > TOKENS_MAX) {
      throw configError(directive, `over ${TOKENS_MAX} words with all imports`)
    }
    this.tokens.splice(this.at, 2)
    for (let i = 0; i < imported.length; i += SPLICE_MAX) {
      this.tokens.splice(this.at + i, 0, ...imported.slice(i, i + SPLICE_MAX))
    }
  }

  private importTokens(name: string, at: Token): readonly Token[] {
    const snippet = this.snippets.get(name)
    if (snippet !== undefined) return snippet
    const path = this.source.resolvePath(at.file, name)
    if ((path.match(/[*?]/g)?.length ?? 0) > 1 || /\[.*\]/.test(path)) {
      throw configError(at, `"${name}" has more than one wildcard`)
    }
    if (/[*?]/.test(path)) return this.source.glob(path).flatMap((one) => this.readFile(one, at))
    return this.readFile(path, at)
  }

  private readFile(path: string, at: Position): Token[] {
    const text = this.source.readText(path)
    if (text === undefined) {
      throw configError(
        at,
        `cannot import "${path}": no such snippet before here, and no such file`,
      )
    }
    return readTokens(text, path)
  }

  private expand(token: Token): string {
    return expandVariables(token.text, this.source.environment)
  }

  private current(): Token {
    const token = this.tokens[this.at]
    if (token === undefined) throw new RangeError('Cannot read past the last word')
    return token
  }

  /** Whether the current word is the first of its line. */
  private isLineStart(): boolean {
    const token = this.tokens[this.at]
    const previous = this.tokens[this.at - 1]
    if (token === undefined || previous === undefined) return true
    return !isSameLine(previous, token)
  }

  /** Runs a step whose failure does not keep the rest from being read. */
  private attempt<T>(step: () => T): T | undefined {
    try {
      return step()
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      this.problems.push(...error.problems)
      return undefined
    }
  }
}

function isBrace(token: Token | undefined, brace: '{' | '}'): boolean {
  return token?.text === brace && !token.isQuoted
}

/** A word of a snippet is never on the line of what came before it: its lines are above. */
function isSameLine(previous: Token, token: Token): boolean {
  return token.file === previous.file && token.line === previous.lastLine
}

function place({ file, line, column }: Position): Position {
  return { file, line, column }
}
