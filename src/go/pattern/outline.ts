/**
 * Scans an expression before it is compiled: estimates the size of its program, and finds the names
 * of its groups and the text that every match contains. The compiler checks the syntax.
 * @module
 */

/** Text that every match starts with, ends with and contains; '' if unknown. */
export type Literals = {
  readonly prefix: string
  readonly suffix: string
  readonly inside: string
}

/** Properties of an expression that are known before it is compiled. */
export type Outline = {
  /**
   * Number of characters, classes and groups, multiplied by their repeats, and {@link UNICODE_SIZE}
   * for each Unicode class.
   */
  readonly size: number
  /** Names of the groups by number, the whole match first; '' for a group without a name. */
  readonly groupNames: readonly string[]
  /** The expression with the names of its groups removed. */
  readonly unnamed: string
  readonly literals: Literals
}

/** A part of every match: a known character, an end of the text, or anything else. */
type Part = { readonly character: string } | 'start' | 'end' | 'other'

/** An open group, or the whole expression. */
type Group = {
  readonly parts: Part[]
  size: number
  hasChoice: boolean
  /** Flag `i`: letter case is ignored. */
  folds: boolean
  /** Flag `m`: `^` and `$` match at lines. */
  hasLines: boolean
  /** The item that a repeat applies to: the index of its first part, and its size. */
  last: { readonly partsBefore: number; readonly size: number }
}

/** Size of a Unicode class, which compiles to hundreds of ranges. */
const UNICODE_SIZE = 20

type Fields = Readonly<Record<string, string | undefined>>

/**
 * A lexeme of an expression; single characters of invalid ones. An unclosed one extends to the end,
 * which bounds how often each character is scanned.
 */
const LEXEME = new RegExp(
  [
    String.raw`\\Q(?<quoted>.*?)(?:\\E|$)`,
    String.raw`\\(?<place>[Az])`,
    String.raw`\\(?:[pP](?:\{[^}]*(?:\}|$)|.)|x(?:\{[^}]*(?:\}|$)|..)|[0-7]{1,3}|\w)`,
    String.raw`\\(?<escaped>.)`,
    String.raw`\[\\(?<onlyEscaped>[^\w])\]|\[(?<only>[^\\^[\]])\]`,
    String.raw`\[\^?\]?(?:\[:\^?\w+:\]|\\(?:.|$)|[^\]\\])*(?:\]|$)`,
    String.raw`\(\?(?<flags>[imsU-]*)(?<after>[:)])`,
    String.raw`(?<capture>\()(?:\?P?<(?<name>\w+)>)?`,
    String.raw`(?<repeat>[*+?]|\{(?<least>\d+)(?<comma>,(?<most>\d*))?\})\??`,
    '(?<mark>[|).^$])',
    '(?<plain>.)',
  ].join('|'),
  'gsu',
)

/** Scans an expression in linear time. */
export function outlineOf(source: string): Outline {
  const reader = new OutlineReader()
  for (const { 0: lexeme, groups = {} } of source.matchAll(LEXEME)) reader.read(lexeme, groups)
  return reader.outline()
}

class OutlineReader {
  private readonly groupNames: string[] = ['']
  private readonly outer: Group[] = []
  private readonly lexemes: string[] = []
  private group = emptyGroup(false, false)
  private unicodeSize = 0

  read(lexeme: string, fields: Fields): void {
    const { quoted, place, flags, after, capture, repeat, mark } = fields
    this.lexemes.push(capture ?? lexeme)
    if (quoted === undefined) this.unicodeSize += UNICODE_SIZE * countUnicode(lexeme)
    if (quoted !== undefined) for (const character of quoted) this.addCharacter(character)
    else if (repeat !== undefined) this.repeat(fields)
    else if (place !== undefined) this.add(place === 'A' ? 'start' : 'end')
    else if (mark !== undefined) this.readMark(mark)
    else if (after !== undefined) this.readFlags(flags ?? '', after)
    else if (capture !== undefined) this.openCapture(fields.name ?? '')
    else this.addCharacter(fields.escaped ?? fields.onlyEscaped ?? fields.only ?? fields.plain)
  }

  outline(): Outline {
    const { groupNames, group, lexemes } = this
    const size = this.outer.reduce((sum, one) => sum + one.size, group.size + this.unicodeSize)
    const isPlain = !group.hasChoice && this.outer.length === 0
    const literals = literalsOf(isPlain ? group.parts : [])
    return { size, groupNames, unnamed: lexemes.join(''), literals }
  }

  private add(...parts: readonly Part[]): void {
    this.group.last = { partsBefore: this.group.parts.length, size: 1 }
    this.group.parts.push(...parts)
    this.group.size++
  }

  /** Adds a required character; `undefined` for a class. */
  private addCharacter(character: string | undefined): void {
    const isKnown = character !== undefined && !(this.group.folds && hasCase(character))
    this.add(isKnown ? { character } : 'other')
  }

  private readMark(mark: string): void {
    const { group } = this
    if (mark === ')') this.close()
    else if (mark === '|') group.hasChoice = true
    else if (mark === '.' || group.hasLines) this.add('other')
    else this.add(mark === '^' ? 'start' : 'end')
  }

  /** Applies `(?flags)` up to the end of the group, or opens `(?flags:`. */
  private readFlags(flags: string, after: string): void {
    if (after === ':') this.open()
    const [on = '', off = ''] = flags.split('-')
    const { group } = this
    group.folds = (group.folds || on.includes('i')) && !off.includes('i')
    group.hasLines = (group.hasLines || on.includes('m')) && !off.includes('m')
  }

  private openCapture(name: string): void {
    this.groupNames.push(name)
    this.open()
  }

  private open(): void {
    this.outer.push(this.group)
    this.group = emptyGroup(this.group.folds, this.group.hasLines)
  }

  private close(): void {
    const closed = this.group
    const group = this.outer.pop()
    if (group === undefined) return
    this.group = group
    const size = closed.size + 1
    group.last = { partsBefore: group.parts.length, size }
    group.size += size
    if (closed.hasChoice) group.parts.push('other')
    else for (const part of closed.parts) group.parts.push(part)
  }

  /** Treats the text of a repeat as unknown: it may repeat zero times. */
  private repeat({ least = '1', comma, most = '' }: Fields): void {
    const { group } = this
    const { partsBefore, size } = group.last
    const count = Math.max(1, Number(least), comma === undefined ? 0 : Number(most))
    group.size += size * (count - 1)
    group.parts.length = partsBefore
    group.parts.push('other')
    group.last = { partsBefore, size: size * count }
  }
}

function emptyGroup(folds: boolean, hasLines: boolean): Group {
  const last = { partsBefore: 0, size: 0 }
  return { parts: [], size: 0, hasChoice: false, folds, hasLines, last }
}

function countUnicode(lexeme: string): number {
  return lexeme.match(/\\[pP]/g)?.length ?? 0
}

function hasCase(character: string): boolean {
  return character.toLowerCase() !== character.toUpperCase()
}

function literalsOf(parts: readonly Part[]): Literals {
  const runs: string[] = ['']
  for (const part of parts) {
    if (typeof part === 'string') runs.push('')
    else runs.push(`${runs.pop() ?? ''}${part.character}`)
  }
  return {
    prefix: parts[0] === 'start' ? (runs[1] ?? '') : '',
    suffix: parts.at(-1) === 'end' ? (runs.at(-2) ?? '') : '',
    inside: runs.reduce((longest, run) => (run.length > longest.length ? run : longest)),
  }
}
