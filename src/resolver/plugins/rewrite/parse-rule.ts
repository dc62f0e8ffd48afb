/**
 * Parses a `rewrite` directive into its rule; holds the rules of types, classes, TTLs and response
 * codes.
 * @module
 */

import { configError, type Position } from '../../../corefile/problem.ts'
import type { Directive, Word } from '../../../corefile/server-block.ts'
import { parseRcode } from '../../../dns/names/rcode.ts'
import { CLASS, parseClass } from '../../../dns/names/rr-class.ts'
import { parseType, TYPE } from '../../../dns/names/rr-type.ts'
import { wrongRcode } from '../../plugin-kit/rcode-words.ts'
import { parseCnameRule } from './cname-rule.ts'
import type { Metadata } from './edns0-data.ts'
import { parseEdns0Rule } from './edns0-rule.ts'
import { type MatchKind, nameMatch, takeKind } from './name-match.ts'
import { parseNameRule } from './name-rule.ts'
import { NO_RESPONSE_RULES, type QuestionDraft, type ResponseRule, type Rule } from './rule.ts'

/** A rule, and whether it ends rewriting once it matches. */
export type OrderedRule = Rule & { readonly isLast: boolean }

type ParseRule = (words: readonly Word[], at: Position, metadata: Metadata) => Rule

const KINDS: ReadonlyMap<string, ParseRule> = new Map([
  ['name', parseNameRule],
  ['type', parseTypeRule],
  ['class', parseClassRule],
  ['edns0', parseEdns0Rule],
  ['ttl', parseTtlRule],
  ['cname', parseCnameRule],
  ['rcode', parseRcodeRule],
])

/**
 * Parses `rewrite [continue|stop] FIELD …`. The field and its arguments are on the same line or, on
 * any number of lines, in braces.
 * @throws {ConfigError}
 */
export function parseRule(directive: Directive, metadata: Metadata): OrderedRule {
  const words = wordsOf(directive)
  const mode = words[0]?.text.toLowerCase()
  const hasMode = mode === 'continue' || mode === 'stop'
  const [field, ...rest] = hasMode ? words.slice(1) : words
  const kinds = [...KINDS.keys()].join(', ')
  if (field === undefined) throw configError(directive, `"rewrite" needs a field: ${kinds}`)
  const kind = field.text.toLowerCase()
  if (kind === 'answer') throw configError(field, '"answer" may only follow a name rule')
  const parse = KINDS.get(kind)
  if (parse === undefined) throw configError(field, `"${field.text}" cannot be rewritten: ${kinds}`)
  return { ...parse(rest, field, metadata), isLast: mode !== 'continue' }
}

/** Returns the words of a rule on one line or in braces; only the mode may precede the braces. */
function wordsOf({ args, lines }: Directive): readonly Word[] {
  const [line] = lines
  const word = line?.words[0]
  if (word !== undefined && args.length > 1) {
    throw configError(word, 'put the rule on one line, or all of it in braces')
  }
  const nested = lines.flatMap((one) => one.lines)[0]?.words[0]
  if (nested !== undefined) throw configError(nested, 'a rule cannot have nested braces')
  return [...args, ...lines.flatMap(({ words }) => words)]
}

/** Parses `type FROM TO`. @throws {ConfigError} */
function parseTypeRule(words: readonly Word[], at: Position): Rule {
  const [from, to] = parsePair(words, at, 'type')
  const fromType = typeOf(from)
  const toType = typeOf(to)
  if (toType === TYPE.TKEY || toType === TYPE.TSIG) {
    throw configError(to, `"${to.text}" is not a query type`)
  }
  return {
    mayMatch: ({ type }) => type === fromType,
    rewrite: (draft) => change(draft, 'type', fromType, toType),
  }
}

/** Parses `class FROM TO`. @throws {ConfigError} */
function parseClassRule(words: readonly Word[], at: Position): Rule {
  const [from, to] = parsePair(words, at, 'class')
  const fromClass = classOf(from)
  const toClass = classOf(to)
  return {
    mayMatch: () => fromClass === CLASS.IN,
    rewrite: (draft) => change(draft, 'class', fromClass, toClass),
  }
}

function change(
  draft: QuestionDraft,
  field: 'type' | 'class',
  from: number,
  to: number,
): ReturnType<Rule['rewrite']> {
  if (draft[field] !== from) return undefined
  draft[field] = to
  return NO_RESPONSE_RULES
}

function parsePair(words: readonly Word[], at: Position, what: string): readonly [Word, Word] {
  const [from, to, surplus] = words
  if (from !== undefined && to !== undefined && surplus === undefined) return [from, to]
  throw configError(surplus ?? at, `a ${what} rule takes FROM and TO`)
}

function typeOf(word: Word): number {
  const type = /^type\d/i.test(word.text) ? undefined : parseType(word.text)
  if (type !== undefined) return type
  throw configError(word, `"${word.text}" is not the name of a type, such as AAAA`)
}

function classOf(word: Word): number {
  const value = /^class\d/i.test(word.text) ? undefined : parseClass(word.text)
  if (value !== undefined) return value
  throw configError(
    word,
    `"${word.text}" is not the name of a class: ${Object.keys(CLASS).join(', ')}`,
  )
}

const TTL_SECONDS_MAX = 0xffffffff
/** What a range without an upper end ends with (RFC 2181 §8). */
const OPEN_SECONDS_MAX = 0x7fffffff

/**
 * Reads `ttl [exact|prefix|suffix|substring|regex] NAME SECONDS|MIN-MAX|MIN-|-MAX`.
 * @throws {ConfigError}
 */
function parseTtlRule(words: readonly Word[], at: Position): Rule {
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
function parseRcodeRule(words: readonly Word[], at: Position): Rule {
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
  throw wrongRcode(word, ': 0-23, or a name such as NXDOMAIN')
}
