/**
 * Rules that change the query name and revert names in the response (github.com/coredns/coredns,
 * plugin/rewrite/name.go).
 * @module
 */
import { configError, type Position } from '../../corefile/problem.ts'
import type { Word } from '../../corefile/server-block.ts'
import { type AnswerRules, parseAnswerRules } from './answer-rules.ts'
import { ownerRule, remapping, suffixChange, valueRule } from './name-change.ts'
import {
  type MatchKind,
  nameMatch,
  normalized,
  parsePatternFor,
  substituted,
  takeKind,
} from './name-match.ts'
import { type MayMatch, mayMatchPattern } from './needle.ts'
import type { ResponseRule, Rule } from './rule.ts'

/** Returns the new name; `undefined` if the old one does not match. */
type Change = (name: string) => string | undefined

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
): { change: Change; mayMatch: MayMatch } {
  const goal = normalized(to.text)
  if (kind === 'regex') {
    const pattern = parsePatternFor(to.text, to, from)
    const change: Change = (name) => {
      const match = pattern.exec(name)
      return match === undefined ? undefined : substituted(goal, match.groups)
    }
    return { change, mayMatch: mayMatchPattern(pattern) }
  }
  const origin = normalized(from.text)
  // CoreDNS compiles the target as an expression here and so rejects some valid names.
  if (kind === 'exact') parsePatternFor(origin, from, { ...to, text: goal })
  const { test, mayMatch } = nameMatch(kind, from)
  const changed = changeOf(kind, origin, goal)
  return { change: (name) => (test(name) ? changed(name) : undefined), mayMatch }
}

function changeOf(
  kind: Exclude<MatchKind, 'regex'>,
  from: string,
  to: string,
): (name: string) => string {
  switch (kind) {
    case 'exact':
      return () => to
    case 'prefix':
      return (name) => to + name.slice(from.length)
    case 'suffix':
      return (name) => name.slice(0, name.length - from.length) + to
    case 'substring':
      return (name) => name.replaceAll(from, () => to)
  }
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
  const change = suffixChange(normalized(to.text), normalized(from.text))
  return [ownerRule(change), valueRule(change)]
}
