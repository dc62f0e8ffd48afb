/**
 * The JSON of `/v1/explain`: docs/http-api.md and docs/explain.md describe it.
 * @module
 */

import { formatName } from '../../dns/names/name.ts'
import { formatRcode } from '../../dns/names/rcode.ts'
import { formatType } from '../../dns/names/rr-type.ts'
import { parseResponse, type Question, type ResourceRecord } from '../../dns/wire/message.ts'
import { formatRecord } from '../../snapshot/records/zone-text.ts'
import type { Fact, Reason } from '../contract/fact.ts'
import type { Explanation } from './explain.ts'
import type { ExplainedRecord } from './explained-records.ts'

/** An explanation as JSON values. */
export type ExplanationJson = {
  readonly question: { readonly name: string; readonly type: string } | undefined
  readonly status: string
  readonly answer: readonly string[]
  readonly authority: readonly string[]
  readonly additional: readonly string[]
  readonly records: readonly ExplainedRecord[]
  readonly reason: Reason | null
  readonly serverBlock: string | null
  readonly plugins: readonly string[]
  readonly facts: readonly Fact[]
  /** What the client may see; `null` for everything. */
  readonly view: unknown
}

/** Returns the JSON of an explanation; `undefined` if the server sends no response. */
export function explanationJson(
  explanation: Explanation,
  view: unknown,
): ExplanationJson | undefined {
  const response = explanation.reply && parseResponse(explanation.reply)
  if (response === undefined) return undefined
  const { serverBlock = null, plugins, facts, records, reason = null } = explanation
  const { question, rcode, answer, authority, additional } = response
  return {
    question: question && formatQuestion(question),
    status: formatRcode(rcode),
    answer: texts(answer),
    authority: texts(authority),
    additional: texts(additional),
    records,
    reason,
    serverBlock,
    plugins,
    facts,
    view,
  }
}

function formatQuestion({ name, type }: Question): {
  readonly name: string
  readonly type: string
} {
  return { name: formatName(name), type: formatType(type) }
}

function texts(records: readonly ResourceRecord[]): string[] {
  return records.map((record) => formatRecord(record))
}
