/**
 * Turns the outcome for a rewritten question into the client's response
 * (github.com/coredns/coredns, plugin/rewrite/reverter.go).
 * @module
 */

import { RCODE } from '../../../dns/names/rcode.ts'
import { type EdnsOption, OPTION } from '../../../dns/wire/edns.ts'
import type { Reply, ResourceRecord } from '../../../dns/wire/message.ts'
import { andThen, type MaybePromise } from '../../contract/maybe-promise.ts'
import { failure, type Outcome } from '../../contract/outcome.ts'
import type { Request } from '../../contract/request.ts'
import type { RecordDraft, ReplyDraft, ResponseRule } from './rule.ts'

/** The highest response code that needs no OPT record. */
const PLAIN_RCODE_MAX = 15

/** How to rewrite a reply. */
export type Reversion = {
  /** The original request. */
  readonly request: Request
  /** Whether the rewritten query had an OPT record. */
  readonly hasEdns: boolean
  /** In the order in which the rules matched; they apply from the last to the first. */
  readonly rules: readonly ResponseRule[]
  /** Options of the rewritten query that our own responses return to the client. */
  readonly echoed: readonly EdnsOption[]
}

/** Applies the rules to an outcome. */
export function revert(outcome: Outcome, reversion: Reversion): MaybePromise<Outcome> {
  const { request } = reversion
  const rules = reversion.rules.toReversed()
  switch (outcome.kind) {
    case 'drop':
      return outcome
    case 'transfer':
      return { ...outcome, records: rewrittenRecords(outcome.records, rules) }
    case 'failure': {
      const rcode = rewrittenRcode(outcome.rcode, rules, 1)
      const options = outcome.options.length === 0 ? reversion.echoed : outcome.options
      return checked({ ...outcome, rcode, options: revertedOptions(options, rules) }, request)
    }
    case 'reply':
      return andThen(revertReply(outcome, rules, reversion), (reply) => checked(reply, request))
  }
}

function revertReply(
  reply: Reply,
  rules: readonly ResponseRule[],
  { request, echoed, hasEdns }: Reversion,
): MaybePromise<Outcome> {
  const { answer, authority, additional } = reply
  const isOwn = reply.origin !== 'upstream' && reply.options.length === 0
  // A client gets the NSID only on request (RFC 5001 §2.1).
  const sent = reply.options.filter(({ code }) => code !== OPTION.NSID || request.query.wantsNsid)
  const options = revertedOptions(isOwn ? echoed : sent, rules)
  const optCount = hasEdns && reply.origin === 'upstream' ? 1 : 0
  const count = answer.length + authority.length + additional.length + optCount
  const rcode = rewrittenRcode(reply.rcode, rules, Math.max(1, count))
  const draft: ReplyDraft = {
    answer: answer.map(copied),
    authority: authority.map(copied),
    additional: additional.map(copied),
    truncated: reply.truncated,
    isOfSnapshot: reply.origin === 'snapshot',
    problem: undefined,
  }
  return andThen(rewriteRecords(draft, rules), (): Outcome => {
    const { isOfSnapshot, problem, ...sections } = draft
    if (problem !== undefined) return failure(RCODE.SERVFAIL, problem)
    const origin = isOfSnapshot ? 'snapshot' : reply.origin
    return { ...reply, ...sections, rcode, options, origin }
  })
}

/** Applies the rules to the original records, even to those that a rule has replaced meanwhile. */
function rewriteRecords(draft: ReplyDraft, rules: readonly ResponseRule[]): MaybePromise<void> {
  const rewrite = (record: RecordDraft): MaybePromise<void> =>
    inTurn(rules, (rule) => {
      rule.record?.(record, draft)
      return rule.answer?.(record, draft)
    })
  return inTurn([...draft.authority, ...draft.answer, ...draft.additional], rewrite)
}

/** Runs a step for each value, one after the other. */
function inTurn<T>(
  values: readonly T[],
  step: (value: T) => MaybePromise<void>,
): MaybePromise<void> {
  return values.reduce<MaybePromise<void>>(
    (done, value) => andThen(done, () => step(value)),
    undefined,
  )
}

function* rewrittenRecords(
  records: Iterable<ResourceRecord>,
  rules: readonly ResponseRule[],
): Iterable<ResourceRecord> {
  for (const record of records) {
    const draft = { ...record }
    const reply: Pick<ReplyDraft, 'problem'> = { problem: undefined }
    for (const rule of rules) rule.record?.(draft, reply)
    if (reply.problem !== undefined) throw new RangeError(`Cannot continue: ${reply.problem}`)
    yield draft
  }
}

/** Applies all rules once per record, including OPT: several rules may change a code in turn. */
function rewrittenRcode(rcode: number, rules: readonly ResponseRule[], times: number): number {
  let result = rcode
  for (let i = 0; i < times; i++) {
    const before = result
    for (const rule of rules) result = rule.rcode?.(result) ?? result
    if (result === before) break
  }
  return result
}

function revertedOptions(
  options: readonly EdnsOption[],
  rules: readonly ResponseRule[],
): readonly EdnsOption[] {
  return rules.reduce((now, rule) => rule.options?.(now) ?? now, options)
}

/** Returns SERVFAIL for a response code that needs an OPT record (RFC 6891 §6.1.3) without one. */
function checked(outcome: Outcome, { query }: Request): Outcome {
  const isFailed = outcome.kind === 'failure' || outcome.kind === 'reply'
  if (!isFailed || query.hasEdns || outcome.rcode <= PLAIN_RCODE_MAX) return outcome
  return failure(RCODE.SERVFAIL, 'the response code needs EDNS, which the client does not support')
}

function copied(record: ResourceRecord): ResourceRecord {
  return { ...record }
}
