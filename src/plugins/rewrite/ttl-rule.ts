/**
 * Rules that bound the TTLs of replies to names.
 * @module
 */
import { configError, type Position } from '../../corefile/problem.ts'
import type { Word } from '../../corefile/server-block.ts'
import { parseRcode } from '../../dns/rcode.ts'
import { type MatchKind, nameMatch, takeKind } from './name-match.ts'
import type { ResponseRule, Rule } from './rule.ts'

const TTL_SECONDS_MAX = 0xffffffff
/** What a range without an upper end ends with (RFC 2181 §8). */
const OPEN_SECONDS_MAX = 0x7fffffff

/**
 * Reads `ttl [exact|prefix|suffix|substring|regex] NAME SECONDS|MIN-MAX|MIN-|-MAX`.
 * @throws {ConfigError}
 */
export function parseTtlRule(words: readonly Word[], at: Position): Rule {
  const { kind, rest } = takeKind(words, 2)
  const [name, seconds, surplus] = rest
  if (name === undefined || seconds === undefined || surplus !== undefined) {
    throw configError(surplus ?? at, 'a TTL rule takes a name and seconds')
  }
  const { min, max } = parseRange(seconds)
  return replyRule(kind, name, {
    record: (record) => {
      record.ttlSeconds = Math.min(Math.max(record.ttlSeconds, min), max)
    },
  })
}

/** Returns a rule that rewrites the replies to matching names. */
function replyRule(kind: MatchKind, name: Word, rule: ResponseRule): Rule {
  const { test, mayMatch } = nameMatch(kind, name)
  const rules = [rule]
  return { mayMatch, rewrite: (draft) => (test(draft.name.toLowerCase()) ? rules : undefined) }
}

function parseRange(word: Word): { readonly min: number; readonly max: number } {
  const [, least, dash, most] = /^(\d*)(-?)(\d*)$/.exec(word.text) ?? []
  const min = least === '' ? 0 : Number(least)
  const open = dash === '' ? min : OPEN_SECONDS_MAX
  const max = most === '' ? open : Number(most)
  const isAny = `${least}${most}` !== ''
  if (isAny && min <= max && max <= TTL_SECONDS_MAX) return { min, max }
  throw configError(word, `"${word.text}" is not a TTL: seconds or a range like 5-300, 5- or -300`)
}

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
  return replyRule(kind, name, { rcode: (rcode) => (rcode === fromRcode ? toRcode : rcode) })
}

function rcodeOf(word: Word): number {
  const isNumber = /^\d{1,10}$/.test(word.text)
  const rcode = isNumber ? Number(word.text) : parseRcode(word.text)
  if (rcode !== undefined && rcode <= RCODE_MAX) return rcode
  throw configError(word, `"${word.text}" is not a response code: 0-23, or a name such as NXDOMAIN`)
}
