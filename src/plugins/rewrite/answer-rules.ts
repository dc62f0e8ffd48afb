/**
 * Parses the arguments after `answer` in a name rule, which rewrite names in responses.
 * @module
 */
import { configError, type Position } from '../../corefile/problem.ts'
import type { Word } from '../../corefile/server-block.ts'
import { ownerRule, patternChange, valueRule } from './name-change.ts'
import { normalized, parsePatternFor } from './name-match.ts'
import type { ResponseRule } from './rule.ts'

/** How to rewrite the names of a reply. */
export type AnswerRules = {
  /** Whether to revert the question's change wherever the changed name occurs. */
  readonly isAuto: boolean
  readonly rules: readonly ResponseRule[]
}

/**
 * Parses `answer (auto|name FROM TO|value FROM TO) [[answer] …]…`. The keyword `answer` is optional
 * after the first.
 * @throws {ConfigError} at the invalid word
 */
export function parseAnswerRules(words: readonly Word[], at: Position): AnswerRules {
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
    const change = patternChange(parsePatternFor(to.text, to, from), normalized(to.text))
    if (kind.text === 'name') owners = kind
    rules.push(kind.text === 'name' ? ownerRule(change) : valueRule(change))
  }
  if (isAuto && owners !== undefined) {
    throw configError(owners, '"answer auto" already changes names; remove "answer name"')
  }
  return { isAuto, rules }
}
