/**
 * The ways to match names: `exact`, `prefix`, `suffix`, `substring` and `regex`
 * (github.com/coredns/coredns, plugin/rewrite/name.go).
 *
 * Names are compared as lower-case text with a final dot. Every operand except an expression gets
 * a final dot as well, even a prefix.
 * @module
 */

import { configError, type Position } from '../../../corefile/problem.ts'
import type { Word } from '../../../corefile/server-block.ts'
import { byteAt } from '../../../dns/bytes/bytes.ts'
import type { Query } from '../../../dns/wire/query.ts'
import { compilePattern, type Pattern, PatternError } from '../../../go/pattern/pattern.ts'

/** Characters in an expression (CoreDNS's bound). */
const PATTERN_CHARACTERS_MAX = 10_000
/** Characters of a text after substitution; a longer text is not a valid name. */
const SUBSTITUTED_CHARACTERS_MAX = 16_384

const MATCH_KINDS = ['exact', 'prefix', 'suffix', 'substring', 'regex'] as const

/** A kind of match. */
export type MatchKind = (typeof MATCH_KINDS)[number]

type NameMatch = {
  /** Whether a name, as lower-case text, matches. */
  readonly test: (name: string) => boolean
  readonly mayMatch: MayMatch
}

/**
 * Removes the kind of match from the front if there are more than `count` words; otherwise returns
 * `exact`.
 * @throws {ConfigError} for an unknown kind
 */
export function takeKind(
  words: readonly Word[],
  count: number,
): { readonly kind: MatchKind; readonly rest: readonly Word[] } {
  const [first, ...rest] = words
  if (first === undefined || words.length <= count) return { kind: 'exact', rest: words }
  return { kind: parseKind(first), rest }
}

/** Returns the new text of a name; `undefined` if the name does not match. */
export type Replacement = (name: string) => string | undefined

/**
 * Returns a function that replaces the part of a name that `from`, in lower case, matches. Letter
 * case does not count (RFC 4343): upstreams may have another one than the query. The rest of the
 * name keeps its own.
 */
export function replacement(
  kind: Exclude<MatchKind, 'regex'>,
  from: string,
  to: string,
): Replacement {
  switch (kind) {
    case 'exact':
      return (name) => (name.toLowerCase() === from ? to : undefined)
    case 'prefix':
      return (name) =>
        name.toLowerCase().startsWith(from) ? to + name.slice(from.length) : undefined
    case 'suffix':
      return (name) =>
        name.toLowerCase().endsWith(from)
          ? name.slice(0, name.length - from.length) + to
          : undefined
    case 'substring':
      return (name) => replacedAll(name, from, to)
  }
}

function replacedAll(name: string, from: string, to: string): string | undefined {
  let end = name.length
  const [first = '', ...others] = name.toLowerCase().split(from)
  if (others.length === 0) return undefined
  // From the end: each part keeps the letter case that it has in the name.
  const rest = others.toReversed().map((part) => {
    const own = name.slice(end - part.length, end)
    end -= part.length + from.length
    return to + own
  })
  return name.slice(0, first.length) + rest.toReversed().join('')
}

/**
 * Returns a function that replaces a matching name by `to`, with the match's groups filled in. A
 * name that does not match in its own letter case may match in lower case.
 */
export function patternReplacement(pattern: Pattern, to: string): Replacement {
  return (name) => {
    const match = pattern.exec(name) ?? pattern.exec(name.toLowerCase())
    return match && substituted(to, match.groups)
  }
}

/** Compiles a match. @throws {ConfigError} for an invalid expression */
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

/** Lower-cases text and appends a dot, unless it ends with an unescaped one. */
export function normalized(text: string): string {
  const backslashes = /(\\*)\.$/.exec(text)?.[1]?.length
  const hasFinalDot = backslashes !== undefined && backslashes % 2 === 0
  return (hasFinalDot ? text : `${text}.`).toLowerCase()
}

/** Compiles an expression. @throws {ConfigError} if it is invalid */
export function parsePattern(word: Word, source: string = word.text): Pattern {
  if (source.length > PATTERN_CHARACTERS_MAX) {
    throw configError(word, `an expression may have at most ${PATTERN_CHARACTERS_MAX} characters`)
  }
  try {
    return compilePattern(source)
  } catch (error) {
    if (!(error instanceof PatternError)) throw error
    throw configError(word, `"${source}" is not a regular expression: ${error.message}`)
  }
}

/** Compiles an expression that has all groups which `to` uses. @throws {ConfigError} */
export function parsePatternFor(to: string, at: Position, from: Word): Pattern {
  const pattern = parsePattern(from)
  const groupCount = pattern.groupNames.length - 1
  const used = Array.from({ length: 101 }, (_, i) => `{${i}}`).filter((one) => to.includes(one))
  if (used.length <= groupCount) return pattern
  throw configError(at, `"${to}" has ${used.join(', ')}, but "${from.text}" has fewer groups`)
}

/** Replaces `{0}`, `{1}` and so on in order, even within text from earlier groups. */
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
  throw configError(word, `"${word.text}" is not a kind of match: ${MATCH_KINDS.join(', ')}`)
}

/** Where the text occurs in the name. */
type Place = 'whole' | 'start' | 'end' | 'anywhere'

/** Returns whether a name may match. */
export type MayMatch = (query: Query) => boolean

const DOT = 0x2e
/** A dot in the text matches a length byte, up to this value, or a dot within a label. */
const DOT_BYTE_MAX = 63

/** Returns a test for a text in lower-case names. */
export function mayHave(text: string, place: Place): MayMatch {
  const isPlain = /^[!-[\]-~]{1,255}$/.test(text) && text !== '.'
  // The first characters may be digits of an escaped byte: "\032.example.org.".
  const isCut = place === 'end' || place === 'anywhere'
  const needle = isCut ? text.replace(/^\d{1,3}/, '') : text
  if (!isPlain || needle === '') return mayBe
  const bytes = Uint8Array.from(needle, (character) => character.charCodeAt(0))
  const size = bytes.length
  switch (place) {
    case 'whole':
      return ({ name, nameBytes }) => nameBytes === size + 1 && isAt(bytes, name, 1)
    case 'start':
      return ({ name, nameBytes }) => nameBytes > size && isAt(bytes, name, 1)
    case 'end':
      return ({ name, nameBytes }) => nameBytes >= size && isAt(bytes, name, nameBytes - size)
    case 'anywhere': {
      const text = { bytes, steps: stepsOf(bytes) }
      return (query) => isWithin(text, query)
    }
  }
}

function mayBe(): boolean {
  return true
}

/** Returns a test for the literal text that all matches of an expression contain. */
export function mayMatchPattern({ literals }: Pattern): MayMatch {
  const { prefix, suffix, inside } = literals
  if (suffix !== '' && prefix === '') return mayHave(suffix, 'end')
  if (prefix === '') return mayHave(inside, 'anywhere')
  const begins = mayHave(prefix, 'start')
  const ends = mayHave(suffix, 'end')
  return (query) => begins(query) && ends(query)
}

/** Compares from the start: names below one zone end alike. */
function isAt(bytes: Uint8Array, name: Uint8Array, start: number): boolean {
  for (let i = 0; i < bytes.length; i++) {
    const wanted = byteAt(bytes, i)
    const found = byteAt(name, start + i)
    if (wanted === DOT ? found > DOT_BYTE_MAX : wanted !== found) return false
  }
  return true
}

/** Searches by Horspool's algorithm, which skips most positions of a long text. */
function isWithin(
  { bytes, steps }: { readonly bytes: Uint8Array; readonly steps: Uint8Array },
  { name, nameBytes }: Query,
): boolean {
  const last = bytes.length - 1
  const wanted = byteAt(bytes, last)
  let end = last + 1
  while (end < nameBytes) {
    const found = byteAt(name, end)
    const mayEnd = wanted === DOT ? found <= DOT_BYTE_MAX : wanted === found
    if (mayEnd && isAt(bytes, name, end - last)) return true
    end += byteAt(steps, found)
  }
  return false
}

/** Returns how far to move on, by the byte under the text's last position. */
function stepsOf(bytes: Uint8Array): Uint8Array {
  const last = bytes.length - 1
  const steps = new Uint8Array(256).fill(bytes.length)
  for (let i = 0; i < last; i++) {
    const value = byteAt(bytes, i)
    if (value === DOT) steps.fill(last - i, 0, DOT_BYTE_MAX + 1)
    else steps[value] = last - i
  }
  return steps
}
