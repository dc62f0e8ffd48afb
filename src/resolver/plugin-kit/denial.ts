/**
 * Negative responses at the end of a CNAME chain.
 * @module
 */

import { RCODE } from '../../dns/names/rcode.ts'
import { TYPE } from '../../dns/names/rr-type.ts'
import type { Reply } from '../../dns/wire/message.ts'
import type { Outcome } from '../contract/outcome.ts'

/** What a response with the chain takes over: the code, and the SOA record with its proofs. */
export type Denial = Pick<Reply, 'rcode' | 'authority'>

/**
 * Returns what the outcome for the end of a chain says about the whole (RFC 6604 §3, RFC 2308
 * §2.1); `undefined` if it has records of the type, or says nothing about the name: a refusal, a
 * failure, or a referral.
 */
export function denialOf(end: Outcome, type: number): Denial | undefined {
  if (end.kind !== 'reply' && end.kind !== 'failure') return undefined
  const { rcode } = end
  const authority = end.kind === 'reply' && isNegative(end, type) ? end.authority : []
  if (rcode === RCODE.NXDOMAIN) return { rcode, authority }
  return rcode === RCODE.NOERROR && authority.length > 0 ? { rcode, authority } : undefined
}

function isNegative({ answer, authority }: Reply, type: number): boolean {
  const hasSoa = authority.some((record) => record.type === TYPE.SOA)
  return hasSoa && !answer.some((record) => record.type === type)
}
