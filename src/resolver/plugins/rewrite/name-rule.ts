/**
 * Rules that change the query name and revert names in the response (github.com/coredns/coredns,
 * plugin/rewrite/name.go).
 * @module
 */

import { configError, type Position } from '../../../corefile/problem.ts'
import type { Word } from '../../../corefile/server-block.ts'
import { byteAt, concatBytes } from '../../../dns/bytes/bytes.ts'
import { nameText, parseNameText } from '../../../dns/names/name-text.ts'
import { TYPE } from '../../../dns/names/rr-type.ts'
import { nameEnd } from '../../../dns/wire/rdata-wire.ts'
import {
  type MatchKind,
  type MayMatch,
  mayMatchPattern,
  nameMatch,
  normalized,
  parsePatternFor,
  patternReplacement,
  type Replacement,
  replacement,
  takeKind,
} from './name-match.ts'
import type { RecordDraft, ReplyDraft, ResponseRule, Rule } from './rule.ts'

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

/** Bytes before the changed name in the rdata of each type that has one. */
const BYTES_BEFORE: ReadonlyMap<number, number> = new Map([
  [TYPE.CNAME, 0],
  [TYPE.DNAME, 0],
  [TYPE.MX, 2],
  [TYPE.NS, 0],
  [TYPE.PTR, 0],
  [TYPE.SOA, 0],
  [TYPE.SRV, 6],
])

/** Moves names at or below `from` to `to`. */
export function remapping(from: string, to: string): Replacement {
  const same = replacement('exact', from, to)
  const below = replacement('suffix', `.${from}`, `.${to}`)
  return (name) => same(name) ?? below(name)
}

/** Returns a rule that changes the owners of records. */
export function ownerRule(change: Replacement): ResponseRule {
  return {
    record: (record, reply) => {
      record.owner = changedName(record.owner, change, reply)
    },
  }
}

/** Returns a rule that changes the first name in rdata: targets, exchangers, servers. */
export function valueRule(change: Replacement): ResponseRule {
  return {
    record: (record, reply) => {
      const start = nameStart(record)
      if (start < 0) return
      const { rdata } = record
      const end = nameEnd(rdata, start)
      const before = rdata.subarray(start, end)
      const after = changedName(before, change, reply)
      if (after === before) return
      record.rdata = concatBytes(rdata.subarray(0, start), after, rdata.subarray(end))
    },
  }
}

function changedName(
  name: Uint8Array,
  change: Replacement,
  reply: Pick<ReplyDraft, 'problem'>,
): Uint8Array {
  const before = nameText(name)
  const after = change(before)
  if (after === undefined || after === before) return name
  const changed = parseNameText(after)
  if (changed === undefined) reply.problem = `"${before}" was rewritten to an invalid name`
  return changed ?? name
}

/** Returns the offset of the name in a record's rdata; -1 if the type has none to change. */
function nameStart({ type, rdata }: RecordDraft): number {
  if (type !== TYPE.NAPTR) return BYTES_BEFORE.get(type) ?? -1
  let at = 4
  for (let i = 0; i < 3; i++) at += 1 + byteAt(rdata, at)
  return at
}
