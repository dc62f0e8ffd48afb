/**
 * Regular expressions in the syntax of Go's `regexp`, which Corefiles use, matched in a time that
 * grows with the text's length and the expression's, whatever the two are: names come from
 * strangers.
 * @module
 */
import { findLiterals, type Literals } from './literals.ts'
import { Matcher } from './matcher.ts'
import { parsePattern } from './parse-pattern.ts'
import { compileProgram } from './program.ts'

export { PatternError } from './syntax.ts'

/** A match: where it begins, and its groups, the whole first; `undefined` for one without part. */
export type Match = {
  readonly index: number
  readonly groups: readonly (string | undefined)[]
}

/** A compiled expression. Of texts over 8,192 characters only the beginning is looked at. */
export class Pattern {
  readonly source: string
  /** Names of the groups by their number, the whole match first; '' for those without one. */
  readonly groupNames: readonly string[]
  readonly literals: Literals
  private readonly matcher: Matcher

  /** @throws {PatternError} */
  constructor(source: string) {
    const { root, groupNames } = parsePattern(source)
    this.source = source
    this.groupNames = groupNames
    this.literals = findLiterals(root)
    this.matcher = new Matcher(compileProgram(root), groupNames.length)
  }

  /** Whether there is a match anywhere in a text. */
  test(text: string): boolean {
    return this.mayMatch(text) && this.matcher.run(text) !== undefined
  }

  /** Finds the leftmost match; of several there, the one that Perl would find first. */
  exec(text: string): Match | undefined {
    const slots = this.mayMatch(text) ? this.matcher.run(text) : undefined
    if (slots === undefined) return undefined
    const groups = this.groupNames.map((_, i) => {
      const [start = -1, end = -1] = slots.slice(2 * i, 2 * i + 2)
      return start < 0 || end < 0 ? undefined : text.slice(start, end)
    })
    return { index: slots[0] ?? 0, groups }
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
