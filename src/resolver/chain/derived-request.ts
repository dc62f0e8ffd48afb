/**
 * Requests derived from requests: with another question, or with other EDNS options.
 * @module
 */
import { type EdnsOption, parseOptions } from '../../dns/wire/edns.ts'
import { FLAG, parseQuery } from '../../dns/wire/query.ts'
import { writeQuery } from '../../dns/wire/write-query.ts'
import type { Request } from '../contract/request.ts'

/** The differences from the original request. */
export type RequestChanges = {
  /** Absolute. */
  readonly name?: Uint8Array
  readonly type?: number
  readonly class?: number
  /** Header bits, of RD, AD and CD. */
  readonly flags?: number
  /** All EDNS options; adds an OPT record if the query has none. */
  readonly options?: readonly EdnsOption[]
  /** Codes of the options that this server adds. */
  readonly ownOptions?: ReadonlySet<number>
}

/** Returns the EDNS options of a request. */
export function optionsOf({ query }: Request): EdnsOption[] {
  return parseOptions(query.bytes, query.optionsStart, query.optionsBytes)
}

/**
 * Derives a request with another question for the rest of a chain. The response still has the
 * client's question. Both requests share the bounds of the response.
 */
export function deriveRequest(request: Request, changes: RequestChanges): Request {
  const { query } = request
  const { options } = changes
  const hasEdns = query.hasEdns || options !== undefined
  const { name = request.name, type = request.type, class: rrClass = request.class } = changes
  const parsed = parseQuery(
    writeQuery({
      id: query.id,
      flags: changes.flags ?? query.flags & (FLAG.RD | FLAG.AD | FLAG.CD),
      name,
      type,
      class: rrClass,
      ...(hasEdns && {
        udpBytes: query.hasEdns ? query.udpBytes : request.limits.advertisedBytes,
        wantsDnssec: query.wantsDnssec,
        options: options ?? optionsOf(request),
      }),
    }),
  )
  if (parsed.kind === 'refusal') throw new TypeError('A query of our own must parse')
  const lowerName = parsed.name.subarray(0, parsed.nameBytes)
  const { ownOptions = request.ownOptions } = changes
  const own = ownOptions === undefined ? {} : { ownOptions }
  const { originalQuery = query } = request
  return { ...request, ...own, originalQuery, query: parsed, name, lowerName, type, class: rrClass }
}
