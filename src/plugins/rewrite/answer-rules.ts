/**
 * The arguments after `answer` in a rule for names: how to rewrite names in responses.
 * @module
 */
import { configError, type Position } from '../../corefile/problem.ts'
import type { Word } from '../../corefile/server-block.ts'
import { ownerRule, patternChange, valueRule } from './name-change.ts'
import { normalized, parsePatternFor } from './name-match.ts'
import type { ResponseRule } from './rule.ts'

/** What to do with a reply's names. */
export type AnswerRules = {
  /** Whether the question's change is taken back wherever its name stands. */
  readonly isAuto: boolean
  readonly rules: readonly ResponseRule[]
}

/**
 * Reads `answer (auto|name FROM TO|value FROM TO) [[answer] …]…`. The word `answer` may be left out
 * from the second on.
 * @throws {ConfigError} with the place of the word that is wrong
 */
export function parseAnswerRules(words: readonly Word[], at: Position): AnswerRules {
  const waiting = [...words]
  const rules: ResponseRule[] = []
  let isAuto = false
  let owners: Word | undefined
  for (let isFirst = true; waiting.length > 0; isFirst = false) {
    const keyword = waiting[0]
    if (isFirst && keyword?.text !== 'answer') {
      throw configError(keyword ?? at, `"${keyword?.text}" is too much, "answer" may follow here`)
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
    throw configError(owners, '"answer auto" changes names already, "answer name" cannot as well')
  }
  return { isAuto, rules }
}
