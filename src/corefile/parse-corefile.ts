/**
 * Reads a Corefile: server blocks with their zones, snippets, `import`, and environment variables
 * (github.com/coredns/caddy, caddyfile/parse.go). What plugins make of their directives is theirs.
 *
 * Whatever is wrong, reading goes on where it can, so that all mistakes are found at once.
 * @module
 */
import { translateOldWords } from './old-words.ts'
import { ConfigError, comparePositions, type Position, type Problem } from './problem.ts'
import type { Directive, Line, ServerBlock, Word } from './server-block.ts'
import { type CorefileSource, TokenStream } from './token-stream.ts'
import { isBrace, type Token } from './tokens.ts'
import { parseZoneKey } from './zone-key.ts'

/** Blocks within each other, the server block not counted. */
const BLOCKS_WITHIN_MAX = 100

/** With which the YAML of a ConfigMap begins. */
const YAML_KEYS: ReadonlySet<string> = new Set(['apiVersion:', 'kind:', 'data:', 'metadata:'])

/** A Corefile as far as it could be read. */
export type Corefile = {
  readonly blocks: ServerBlock[]
  /** What is not the language, in the order in which it was met. */
  readonly problems: readonly Problem[]
  /** What works, but is hardly what was meant, or is said in another way today. */
  readonly warnings: readonly Problem[]
}

/**
 * Reads a Corefile's text.
 * @throws {ConfigError} with the places of all that is not the language
 */
export function parseCorefile(text: string, file: string, source: CorefileSource): ServerBlock[] {
  const { blocks, problems } = readCorefile(text, file, source)
  if (problems.length > 0) throw new ConfigError(problems)
  return blocks
}

/** Reads a Corefile's text, whatever is wrong with it. Never throws a ConfigError. */
export function readCorefile(text: string, file: string, source: CorefileSource): Corefile {
  return new Parser(new TokenStream(text, file, source)).read()
}

class Parser {
  private readonly stream: TokenStream
  private readonly problems: Problem[] = []
  /** Blocks within each other at the current word. */
  private depth = 0
  /** Whether the end came before its time, and from where what was read is in doubt then. */
  private isCutOff = false
  private doubtfulFrom: Position | undefined
  private closedLast: { readonly opening: Position; readonly closing: Position } | undefined

  constructor(stream: TokenStream) {
    this.stream = stream
  }

  read(): Corefile {
    const blocks: ServerBlock[] = []
    while (this.stream.token !== undefined) {
      const block = this.parseBlock()
      if (block !== undefined) blocks.push(block)
    }
    const translated = translateOldWords(blocks)
    return {
      blocks: translated.blocks,
      problems: this.problems,
      warnings: [...this.stream.warnings, ...translated.notices],
    }
  }

  /** Reads a server block, or a snippet, which is none. */
  private parseBlock(): ServerBlock | undefined {
    const { keys, glued } = this.parseKeys()
    const first = keys[0]
    const opening = glued ?? this.stream.token
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
      const hint = 'a Corefile is what a ConfigMap has below "Corefile: |"'
      const message = `"${first.text}" is YAML; ${hint}`
      this.problems.push(...this.stream.giveUp(first, message).problems)
      return undefined
    }
    if (hasBraces && glued === undefined) this.stream.advance()
    const directives = this.parseDirectives(hasBraces ? opening : undefined)
    if (directives === undefined) return undefined
    return {
      ...place(first),
      keys: keys.flatMap((key) => this.attempt(() => parseZoneKey(key.text, key)) ?? []),
      directives,
    }
  }

  /**
   * Reads up to the brace; commas may separate keys, and one at the end of a line goes on. Gives
   * back the last word when the brace is a part of it.
   */
  private parseKeys(): { readonly keys: Word[]; readonly glued?: Token } {
    const { stream } = this
    const keys: Word[] = []
    let comma: Token | undefined
    for (let token = stream.token; token !== undefined; token = stream.token) {
      if (token.text === 'import' && stream.isLineStart()) {
        this.expandImport(token)
        continue
      }
      if (isBrace(token, '{')) {
        const message = 'expected another zone after the comma, got "{"'
        if (comma !== undefined) this.report(token, message)
        return { keys }
      }
      if (keys.length > 0 && comma === undefined && stream.isLineStart()) return { keys }
      stream.advance()
      if (isBrace(token, '}')) {
        this.reportStray(token)
        continue
      }
      if (this.isGlued(token)) {
        return { keys: [...keys, { ...place(token), text: token.text.slice(0, -1) }], glued: token }
      }
      const text = stream.expand(token)
      const hasComma = text.endsWith(',')
      comma = hasComma ? token : undefined
      const key = hasComma ? text.slice(0, -1) : text
      if (key !== '') keys.push({ ...place(token), text: key })
    }
    if (comma !== undefined) {
      this.report(comma, 'expected another zone after the comma, got the end of the file')
    }
    return { keys }
  }

  /** Whether a brace has to be taken for the end of the word that was read last, which is told. */
  private isGlued(token: Token): boolean {
    const { text, isQuoted } = token
    const isLast = this.stream.token === undefined || this.stream.isLineStart()
    if (isQuoted || !isLast || text.length < 2 || !text.endsWith('{')) return false
    this.report(token, `write "${text.slice(0, -1)} {", with a blank before the brace`)
    return true
  }

  private parseSnippet(name: string, at: Word): void {
    const { stream } = this
    const opening = stream.token
    if (opening === undefined || !isBrace(opening, '{')) {
      this.report(at, `snippet "${name}" has no block in braces`)
      return
    }
    if (stream.hasSnippet(name)) this.report(at, `snippet "${name}" is defined twice`)
    stream.advance()
    if (this.attempt(() => stream.keepSnippet(name)) === false) this.reportUnclosed(opening)
  }

  /** Reads what is in a server block; `undefined` when it ends in a brace that it does not have. */
  private parseDirectives(opening: Token | undefined): Directive[] | undefined {
    const { stream } = this
    const lines: Line[] = []
    for (;;) {
      const { token } = stream
      if (token === undefined) {
        if (opening !== undefined) this.reportUnclosedServer(opening)
        return this.trusted(lines.flatMap(toDirective))
      }
      if (isBrace(token, '}')) {
        stream.advance()
        if (opening !== undefined) {
          this.closedLast = { opening, closing: token }
          return lines.flatMap(toDirective)
        }
        this.reportStray(token)
        return undefined
      }
      if (token.text === 'import' && !token.isQuoted) this.expandImport(token)
      else this.readInto(lines, token)
    }
  }

  /** Reads the lines of a block within a directive. */
  private parseLines(opening: Token): Line[] {
    const { stream } = this
    const lines: Line[] = []
    if (++this.depth > BLOCKS_WITHIN_MAX) {
      const message = `over ${BLOCKS_WITHIN_MAX} blocks within each other`
      this.problems.push(...stream.giveUp(opening, message).problems)
    }
    for (let { token } = stream; !isBrace(token, '}'); { token } = stream) {
      if (token === undefined) {
        this.reportUnclosed(opening)
        return lines
      }
      const isImport = token.text === 'import' && !token.isQuoted && stream.isLineStart()
      if (isImport) this.expandImport(token)
      else this.readInto(lines, token)
    }
    stream.advance()
    this.depth--
    return lines
  }

  /** Reads a line, or a block that stands alone and then counts to the line before. */
  private readInto(lines: Line[], token: Token): void {
    const { stream } = this
    if (!isBrace(token, '{')) {
      lines.push(this.parseLine())
      return
    }
    this.report(token, 'expected a word before "{" on its line')
    stream.advance()
    const inner = this.parseLines(token)
    const before = lines.pop()
    if (before !== undefined)
      lines.push({ words: before.words, lines: [...before.lines, ...inner] })
  }

  /** Reads the words of a line and, when a brace ends it, the lines of its block. */
  private parseLine(): Line {
    const { stream } = this
    const words: Word[] = []
    for (let { token } = stream; token !== undefined; { token } = stream) {
      if (words.length > 0 && stream.isLineStart()) break
      if (isBrace(token, '}')) {
        stream.noteCrowded(token)
        break
      }
      stream.advance()
      if (isBrace(token, '{')) return { words, lines: this.parseLines(token) }
      if (this.isGlued(token)) {
        words.push({ ...place(token), text: token.text.slice(0, -1) })
        return { words, lines: this.parseLines(token) }
      }
      words.push({ ...place(token), text: stream.expand(token) })
    }
    return { words, lines: [] }
  }

  private expandImport(directive: Token): void {
    const before = this.problems.length
    this.attempt(() => {
      this.stream.expandImport(directive)
    })
    if (this.problems.length === before) return
    this.stream.skipWords()
    if (!isBrace(this.stream.token, '{')) return
    this.stream.advance()
    this.stream.skipBlock()
  }

  private report(at: Position, message: string): void {
    this.problems.push({ ...place(at), message })
  }

  /** A brace too many closes what it should not, and then one is left over. */
  private reportStray(brace: Token): void {
    const { closedLast } = this
    const hint =
      closedLast === undefined
        ? ''
        : `; the block of line ${closedLast.opening.line} ended in line ${closedLast.closing.line}`
    this.report(brace, `this "}" closes nothing${hint}`)
  }

  /** Nothing is said twice of one end, and nothing of an end that we made. */
  private reportUnclosed(opening: Token): void {
    if (this.isCutOff || this.stream.hasGivenUp) return
    const { at, message, doubtfulFrom } = this.stream.unclosed(opening)
    this.report(at, message)
    this.isCutOff = true
    this.doubtfulFrom = doubtfulFrom
  }

  /** CoreDNS takes the brace that closes the last directive for that of the server block, too. */
  private reportUnclosedServer(opening: Token): void {
    const isClosed = isBrace(this.stream.previous, '}')
    const isCertain = this.stream.unclosed(opening).doubtfulFrom === undefined
    if (isClosed && isCertain && !this.isCutOff) this.stream.noteUnclosed(opening)
    else this.reportUnclosed(opening)
  }

  /** What came before the brace that is to blame; the rest may belong elsewhere. */
  private trusted(directives: Directive[]): Directive[] {
    const { doubtfulFrom } = this
    if (doubtfulFrom === undefined) return directives
    return directives.filter((one) => {
      return one.file !== doubtfulFrom.file || comparePositions(one, doubtfulFrom) < 0
    })
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

function toDirective({ words: [name, ...args], lines }: Line): Directive[] {
  return name === undefined ? [] : [{ ...place(name), name: name.text, args, lines }]
}

function place({ file, line, column }: Position): Position {
  return { file, line, column }
}
