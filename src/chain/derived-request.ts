/**
 * Requests made from requests: the same client asks something else, or with other options.
 * @module
 */
import { type EdnsOption, parseOptions } from '../dns/edns.ts'
import { FLAG, parseQuery } from '../dns/query.ts'
import { writeQuery } from '../dns/write-query.ts'
import type { Request } from './request.ts'

/** What is to be different. */
export type RequestChanges = {
  /** Absolute. */
  readonly name?: Uint8Array
  readonly type?: number
  readonly class?: number
  /** Header bits, of RD, AD and CD. */
  readonly flags?: number
  /** All options of the OPT record, which is made when there was none. */
  readonly options?: readonly EdnsOption[]
  /** Codes of those that are this server's own. */
  readonly ownOptions?: ReadonlySet<number>
}

/** Lists the options that a request came with. */
export function optionsOf({ query }: Request): EdnsOption[] {
  return parseOptions(query.bytes, query.optionsStart, query.optionsBytes)
}

/**
 * Makes a request that asks something else on the way through the rest of a chain; the reply still
 * goes out with the question that the client asked. Bounds of the reply are shared with the first.
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
  if (parsed.kind === 'refusal') throw new TypeError('A query that was made must parse')
  const lowerName = parsed.name.subarray(0, parsed.nameBytes)
  const { ownOptions = request.ownOptions } = changes
  const own = ownOptions === undefined ? {} : { ownOptions }
  const { originalQuery = query } = request
  return { ...request, ...own, originalQuery, query: parsed, name, lowerName, type, class: rrClass }
}
