/**
 * What the end of a CNAME chain says about the whole, if it has no records.
 * @module
 */

import { RCODE } from '../../../dns/names/rcode.ts'
import type { Reply } from '../../../dns/wire/message.ts'
import { parseQuery } from '../../../dns/wire/query.ts'
import { writeQuery } from '../../../dns/wire/write-query.ts'
import { andThen, type MaybePromise } from '../../contract/maybe-promise.ts'
import type { Outcome } from '../../contract/outcome.ts'
import { type Denial, denialOf } from '../../plugin-kit/denial.ts'
import { negativeFrom } from './with-snapshot.ts'
import { negativeReply, type ZonePlace, zoneReply } from './zone-reply.ts'

/**
 * Returns the negative response to a name outside of the zone. As recorded of CoreDNS, NODATA in
 * another zone of a cluster leaves the CNAME alone, unless the rules are those of the RFCs.
 */
export function denialOutside(
  end: Outcome,
  type: number,
  { rules }: Pick<ZonePlace, 'rules'>,
): Denial | undefined {
  const denial = denialOf(end, type)
  const isLocal = end.kind === 'reply' && end.origin === 'snapshot'
  return rules === 'coredns' && isLocal && denial?.rcode === RCODE.NOERROR ? undefined : denial
}

/** Returns the negative response to a name within the zone; `undefined` if it is unavailable. */
export function denialWithin(
  name: Uint8Array,
  type: number,
  place: ZonePlace,
): MaybePromise<Denial | undefined> {
  const query = parseQuery(writeQuery({ name, type }))
  if (query.kind === 'refusal') return undefined
  return andThen(zoneReply(query, place, true), (result): Denial | undefined => {
    if (result.kind === 'unavailable') return undefined
    if (result.kind !== 'absent') return denied(negativeReply(query, place, RCODE.NOERROR))
    const { snapshot } = result
    const absent = negativeReply(query, { ...place, snapshot }, RCODE.NXDOMAIN)
    return denied(negativeFrom(place.source, absent))
  })
}

function denied({ rcode, authority }: Reply): Denial {
  return { rcode, authority }
}
