/**
 * What goes to an upstream for a request, and what of its response goes back.
 * @module
 */

import { optionsOf } from '../../chain/derived-request.ts'
import type { Upstream } from '../../chain/host.ts'
import type { Request } from '../../chain/request.ts'
import { type EdnsOption, isBetweenNeighbours, OPTION } from '../../dns/edns.ts'
import { HEADER_BYTES } from '../../dns/limits.ts'
import { EMPTY_REPLY, parseResponse, type Reply, type Response } from '../../dns/message.ts'
import { equalNames, nameKey } from '../../dns/name.ts'
import { FLAG, parseQuery } from '../../dns/query.ts'
import { writeQuery } from '../../dns/write-query.ts'
import { withinBailiwick } from './bailiwick.ts'

/** Header bits of a query that go on. */
const FLAGS = FLAG.RD | FLAG.AD | FLAG.CD

/** Bytes of a query's OPT record without options, and of its header and the rest of a question. */
const OTHER_BYTES = 11 + HEADER_BYTES + 4
/** Size that queries over encrypted transports are padded to a multiple of (RFC 8467 §4.1). */
const PADDING_BLOCK = 128

/**
 * Writes the query to ask an upstream with. The OPT record is made again (RFC 6891 §6.2.6), with
 * what the client wants of DNSSEC, and the options that are not between it and us; padded, unless
 * it goes in the clear.
 */
export function upstreamQuery(
  request: Request,
  id: number,
  transport: Upstream['transport'],
): Uint8Array {
  const { query, name, type, class: rrClass, limits } = request
  const own = query.hasEdns ? passing(optionsOf(request), request) : []
  return writeQuery({
    name,
    type,
    class: rrClass,
    id,
    flags: query.flags & FLAGS,
    ...(query.hasEdns && {
      udpBytes: limits.udpBytes,
      wantsDnssec: query.wantsDnssec,
      options: transport === 'dns' ? own : padded(own, name.length),
    }),
  })
}

function padded(options: readonly EdnsOption[], nameBytes: number): readonly EdnsOption[] {
  const others = options.filter(({ code }) => code !== OPTION.PADDING)
  const size = others.reduce((sum, { data }) => sum + 4 + data.length, OTHER_BYTES + nameBytes + 4)
  const data = new Uint8Array((PADDING_BLOCK - (size % PADDING_BLOCK)) % PADDING_BLOCK)
  return [...others, { code: OPTION.PADDING, data }]
}

/** What makes two requests the same for an upstream, as a key. */
export function upstreamKey(request: Request): string {
  const { query, name, type, class: rrClass, limits, client } = request
  const options = query.optionsBytes === 0 ? [] : passing(optionsOf(request), request)
  const texts = options.map(({ code, data }) => `${code}:${data}`)
  const edns = query.hasEdns ? `${limits.udpBytes}${query.wantsDnssec}${texts}` : ''
  const transport = client.transport === 'udp' ? 'udp' : 'tcp'
  return `${type} ${rrClass} ${query.flags & FLAGS} ${edns} ${transport} ${nameKey(name)}`
}

/**
 * Reads what came back: the response to the request's question, or `undefined`. Of one that breaks
 * off and says that it is truncated, its header counts.
 */
export function readResponse(
  bytes: Uint8Array,
  { name, type, class: rrClass }: Request,
): Response | undefined {
  const response = parseResponse(bytes) ?? cutResponse(bytes)
  const question = response?.question
  if (question === undefined || question.type !== type || question.class !== rrClass) {
    return undefined
  }
  return equalNames(question.name, name) ? response : undefined
}

/**
 * What the client gets of a response: the records that have to do with its question, and AD only if
 * it wants to know (RFC 6840 §5.7).
 */
export function relayed(response: Response, request: Request): Reply {
  const { query } = request
  const wantsAuthentic = query.wantsDnssec || (query.flags & FLAG.AD) !== 0
  return {
    ...response,
    ...withinBailiwick(response, request),
    authenticData: response.authenticData && wantsAuthentic,
    options: passing(response.options, request),
  }
}

function passing(options: readonly EdnsOption[], { ownOptions }: Request): EdnsOption[] {
  return options.filter(({ code }) => !isBetweenNeighbours(code) || ownOptions?.has(code) === true)
}

/** Some servers cut where the bytes end, and not between records. */
function cutResponse(bytes: Uint8Array): Response | undefined {
  const flags = bytes.length < HEADER_BYTES ? 0 : (bytes[2] ?? 0) << 8
  if ((flags & FLAG.QR) === 0 || (flags & FLAG.TC) === 0) return undefined
  const asQuery = bytes.slice()
  asQuery.set([0, 0], 2)
  asQuery.fill(0, 6, HEADER_BYTES)
  const query = parseQuery(asQuery)
  if (query.kind === 'refusal') return undefined
  const { id, type, class: rrClass, nameBytes } = query
  const question = { name: query.name.slice(0, nameBytes), type, class: rrClass }
  return { ...EMPTY_REPLY, origin: 'upstream', truncated: true, id, question }
}
