/**
 * What rules of `rewrite` are: each changes the question on its way in, and says what is to become
 * of the reply on its way out.
 * @module
 */

import type { MaybePromise } from '../../chain/maybe-promise.ts'
import type { Request } from '../../chain/request.ts'
import type { EdnsOption } from '../../dns/edns.ts'
import type { ResourceRecord } from '../../dns/message.ts'
import type { Query } from '../../dns/query.ts'

/** A question while it is rewritten. */
export type QuestionDraft = {
  /** The request as it came. */
  readonly request: Request
  /** The name as text (`dns/name-text.ts`), letter case kept until a rule has changed it. */
  name: string
  type: number
  class: number
  /** Options of the query; `undefined` as long as no rule has looked at them. */
  options: EdnsOption[] | undefined
  /** Codes of those that rules have set. */
  readonly ownOptions: Set<number>
}

/** A record of a reply while that is rewritten. */
export type RecordDraft = { -readonly [K in keyof ResourceRecord]: ResourceRecord[K] }

/** A reply while it is rewritten. */
export type ReplyDraft = {
  answer: readonly RecordDraft[]
  readonly authority: readonly RecordDraft[]
  readonly additional: readonly RecordDraft[]
  truncated: boolean
  /** Whether any record comes from a snapshot. */
  isOfSnapshot: boolean
  /** Why it cannot be sent. */
  problem: string | undefined
}

/** What becomes of a reply. */
export type ResponseRule = {
  /** Changes a record. */
  readonly record?: (record: RecordDraft, reply: Pick<ReplyDraft, 'problem'>) => void
  /** Changes the answer because of a record in it. */
  readonly answer?: (record: RecordDraft, reply: ReplyDraft) => MaybePromise<void>
  /** Changes the response code. */
  readonly rcode?: (rcode: number) => number
  /** Takes back what was done to options. */
  readonly options?: (options: readonly EdnsOption[]) => readonly EdnsOption[]
}

/** A rule as it is configured. */
export type Rule = {
  /** Whether a query in class IN, by way of its answer from a snapshot, may concern the rule. */
  readonly mayMatch: (query: Query) => boolean
  /** Rewrites a question and says what becomes of the reply; `undefined` if it does not match. */
  readonly rewrite: (draft: QuestionDraft) => readonly ResponseRule[] | undefined
  /** Codes of options that go back to the client with what they were set to. */
  readonly optionCodes?: readonly number[]
}

/** The response rules of a rule that has none. */
export const NO_RESPONSE_RULES: readonly ResponseRule[] = []
