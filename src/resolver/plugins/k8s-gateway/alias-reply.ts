/**
 * Replies for hostnames with a CNAME that holds for all types (RFC 1034 §3.6.2, §4.3.2).
 * @module
 */

import { ROOT } from '../../../dns/names/name.ts'
import { RCODE } from '../../../dns/names/rcode.ts'
import { TYPE } from '../../../dns/names/rr-type.ts'
import { EMPTY_REPLY, type Reply, type ResourceRecord } from '../../../dns/wire/message.ts'
import { type FoundName, recordsOf } from '../../../snapshot/read/find-name.ts'
import { andThen, type MaybePromise } from '../../contract/maybe-promise.ts'
import { failure, type Outcome } from '../../contract/outcome.ts'
import type { Request } from '../../contract/request.ts'
import { marksOf } from './find-host.ts'

/**
 * Returns the CNAME record that answers a query for a name; `undefined` if its other records do.
 * A name with several, or with addresses beside it, which several objects may give it together, has
 * all their addresses, and its first CNAME for other types.
 */
export function aliasOf(
  { name: owner, type }: Pick<Request, 'name' | 'type'>,
  found: FoundName,
): ResourceRecord | undefined {
  if (!marksOf(found).isAlias) return undefined
  const as = { owner, origin: ROOT }
  const links = recordsOf(found, TYPE.CNAME, as)
  const has = (one: number): boolean => recordsOf(found, one, as).length > 0
  if (type === TYPE.A || type === TYPE.AAAA) {
    return links.length === 1 && !has(TYPE.A) && !has(TYPE.AAAA) ? links[0] : undefined
  }
  return type !== TYPE.CNAME && has(type) ? undefined : links[0]
}

/** Replies with a CNAME record, and what the whole server answers for its target. */
export function aliasReply(request: Request, link: ResourceRecord): MaybePromise<Outcome> {
  const { type } = request
  // A query for any type gets one of the RRsets (RFC 8482 §4.1).
  if (type === TYPE.CNAME || type === TYPE.ANY) return replyOf([link])
  return andThen(request.lookup(link.rdata, type), (outcome) => {
    // A resolver follows the link itself where this server may not.
    if (outcome.kind === 'failure' && outcome.rcode === RCODE.REFUSED) return replyOf([link])
    if (outcome.kind !== 'reply') return outcome
    const { rcode, answer, authority, truncated } = outcome
    if (rcode === RCODE.REFUSED) return replyOf([link])
    if (rcode !== RCODE.NOERROR && rcode !== RCODE.NXDOMAIN) {
      return failure(RCODE.SERVFAIL, 'cannot look up the target of a CNAME')
    }
    const hasEnd = answer.some((record) => record.type === type)
    return replyOf([link, ...answer], {
      rcode,
      truncated,
      ...(!hasEnd && { authority: authority.filter((record) => record.type === TYPE.SOA) }),
    })
  })
}

function replyOf(answer: readonly ResourceRecord[], some: Partial<Reply> = {}): Reply {
  return { ...EMPTY_REPLY, authoritative: true, origin: 'snapshot', answer, ...some }
}
