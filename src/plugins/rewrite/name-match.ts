/**
 * The ways in which rules match names: `exact`, `prefix`, `suffix`, `substring` and `regex`
 * (github.com/coredns/coredns, plugin/rewrite/name.go).
 *
 * Names are compared as text in lower case, with their final dot; all that is no expression gets a
 * final dot when it has none, a prefix as well.
 * @module
 */
import { configError, type Position } from '../../corefile/problem.ts'
import type { Word } from '../../corefile/server-block.ts'
import { compilePattern, type Pattern, PatternError } from '../../pattern/pattern.ts'
import { type MayMatch, mayHave, mayMatchPattern } from './needle.ts'

/** Characters of an expression (CoreDNS has the same bound). */
const PATTERN_CHARACTERS_MAX = 10_000
/** Characters of a text that groups were put into; none that is longer becomes a name. */
const SUBSTITUTED_CHARACTERS_MAX = 16_384

/** The kinds of matches. */
const MATCH_KINDS = ['exact', 'prefix', 'suffix', 'substring', 'regex'] as const

/** A kind of match. */
export type MatchKind = (typeof MATCH_KINDS)[number]

/** A match as it is configured. */
export type NameMatch = {
  /** Whether a name, as text in lower case, matches. */
  readonly test: (name: string) => boolean
  /** Whether a query's name may match. */
  readonly mayMatch: MayMatch
}

/**
 * Takes the kind of a match off words of which there are more than `count`; else it is `exact`.
 * @throws {ConfigError} when there is no such kind
 */
export function takeKind(
  words: readonly Word[],
  count: number,
): { readonly kind: MatchKind; readonly rest: readonly Word[] } {
  const [first, ...rest] = words
  if (first === undefined || words.length <= count) return { kind: 'exact', rest: words }
  return { kind: parseKind(first), rest }
}

/** Makes a match. @throws {ConfigError} when an expression is none */
export function nameMatch(kind: MatchKind, from: Word): NameMatch {
  if (kind === 'regex') {
    const pattern = parsePattern(from)
    return { test: (name) => pattern.test(name), mayMatch: mayMatchPattern(pattern) }
  }
  const text = normalized(from.text)
  switch (kind) {
    case 'exact':
      return { test: (name) => name === text, mayMatch: mayHave(text, 'whole') }
    case 'prefix':
      return { test: (name) => name.startsWith(text), mayMatch: mayHave(text, 'start') }
    case 'suffix':
      return { test: (name) => name.endsWith(text), mayMatch: mayHave(text, 'end') }
    case 'substring':
      return { test: (name) => name.includes(text), mayMatch: mayHave(text, 'anywhere') }
  }
}

/** Puts text in lower case and after it a dot, unless there is one that ends a name. */
export function normalized(text: string): string {
  const backslashes = /(\\*)\.$/.exec(text)?.[1]?.length
  const isWhole = backslashes !== undefined && backslashes % 2 === 0
  return (isWhole ? text : `${text}.`).toLowerCase()
}

/** Compiles an expression. @throws {ConfigError} when it is none */
export function parsePattern(word: Word, source: string = word.text): Pattern {
  if (source.length > PATTERN_CHARACTERS_MAX) {
    throw configError(word, `an expression has at most ${PATTERN_CHARACTERS_MAX} characters`)
  }
  try {
    return compilePattern(source)
  } catch (error) {
    if (!(error instanceof PatternError)) throw error
    throw configError(word, `"${source}" is not a regular expression: ${error.message}`)
  }
}

/** Compiles an expression whose groups are to be put into `to`. @throws {ConfigError} */
export function parsePatternFor(to: string, at: Position, from: Word): Pattern {
  const pattern = parsePattern(from)
  const groupCount = pattern.groupNames.length - 1
  const used = Array.from({ length: 101 }, (_, i) => `{${i}}`).filter((one) => to.includes(one))
  if (used.length <= groupCount) return pattern
  throw configError(at, `"${to}" has ${used.join(', ')}, more than "${from.text}" has groups`)
}

/**
 * Puts groups of a match into `{0}`, `{1}` and so on, one number after the other: what a group
 * brings in may be replaced by a later one.
 */
export function substituted(to: string, groups: readonly (string | undefined)[]): string {
  let text = to
  for (const [i, group] of groups.entries()) {
    if (text.length > SUBSTITUTED_CHARACTERS_MAX) return text
    text = text.replaceAll(`{${i}}`, () => group ?? '')
  }
  return text
}

function parseKind(word: Word): MatchKind {
  const kind = MATCH_KINDS.find((one) => one === word.text.toLowerCase())
  if (kind !== undefined) return kind
  throw configError(word, `"${word.text}" is no way to match: ${MATCH_KINDS.join(', ')}`)
}
