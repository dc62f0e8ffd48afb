/**
 * Rules that change the query name and revert names in the response (github.com/coredns/coredns,
 * plugin/rewrite/name.go).
 * @module
 */
import { configError, type Position } from '../../corefile/problem.ts'
import type { Word } from '../../corefile/server-block.ts'
import { ownerRule, remapping, valueRule } from './name-change.ts'
import {
  type MatchKind,
  nameMatch,
  normalized,
  parsePatternFor,
  patternReplacement,
  type Replacement,
  replacement,
  takeKind,
} from './name-match.ts'
import { type MayMatch, mayMatchPattern } from './needle.ts'
import type { ResponseRule, Rule } from './rule.ts'

/**
 * Parses `name [exact|prefix|suffix|substring|regex] FROM TO [answer …]`; the kind is optional if
 * no `answer` follows.
 * @throws {ConfigError}
 */
export function parseNameRule(words: readonly Word[], at: Position): Rule {
  const { kind, rest } = takeKind(words, 2)
  const [from, to, ...answerWords] = rest
  if (from === undefined || to === undefined) {
    throw configError(at, 'a name rule needs FROM and TO')
  }
  const answers: AnswerRules =
    answerWords.length === 0 ? { isAuto: false, rules: [] } : parseAnswerRules(answerWords, at)
  const { change, mayMatch } = parseChange(kind, from, to)
  const isRemapped = kind === 'exact' || (answers.isAuto && kind !== 'suffix')
  const fixed = [...suffixRules(kind, from, to, answers), ...answers.rules]
  return {
    mayMatch: mayMatch,
    rewrite: (draft) => {
      const before = draft.name.toLowerCase()
      const after = change(before)
      if (after === undefined) return undefined
      draft.name = after
      return isRemapped ? [...remapRules(after, before), ...fixed] : fixed
    },
  }
}

function parseChange(
  kind: MatchKind,
  from: Word,
  to: Word,
): { readonly change: Replacement; readonly mayMatch: MayMatch } {
  const goal = normalized(to.text)
  if (kind === 'regex') {
    const pattern = parsePatternFor(to.text, to, from)
    return { change: patternReplacement(pattern, goal), mayMatch: mayMatchPattern(pattern) }
  }
  const origin = normalized(from.text)
  // CoreDNS compiles the target as an expression here and so rejects some valid names.
  if (kind === 'exact') parsePatternFor(origin, from, { ...to, text: goal })
  return { change: replacement(kind, origin, goal), mayMatch: nameMatch(kind, from).mayMatch }
}

/** Reverts the change for the name and for names below it. */
function remapRules(from: string, to: string): ResponseRule[] {
  const change = remapping(from, to)
  return [ownerRule(change), valueRule(change)]
}

/** Reverts the change wherever a name has the new suffix. */
function suffixRules(
  kind: MatchKind,
  from: Word,
  to: Word,
  { isAuto }: AnswerRules,
): ResponseRule[] {
  if (kind !== 'suffix' || !isAuto) return []
  const change = replacement('suffix', normalized(to.text), normalized(from.text))
  return [ownerRule(change), valueRule(change)]
}

/** How to rewrite the names of a reply. */
type AnswerRules = {
  /** Whether to revert the question's change wherever the changed name occurs. */
  readonly isAuto: boolean
  readonly rules: readonly ResponseRule[]
}

/**
 * Parses `answer (auto|name FROM TO|value FROM TO) [[answer] …]…`. The keyword `answer` is optional
 * after the first.
 * @throws {ConfigError} at the invalid word
 */
function parseAnswerRules(words: readonly Word[], at: Position): AnswerRules {
  const waiting = [...words]
  const rules: ResponseRule[] = []
  let isAuto = false
  let owners: Word | undefined
  for (let isFirst = true; waiting.length > 0; isFirst = false) {
    const keyword = waiting[0]
    if (isFirst && keyword?.text !== 'answer') {
      throw configError(keyword ?? at, `"${keyword?.text}" is unexpected; only "answer" may follow`)
    }
    if (keyword?.text === 'answer') waiting.shift()
    const kind = waiting.shift()
    if (kind?.text === 'auto') {
      isAuto = true
      continue
    }
    if (kind?.text !== 'name' && kind?.text !== 'value') {
      throw configError(kind ?? keyword ?? at, '"answer" needs "auto", "name" or "value"')
    }
    const [from, to] = waiting.splice(0, 2)
    if (from === undefined || to === undefined) {
      throw configError(kind, `"answer ${kind.text}" needs an expression and a name`)
    }
    const change = patternReplacement(parsePatternFor(to.text, to, from), normalized(to.text))
    if (kind.text === 'name') owners = kind
    rules.push(kind.text === 'name' ? ownerRule(change) : valueRule(change))
  }
  if (isAuto && owners !== undefined) {
    throw configError(owners, '"answer auto" already changes names; remove "answer name"')
  }
  return { isAuto, rules }
}
