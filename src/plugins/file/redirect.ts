/**
 * Answers for names below a DNAME record (RFC 6672 §3).
 * @module
 */
import { concatBytes } from '../../bytes/bytes.ts'
import { andThen, type MaybePromise } from '../../chain/maybe-promise.ts'
import type { Request } from '../../chain/request.ts'
import { NAME_BYTES_MAX } from '../../dns/limits.ts'
import { equalNames } from '../../dns/name.ts'
import { CLASS } from '../../dns/rr-class.ts'
import { TYPE } from '../../dns/rr-type.ts'
import { followCname } from './cname-chain.ts'
import { authorityOf, NO_RECORDS, type ZoneAnswer } from './sections.ts'
import { recordsOf } from './signatures.ts'
import type { ZoneData, ZoneNode } from './zone-data.ts'

/** Returns the DNAME record, the CNAME synthesized from it, and the records of the target. */
export function redirect(
  zone: ZoneData,
  request: Request,
  { owner, sets }: ZoneNode,
): MaybePromise<ZoneAnswer> {
  const { lowerName: name, type, query } = request
  const { wantsDnssec } = query
  const redirections = recordsOf(sets, TYPE.DNAME, wantsDnssec)
  const [first] = redirections
  if (first === undefined) return { ...NO_RECORDS, kind: 'failure' }
  const target = concatBytes(name.subarray(0, name.length - owner.length), first.rdata)
  if (target.length > NAME_BYTES_MAX) {
    return { ...NO_RECORDS, kind: 'too-long', answer: redirections }
  }
  if (equalNames(target, name)) return { ...NO_RECORDS, kind: 'failure' }
  const { ttlSeconds } = first
  const link = { owner: name, type: TYPE.CNAME, class: CLASS.IN, ttlSeconds, rdata: target }
  if (type === TYPE.CNAME) {
    const authority = authorityOf(zone, wantsDnssec)
    return { ...NO_RECORDS, kind: 'found', answer: [...redirections, link], authority }
  }
  return andThen(followCname(zone, request, { links: [link], proofs: [] }), (found) => ({
    ...found,
    answer: [...redirections, ...found.answer],
  }))
}
