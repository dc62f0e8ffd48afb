/**
 * Parses a Corefile: server blocks with their zones, snippets, `import` and environment variables
 * (github.com/coredns/caddy, caddyfile/parse.go). Plugins parse their own directives.
 *
 * After an error the parser continues where it can, to report all errors at once.
 * @module
 */
import { finish, type Steps } from '../dns/bytes/steps.ts'
import { type CorefileSource, LexemeStream } from './lexeme-stream.ts'
import { isBrace, type Lexeme } from './lexemes.ts'
import { translateOldWords } from './old-words.ts'
import { ConfigError, comparePositions, type Position, type Problem, problemAt } from './problem.ts'
import type { Directive, Line, ServerBlock, Word } from './server-block.ts'
import { parseZoneKey } from './zone-key.ts'

/** Words of a line in a step. */
const STEP_WORDS = 500
/** Maximum depth of nested blocks, without the server block. */
const BLOCKS_WITHIN_MAX = 100

/** First words of a ConfigMap in YAML. */
const YAML_KEYS: ReadonlySet<string> = new Set(['apiVersion:', 'kind:', 'data:', 'metadata:'])

const NO_BLOCK = 'no server block, so no query would get an answer; add one, such as ". { … }"'

/** The parsed parts of a Corefile, which may have errors. */
export type Corefile = {
  readonly blocks: ServerBlock[]
  /** Syntax errors, in the order of the parser. */
  readonly problems: readonly Problem[]
  /** Warnings about likely mistakes and removed options. */
  readonly warnings: readonly Problem[]
}

/**
 * Parses a valid Corefile.
 * @throws {ConfigError} with all syntax errors
 */
export function parseCorefile(text: string, file: string, source: CorefileSource): ServerBlock[] {
  const { blocks, problems } = readCorefile(text, file, source)
  if (problems.length > 0) throw new ConfigError(problems)
  return blocks
}

/**
 * Parses a Corefile at once, and returns its errors with it.
 * @throws {ConfigError} beyond the bound on words
 */
export function readCorefile(text: string, file: string, source: CorefileSource): Corefile {
  return finish(corefileSteps(text, file, source))
}

/** Does what `readCorefile` does in steps, each some words or a line. */
export function* corefileSteps(
  text: string,
  file: string,
  source: CorefileSource,
): Steps<Corefile> {
  const corefile = yield* new Parser(yield* LexemeStream.of(text, file, source)).read()
  if (corefile.blocks.length > 0 || corefile.problems.length > 0) return corefile
  // An editor that truncates the file before it writes must not stop all servers in a reload.
  return { ...corefile, problems: [problemAt({ file, line: 1, column: 1 }, NO_BLOCK)] }
}

class Parser {
  private readonly stream: LexemeStream
  private readonly problems: Problem[] = []
  /** Depth of nested blocks at the current word. */
  private depth = 0
  /** Whether the file ended within a block, and from where directives may be misplaced then. */
  private isCutOff = false
  private doubtfulFrom: Position | undefined
  private closedLast: { readonly opening: Position; readonly closing: Position } | undefined

  constructor(stream: LexemeStream) {
    this.stream = stream
  }

  *read(): Steps<Corefile> {
    const blocks: ServerBlock[] = []
    while (this.stream.lexeme !== undefined) {
      const block = yield* this.parseBlock()
      if (block !== undefined) blocks.push(block)
    }
    const translated = yield* translateOldWords(blocks)
    return {
      blocks: translated.blocks,
      problems: this.problems,
      warnings: [...this.stream.warnings, ...translated.notices],
    }
  }

  /** Parses a server block, or a snippet, for which it returns `undefined`. */
  private *parseBlock(): Steps<ServerBlock | undefined> {
    const { keys, glued } = yield* this.parseKeys()
    const first = keys[0]
    const opening = glued ?? this.stream.lexeme
    const hasBraces = glued !== undefined || isBrace(opening, '{')
    if (first === undefined) {
      if (opening === undefined || !hasBraces) return undefined
      this.report(opening, 'expected a zone before "{"')
      this.stream.advance()
      this.stream.skipBlock()
      return undefined
    }
    const snippet = keys.length === 1 ? /^\((.*)\)$/.exec(first.text)?.[1] : undefined
    if (snippet !== undefined) {
      this.parseSnippet(snippet, first)
      return undefined
    }
    if (YAML_KEYS.has(first.text)) {
      const hint = 'pass only the text below "Corefile: |" in the ConfigMap'
      const message = `"${first.text}" is YAML; ${hint}`
      this.problems.push(...this.stream.giveUp(first, message).problems)
      return undefined
    }
    if (hasBraces && glued === undefined) this.stream.advance()
    const directives = yield* this.parseDirectives(hasBraces ? opening : undefined)
    if (directives === undefined) return undefined
    return {
      ...place(first),
      keys: keys.flatMap((key) => this.attempt(() => parseZoneKey(key.text, key)) ?? []),
      directives,
    }
  }

  /**
   * Parses keys up to the brace. Commas can separate keys, also at the end of a line. Returns the
   * last lexeme as `glued` if the brace is part of it.
   */
  private *parseKeys(): Steps<{ readonly keys: Word[]; readonly glued?: Lexeme }> {
    const { stream } = this
    const keys: Word[] = []
    let comma: Lexeme | undefined
    for (let lexeme = stream.lexeme; lexeme !== undefined; lexeme = stream.lexeme) {
      if (lexeme.text === 'import' && stream.isLineStart()) {
        yield* this.expandImport(lexeme)
        continue
      }
      if (isBrace(lexeme, '{')) {
        const message = 'expected another zone after the comma, got "{"'
        if (comma !== undefined) this.report(lexeme, message)
        return { keys }
      }
      if (keys.length > 0 && comma === undefined && stream.isLineStart()) return { keys }
      stream.advance()
      if (isBrace(lexeme, '}')) {
        if (keys.length === 0 && stream.lexeme === undefined) stream.noteSurplus(lexeme)
        else this.reportStray(lexeme)
        continue
      }
      if (this.isGlued(lexeme)) {
        return {
          keys: [...keys, { ...place(lexeme), text: lexeme.text.slice(0, -1) }],
          glued: lexeme,
        }
      }
      const text = stream.expand(lexeme)
      const hasComma = text.endsWith(',')
      comma = hasComma ? lexeme : undefined
      const key = hasComma ? text.slice(0, -1) : text
      if (key !== '') keys.push({ ...place(lexeme), text: key })
    }
    if (comma !== undefined) {
      this.report(comma, 'expected another zone after the comma, got the end of the file')
    }
    return { keys }
  }

  /** Returns whether the last lexeme of a line ends in a brace, and reports that as an error. */
  private isGlued(lexeme: Lexeme): boolean {
    const { text, isQuoted } = lexeme
    const isLast = this.stream.lexeme === undefined || this.stream.isLineStart()
    if (isQuoted || !isLast || text.length < 2 || !text.endsWith('{')) return false
    this.report(lexeme, `write "${text.slice(0, -1)} {", with a space before the brace`)
    return true
  }

  private parseSnippet(name: string, at: Word): void {
    const { stream } = this
    const opening = stream.lexeme
    if (opening === undefined || !isBrace(opening, '{')) {
      this.report(at, `snippet "${name}" has no block in braces`)
      return
    }
    if (stream.hasSnippet(name)) this.report(at, `snippet "${name}" is defined twice`)
    stream.advance()
    if (this.attempt(() => stream.keepSnippet(name)) === false) this.reportUnclosed(opening)
  }

  /** Parses the body of a server block; `undefined` if it ends in a brace that it did not open. */
  private *parseDirectives(opening: Lexeme | undefined): Steps<Directive[] | undefined> {
    const { stream } = this
    const lines: Line[] = []
    for (;;) {
      const { lexeme } = stream
      if (lexeme === undefined) {
        if (opening !== undefined) this.reportUnclosedServer(opening)
        return this.trusted(lines.flatMap(toDirective))
      }
      if (isBrace(lexeme, '}')) {
        stream.advance()
        if (opening !== undefined) {
          this.closedLast = { opening, closing: lexeme }
          return lines.flatMap(toDirective)
        }
        this.reportStray(lexeme)
        return undefined
      }
      if (lexeme.text === 'import' && !lexeme.isQuoted) yield* this.expandImport(lexeme)
      else yield* this.readInto(lines, lexeme)
      yield
    }
  }

  /** Parses the lines of a directive's block. */
  private *parseLines(opening: Lexeme): Steps<Line[]> {
    const { stream } = this
    const lines: Line[] = []
    if (++this.depth > BLOCKS_WITHIN_MAX) {
      const message = `more than ${BLOCKS_WITHIN_MAX} nested blocks`
      this.problems.push(...stream.giveUp(opening, message).problems)
    }
    for (let { lexeme } = stream; !isBrace(lexeme, '}'); { lexeme } = stream) {
      if (lexeme === undefined) {
        this.reportUnclosed(opening)
        return lines
      }
      const isImport = lexeme.text === 'import' && !lexeme.isQuoted && stream.isLineStart()
      if (isImport) yield* this.expandImport(lexeme)
      else yield* this.readInto(lines, lexeme)
      yield
    }
    stream.advance()
    this.depth--
    return lines
  }

  /** Parses a line, or a block on a line of its own, which it adds to the previous line. */
  private *readInto(lines: Line[], lexeme: Lexeme): Steps<void> {
    const { stream } = this
    if (!isBrace(lexeme, '{')) {
      lines.push(yield* this.parseLine())
      return
    }
    this.report(lexeme, 'expected a word before "{" on its line')
    stream.advance()
    const inner = yield* this.parseLines(lexeme)
    const before = lines.pop()
    if (before !== undefined)
      lines.push({ words: before.words, lines: [...before.lines, ...inner] })
  }

  /** Parses the words of a line and, after a brace, the lines of its block. */
  private *parseLine(): Steps<Line> {
    const { stream } = this
    const words: Word[] = []
    for (let { lexeme } = stream; lexeme !== undefined; { lexeme } = stream) {
      if (words.length > 0 && stream.isLineStart()) break
      if (isBrace(lexeme, '}')) {
        stream.noteCrowded(lexeme)
        break
      }
      stream.advance()
      if (isBrace(lexeme, '{')) return { words, lines: yield* this.parseLines(lexeme) }
      if (this.isGlued(lexeme)) {
        words.push({ ...place(lexeme), text: lexeme.text.slice(0, -1) })
        return { words, lines: yield* this.parseLines(lexeme) }
      }
      words.push({ ...place(lexeme), text: stream.expand(lexeme) })
      if (words.length % STEP_WORDS === 0) yield
    }
    return { words, lines: [] }
  }

  private *expandImport(directive: Lexeme): Steps<void> {
    try {
      yield* this.stream.expandImport(directive)
      return
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      this.problems.push(...error.problems)
    }
    this.stream.skipWords()
    if (!isBrace(this.stream.lexeme, '{')) return
    this.stream.advance()
    this.stream.skipBlock()
  }

  private report(at: Position, message: string): void {
    this.problems.push({ ...place(at), message })
  }

  /** Reports a surplus brace, with the block that an earlier surplus brace may have closed. */
  private reportStray(brace: Lexeme): void {
    const { closedLast } = this
    const hint =
      closedLast === undefined
        ? ''
        : `; the block of line ${closedLast.opening.line} ended on line ${closedLast.closing.line}`
    this.report(brace, `this "}" closes nothing${hint}`)
  }

  /** Reports an early end of the file once, and not if the parser itself gave up. */
  private reportUnclosed(opening: Lexeme): void {
    if (this.isCutOff || this.stream.hasGivenUp) return
    const { at, message, doubtfulFrom } = this.stream.unclosed(opening)
    this.report(at, message)
    this.isCutOff = true
    this.doubtfulFrom = doubtfulFrom
  }

  /**
   * Warns instead of failing where CoreDNS accepts a directive's last brace for the server block's.
   */
  private reportUnclosedServer(opening: Lexeme): void {
    const isClosed = isBrace(this.stream.previous, '}')
    const isCertain = this.stream.unclosed(opening).doubtfulFrom === undefined
    if (isClosed && isCertain && !this.isCutOff) this.stream.noteUnclosed(opening)
    else this.reportUnclosed(opening)
  }

  /** Keeps the directives before the missing brace; later ones may belong to other blocks. */
  private trusted(directives: Directive[]): Directive[] {
    const { doubtfulFrom } = this
    if (doubtfulFrom === undefined) return directives
    return directives.filter((one) => {
      return one.file !== doubtfulFrom.file || comparePositions(one, doubtfulFrom) < 0
    })
  }

  /** Runs a step and records its ConfigError, so that the parser can continue. */
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

function toDirective({ words: [name, ...args], lines }: Line): Directive[] {
  return name === undefined ? [] : [{ ...place(name), name: name.text, args, lines }]
}

function place({ file, line, column }: Position): Position {
  return { file, line, column }
}
