/**
 * Regular expressions in the syntax of Go's `regexp`, which Corefiles use.
 * @module
 */

/** A match: the whole and its groups, those that took no part `undefined`. */
export type Match = {
  readonly index: number
  readonly groups: readonly (string | undefined)[]
}

/** An expression that cannot be used; the message says why, for people. */
export class PatternError extends Error {
  override readonly name = 'PatternError'
}

/** A compiled expression. Holds no state between calls. */
export class Pattern {
  readonly source: string
  /** Names of the groups by their number, the whole match first; '' for those without one. */
  readonly groupNames: readonly string[]
  private readonly expression: RegExp

  constructor(source: string, expression: RegExp, groupNames: readonly string[]) {
    this.source = source
    this.expression = expression
    this.groupNames = groupNames
  }

  /** Whether there is a match anywhere in a text. */
  test(text: string): boolean {
    return this.expression.test(text)
  }

  /** Finds the leftmost match; of several there, the one that Perl would find first. */
  exec(text: string): Match | undefined {
    const found = this.expression.exec(text)
    return found === null ? undefined : { index: found.index, groups: [...found] }
  }
}

/** Compiles an expression. @throws {PatternError} */
export function compilePattern(source: string): Pattern {
  const names = ['']
  for (const [, name = ''] of source.matchAll(/\((?!\?[:i])(?:\?P?<([^>]*)>)?/g)) names.push(name)
  try {
    return new Pattern(source, new RegExp(source.replaceAll('(?P<', '(?<')), names)
  } catch (error) {
    throw new PatternError(error instanceof Error ? error.message : 'not an expression')
  }
}
