/**
 * Rules of `rewrite`: each changes the question, and returns rules for the reply.
 * @module
 */

import type { EdnsOption } from '../../../dns/wire/edns.ts'
import type { ResourceRecord } from '../../../dns/wire/message.ts'
import type { Query } from '../../../dns/wire/query.ts'
import type { MaybePromise } from '../../contract/maybe-promise.ts'
import type { Request } from '../../contract/request.ts'

/** A question during rewriting. */
export type QuestionDraft = {
  /** The original request. */
  readonly request: Request
  /** The name as text (`name-text.ts`), in its own letter case until a rule changes it. */
  name: string
  type: number
  class: number
  /** Options of the query; `undefined` until a rule reads them. */
  options: EdnsOption[] | undefined
  /** Codes of the options that rules have set. */
  readonly ownOptions: Set<number>
}

/** A record during rewriting. */
export type RecordDraft = { -readonly [K in keyof ResourceRecord]: ResourceRecord[K] }

/** A reply during rewriting. */
export type ReplyDraft = {
  answer: readonly RecordDraft[]
  readonly authority: readonly RecordDraft[]
  readonly additional: readonly RecordDraft[]
  truncated: boolean
  /** Whether some record comes from a snapshot. */
  isOfSnapshot: boolean
  /** Why the reply cannot be sent. */
  problem: string | undefined
}

/** Rewrites a reply. */
export type ResponseRule = {
  readonly record?: (record: RecordDraft, reply: Pick<ReplyDraft, 'problem'>) => void
  /** Changes the answer section because of one of its records. */
  readonly answer?: (record: RecordDraft, reply: ReplyDraft) => MaybePromise<void>
  readonly rcode?: (rcode: number) => number
  readonly options?: (options: readonly EdnsOption[]) => readonly EdnsOption[]
}

/** A configured rule. */
export type Rule = {
  /** Whether the rule may match a query of class IN on the fast path. */
  readonly mayMatch: (query: Query) => boolean
  /** Rewrites a question and returns rules for the reply; `undefined` if it does not match. */
  readonly rewrite: (draft: QuestionDraft) => readonly ResponseRule[] | undefined
  /** Codes of the set options that the response returns to the client. */
  readonly optionCodes?: readonly number[]
}

/** For rules that leave the reply as it is. */
export const NO_RESPONSE_RULES: readonly ResponseRule[] = []
