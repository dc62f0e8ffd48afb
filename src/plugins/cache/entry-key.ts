/**
 * The keys of cache entries.
 * @module
 */

import { optionsOf } from '../../chain/derived-request.ts'
import type { Request } from '../../chain/request.ts'
import { isBetweenNeighbours } from '../../dns/edns.ts'
import { nameKey } from '../../dns/name.ts'
import { FLAG } from '../../dns/query.ts'

/**
 * Returns the key of a question. It includes DO and CD, which change responses of upstreams (RFC
 * 4035 §3.2), the client's visibility, and options that go to upstreams, such as the client's
 * network (RFC 7871 §7.3).
 */
export function entryKey(request: Request): string {
  const { lowerName, type, class: rrClass, query, client } = request
  const flags = (query.wantsDnssec ? 1 : 0) | (query.flags & FLAG.CD)
  const options = query.optionsBytes === 0 ? '' : optionsKey(request)
  const visibility = client.visibility?.id ?? ''
  return `${type} ${rrClass} ${flags} ${visibility} ${options} ${nameKey(lowerName)}`
}

function optionsKey(request: Request): string {
  const forwarded = optionsOf(request).filter(({ code }) => !isBetweenNeighbours(code))
  return forwarded.map(({ code, data }) => `${code}:${data}`).join(';')
}
