/**
 * Which questions are the same for a cache.
 * @module
 */

import { optionsOf } from '../../chain/derived-request.ts'
import type { Request } from '../../chain/request.ts'
import { isBetweenNeighbours } from '../../dns/edns.ts'
import { nameKey } from '../../dns/name.ts'
import { FLAG } from '../../dns/query.ts'

/**
 * Makes the key of a question. DO and CD change what upstreams answer, so they are part of it (RFC
 * 4035 §3.2), as are what the client may see, and options that go to upstreams, such as a client's
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
  const telling = optionsOf(request).filter(({ code }) => !isBetweenNeighbours(code))
  return telling.map(({ code, data }) => `${code}:${data}`).join(';')
}
