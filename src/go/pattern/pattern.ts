/**
 * Regular expressions in the syntax of Go's `regexp`, which Corefiles use. The package re2js
 * matches in time proportional to the text's length times the expression's size; clients choose the
 * text.
 * @module
 */
import { RE2JS, RE2JSException } from 're2js'
import { type Literals, outlineOf } from './outline.ts'

/** Maximum length of a matched text in UTF-16 code units. */
const TEXT_MAX = 8192
/** Maximum length of an expression in UTF-16 code units. */
const SOURCE_MAX = 10_000
/** Maximum size of an expression, as estimated by its outline. */
const SIZE_MAX = 10_000
/** re2js's anchor for a match at any position. */
const UNANCHORED = 0
/** Prefix of re2js's messages, as in Go. */
const MESSAGE_PREFIX = 'error parsing regexp: '

/** An invalid expression, or one that is too large. */
export class PatternError extends Error {
  override readonly name = 'PatternError'
}

/** The groups of a match, the whole match first; `undefined` for a group that did not match. */
export type Match = { readonly groups: readonly (string | undefined)[] }

/** A compiled expression. Only the first 8,192 characters of a text are matched. */
export class Pattern {
  readonly source: string
  /** Names of the groups by number, the whole match first; '' for a group without a name. */
  readonly groupNames: readonly string[]
  readonly literals: Literals
  private readonly compiled: RE2JS

  /** @throws {PatternError} */
  constructor(source: string) {
    if (source.length > SOURCE_MAX) throw new PatternError('it is too large')
    const { size, groupNames, unnamed, literals } = outlineOf(source)
    if (size > SIZE_MAX) throw new PatternError('it is too large')
    this.source = source
    this.groupNames = groupNames
    this.literals = literals
    // Go accepts groups with the same name, re2js does not: it gets the expression without names.
    this.compiled = compile(unnamed)
  }

  /** Returns whether the expression matches anywhere in a text. */
  test(text: string): boolean {
    return this.mayMatch(text) && this.compiled.test(text.slice(0, TEXT_MAX))
  }

  /** Finds the leftmost match; of several at that position, the one that Perl would find. */
  exec(text: string): Match | undefined {
    if (!this.mayMatch(text)) return undefined
    const subject = text.slice(0, TEXT_MAX)
    const count = this.groupNames.length
    // Finds all groups in one pass; re2js's Matcher needs a second one for groups.
    const re2 = this.compiled.re2()
    const [, slots] = re2.matchWithGroup(subject, 0, subject.length, UNANCHORED, count)
    if (!Array.isArray(slots)) return undefined
    const groups = this.groupNames.map((_, i) => {
      const start: unknown = slots[2 * i]
      const end: unknown = slots[2 * i + 1]
      const isPart = typeof start === 'number' && typeof end === 'number' && start >= 0
      return isPart ? subject.slice(start, end) : undefined
    })
    return { groups }
  }

  private mayMatch(text: string): boolean {
    const { prefix, suffix, inside } = this.literals
    return text.endsWith(suffix) && text.startsWith(prefix) && text.includes(inside)
  }
}

/** Compiles an expression. @throws {PatternError} */
export function compilePattern(source: string): Pattern {
  return new Pattern(source)
}

function compile(source: string): RE2JS {
  try {
    return RE2JS.compile(source)
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error
    throw new PatternError(error.message.replace(MESSAGE_PREFIX, ''))
  }
}
