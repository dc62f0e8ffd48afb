/**
 * Rules that change the response code of replies to names.
 * @module
 */
import { configError, type Position } from '../../corefile/problem.ts'
import type { Word } from '../../corefile/server-block.ts'
import { parseRcode } from '../../dns/rcode.ts'
import { nameMatch, takeKind } from './name-match.ts'
import type { ResponseRule, Rule } from './rule.ts'

const RCODE_MAX = 23

/**
 * Parses `rcode [exact|prefix|suffix|substring|regex] NAME FROM TO`, codes by name or number.
 * @throws {ConfigError}
 */
export function parseRcodeRule(words: readonly Word[], at: Position): Rule {
  const { kind, rest } = takeKind(words, 3)
  const [name, from, to, surplus] = rest
  if (name === undefined || from === undefined || to === undefined || surplus !== undefined) {
    throw configError(surplus ?? at, 'an rcode rule takes a name, FROM and TO')
  }
  const fromRcode = rcodeOf(from)
  const toRcode = rcodeOf(to)
  const { test, mayMatch } = nameMatch(kind, name)
  const rules: ResponseRule[] = [{ rcode: (rcode) => (rcode === fromRcode ? toRcode : rcode) }]
  return {
    mayMatch: mayMatch,
    rewrite: ({ name: draft }) => (test(draft.toLowerCase()) ? rules : undefined),
  }
}

function rcodeOf(word: Word): number {
  const isNumber = /^\d{1,10}$/.test(word.text)
  const rcode = isNumber ? Number(word.text) : parseRcode(word.text)
  if (rcode !== undefined && rcode <= RCODE_MAX) return rcode
  throw configError(word, `"${word.text}" is not a response code: 0-23, or a name such as NXDOMAIN`)
}
