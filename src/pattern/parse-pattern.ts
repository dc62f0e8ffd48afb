/**
 * Reads regular expressions in Go's syntax (golang.org, regexp/syntax/doc.go), which has no
 * back-references and no look-around.
 * @module
 */
import { PERL_CLASSES } from './classes.ts'
import { parseBrackets } from './parse-brackets.ts'
import { parseCodePoint, parseProperty } from './parse-escape.ts'
import { PatternScanner } from './scanner.ts'
import { EMPTY_NODE, type Node, negated, PatternError, setOf } from './syntax.ts'

/** Groups within each other (Go has the same bound). */
const DEPTH_MAX = 1000
/** Most that `{n,m}` may ask for (Go has the same bound). */
const REPEAT_MAX = 1000

/** A parsed expression: its parts, and the names of its groups by number, '' without one. */
export type ParsedPattern = { readonly root: Node; readonly groupNames: readonly string[] }

type Flags = {
  /** `i`: letter case does not matter. */
  readonly folds: boolean
  /** `m`: `^` and `$` are for lines. */
  readonly hasLines: boolean
  /** `s`: `.` matches the end of a line. */
  readonly dotIsAll: boolean
  /** `U`: few before many, unless `?` follows. */
  readonly isUngreedy: boolean
}

const NO_FLAGS: Flags = { folds: false, hasLines: false, dotIsAll: false, isUngreedy: false }
const FLAG_NAMES: Readonly<Record<string, keyof Flags>> = {
  i: 'folds',
  m: 'hasLines',
  s: 'dotIsAll',
  U: 'isUngreedy',
}

/** Parses an expression. @throws {PatternError} */
export function parsePattern(source: string): ParsedPattern {
  return new Parser(source).parse()
}

class Parser {
  private readonly scanner: PatternScanner
  private readonly groupNames: string[] = ['']
  private flags = NO_FLAGS
  private depth = 0

  constructor(source: string) {
    this.scanner = new PatternScanner(source)
  }

  parse(): ParsedPattern {
    const root = this.parseChoice()
    if (!this.scanner.isAtEnd) throw new PatternError('")" closes nothing')
    return { root, groupNames: this.groupNames }
  }

  private parseChoice(): Node {
    const { flags } = this
    if (++this.depth > DEPTH_MAX) throw new PatternError('it has too many groups in each other')
    const parts = [this.parseSequence()]
    while (this.scanner.take('|')) parts.push(this.parseSequence())
    this.depth--
    this.flags = flags
    return parts.length === 1 ? (parts[0] ?? EMPTY_NODE) : { kind: 'choice', parts }
  }

  private parseSequence(): Node {
    const parts: Node[] = []
    const { scanner } = this
    while (!scanner.isAtEnd && !scanner.sees('|') && !scanner.sees(')')) {
      if (scanner.take('\\Q')) {
        const text = scanner.takeUntil('\\E')
        for (const character of text) parts.push(this.literal(character))
        const last = parts.pop()
        if (last !== undefined) parts.push(this.repeated(last))
        continue
      }
      const atom = this.parseAtom()
      if (atom !== undefined) parts.push(this.repeated(atom))
    }
    return { kind: 'sequence', parts }
  }

  /** Reads one part without what repeats it; `undefined` for flags, which are none. */
  private parseAtom(): Node | undefined {
    const { scanner, flags } = this
    if (scanner.sees('(')) return this.parseGroup()
    if (scanner.sees('[')) return { kind: 'set', set: parseBrackets(scanner, flags.folds) }
    if (scanner.sees('\\')) return this.parseEscape()
    if (/^(?:[*+?]|\{\d+(?:,\d*)?\})/.test(scanner.rest(20))) {
      throw new PatternError(`"${scanner.next()}" has nothing to repeat`)
    }
    if (scanner.take('^')) return assertion(flags.hasLines ? 'line-start' : 'text-start')
    if (scanner.take('$')) return assertion(flags.hasLines ? 'line-end' : 'text-end')
    if (!scanner.take('.')) return this.literal(scanner.next())
    const lineEnd = setOf(flags.dotIsAll ? [] : [[10, 10]])
    return { kind: 'set', set: negated(lineEnd) }
  }

  private literal(character: string): Node {
    const code = character.codePointAt(0) ?? 0
    return { kind: 'set', set: setOf([[code, code]], this.flags.folds) }
  }

  private parseGroup(): Node | undefined {
    const { scanner } = this
    scanner.next()
    const name = /^\?P?<([^>]*)>/.exec(scanner.rest())
    if (name !== null) {
      scanner.skip(name[0].length)
      if (!/^\w+$/.test(name[1] ?? '')) throw new PatternError(`"${name[1]}" cannot name a group`)
      return this.parseCapture(name[1] ?? '')
    }
    if (!scanner.sees('?')) return this.parseCapture('')
    const flags = /^\?([imsU]*)(?:-([imsU]+))?([:)])/.exec(scanner.rest(20))
    if (flags === null) {
      throw new PatternError(`"(${scanner.rest(3)}" is not understood: Go has no look-around`)
    }
    const [text, on = '', off = '', end] = flags
    scanner.skip(text.length)
    const before = this.flags
    this.flags = switched(switched(before, on, true), off, false)
    if (end === ')') return undefined
    const body = this.parseChoice()
    this.flags = before
    this.close()
    return body
  }

  private parseCapture(name: string): Node {
    const index = this.groupNames.push(name) - 1
    const body = this.parseChoice()
    this.close()
    return { kind: 'group', index, body }
  }

  private close(): void {
    if (!this.scanner.take(')')) throw new PatternError('a "(" is never closed')
  }

  private parseEscape(): Node {
    const { scanner } = this
    const [, letter = ''] = scanner.rest(2)
    const places = { A: 'text-start', z: 'text-end', b: 'word', B: 'not-word' } as const
    const place = Object.entries(places).find(([key]) => key === letter)?.[1]
    const perl = PERL_CLASSES[letter.toLowerCase()]
    if (place !== undefined || perl !== undefined) scanner.skip(2)
    if (place !== undefined) return assertion(place)
    if (perl !== undefined) {
      const set = setOf(perl, this.flags.folds)
      return { kind: 'set', set: letter === letter.toLowerCase() ? set : negated(set) }
    }
    const property = parseProperty(scanner, this.flags.folds)
    if (property !== undefined) return { kind: 'set', set: property }
    const code = parseCodePoint(scanner)
    return { kind: 'set', set: setOf([[code, code]], this.flags.folds) }
  }

  /** Reads what repeats a part. Go allows one of them, and `?` behind it. */
  private repeated(body: Node): Node {
    const { scanner } = this
    const text = /^(?:[*+?]|\{(\d+)(?:(,)(\d*))?\})/.exec(scanner.rest(20))
    if (text === null) return body
    const [operator, least = '', comma, most = ''] = text
    scanner.skip(operator.length)
    const min = operator === '+' ? 1 : Number(least)
    const many = operator === '*' || operator === '+' || (comma !== undefined && most === '')
    const few = operator === '?' ? 1 : comma === undefined ? min : Number(most)
    const max = many ? Infinity : few
    if (min > REPEAT_MAX || (max !== Infinity && max > REPEAT_MAX) || max < min) {
      throw new PatternError(`"${operator}" is not a number of repeats up to ${REPEAT_MAX}`)
    }
    const isLazy = scanner.take('?') !== this.flags.isUngreedy
    const second = /^(?:[*+?]|\{\d+(?:,\d*)?\})/.exec(scanner.rest(20))?.[0]
    if (second !== undefined) throw new PatternError(`"${operator}${second}" repeats a repeat`)
    return { kind: 'repeat', body, min, max, isLazy }
  }
}

function assertion(which: Extract<Node, { kind: 'assertion' }>['assertion']): Node {
  return { kind: 'assertion', assertion: which }
}

function switched(flags: Flags, letters: string, to: boolean): Flags {
  const result = { ...flags }
  for (const letter of letters) {
    const name = FLAG_NAMES[letter]
    if (name !== undefined) result[name] = to
  }
  return result
}
