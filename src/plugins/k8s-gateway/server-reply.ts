/**
 * Answers of `k8s_gateway` for the name server of its zones, a Service's name below each zone
 * (k8s_gateway, apex.go).
 * @module
 */

import { andThen, type MaybePromise } from '../../chain/maybe-promise.ts'
import type { Outcome } from '../../chain/outcome.ts'
import type { Request } from '../../chain/request.ts'
import { joinName, tailOffset } from '../../dns/name.ts'
import { RCODE } from '../../dns/rcode.ts'
import { TYPE } from '../../dns/rr-type.ts'
import { addressesOf } from './addresses.ts'
import { findHost } from './find-host.ts'
import { type GatewayPlace, replyWith, ZONE_TTL_SECONDS } from './host-reply.ts'

/**
 * Answers for the name server, which exists even without a known address, and returns NXDOMAIN
 * below it; `undefined` for any other name.
 */
export function serverReply(
  request: Request,
  view: GatewayPlace,
): MaybePromise<Outcome> | undefined {
  const { zone, snapshot, options } = view
  const { lowerName, name: owner, type } = request
  const server = joinName(options.apex, zone)
  const below = server === undefined ? -1 : tailOffset(lowerName, server)
  if (below < 0) return undefined
  if (below > 0) return replyWith(view, { rcode: RCODE.NXDOMAIN })
  const found = findHost(snapshot, lowerName, zone)
  const isAddress = type === TYPE.A || type === TYPE.AAAA
  if (found === undefined || !isAddress) return replyWith(view, {})
  return andThen(addressesOf(request, found, { owner, type }), ({ records }) => {
    const answer = records.map((record) => ({ ...record, ttlSeconds: ZONE_TTL_SECONDS }))
    return replyWith(view, { answer })
  })
}
