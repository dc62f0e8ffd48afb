/**
 * Rules that change CNAME targets and resolve the new target (github.com/coredns/coredns,
 * plugin/rewrite/cname_target.go).
 * @module
 */

import { configError, type Position } from '../../../corefile/problem.ts'
import type { Word } from '../../../corefile/server-block.ts'
import { nameText, parseNameText } from '../../../dns/names/name-text.ts'
import { TYPE } from '../../../dns/names/rr-type.ts'
import { andThen, type MaybePromise } from '../../contract/maybe-promise.ts'
import type { Outcome } from '../../contract/outcome.ts'
import {
  type MatchKind,
  normalized,
  parsePattern,
  patternReplacement,
  type Replacement,
  replacement,
  takeKind,
} from './name-match.ts'
import type { QuestionDraft, RecordDraft, ReplyDraft, Rule } from './rule.ts'

/**
 * Parses `cname [exact|prefix|suffix|substring|regex] FROM TO`. Lower-cases FROM, even an
 * expression, and TO.
 * @throws {ConfigError}
 */
export function parseCnameRule(words: readonly Word[], at: Position): Rule {
  const { kind, rest } = takeKind(words, 2)
  const [from, to, surplus] = rest
  if (from === undefined || to === undefined || surplus !== undefined) {
    throw configError(surplus ?? at, 'a CNAME rule takes two names, FROM and TO')
  }
  const change = parseChange(kind, from, to.text.toLowerCase())
  const isEmpty = from.text === '' || to.text === ''
  return {
    // Names with a CNAME always take the slow path.
    mayMatch: () => false,
    rewrite: (draft) =>
      isEmpty && kind !== 'exact'
        ? undefined
        : [{ answer: (record, reply) => redirect({ record, reply, draft, change }) }],
  }
}

function parseChange(kind: MatchKind, fromWord: Word, to: string): Replacement {
  const from = fromWord.text.toLowerCase()
  if (kind === 'regex') return patternReplacement(parsePattern(fromWord, from), to)
  return kind === 'exact'
    ? replacement(kind, normalized(from), normalized(to))
    : replacement(kind, from, to)
}

type Redirection = {
  readonly record: RecordDraft
  readonly reply: ReplyDraft
  readonly draft: QuestionDraft
  readonly change: Replacement
}

/** Resolves the new target through the whole server, including these rules. */
function redirect({ record, reply, draft, change }: Redirection): MaybePromise<void> {
  if (record.type !== TYPE.CNAME) return
  const before = nameText(record.rdata)
  const after = change(before)
  if (after === undefined) return
  const target = parseNameText(after)
  if (target === undefined) {
    reply.problem = `"${before}" was rewritten to an invalid name`
    return
  }
  return andThen(draft.request.lookup(target, draft.type), (outcome) => {
    replaceAnswer(reply, { before, target, outcome })
  })
}

/** Keeps the CNAMEs up to the changed one and appends the records of its new target. */
function replaceAnswer(
  reply: ReplyDraft,
  { before, target, outcome }: { before: string; target: Uint8Array; outcome: Outcome },
): void {
  if (outcome.kind === 'drop' || outcome.kind === 'transfer') return
  const cnames = reply.answer.filter(({ type }) => type === TYPE.CNAME)
  const changed = cnames.findIndex(({ rdata }) => nameText(rdata) === before)
  const kept = changed < 0 ? cnames : cnames.slice(0, changed + 1)
  const last = kept[changed]
  if (last !== undefined) last.rdata = target
  const found = outcome.kind === 'reply' ? outcome.answer.map((one) => ({ ...one })) : []
  reply.answer = [...kept, ...found]
  reply.truncated = outcome.kind === 'reply' && outcome.truncated
  if (outcome.kind === 'reply' && outcome.origin === 'snapshot') reply.isOfSnapshot = true
}
