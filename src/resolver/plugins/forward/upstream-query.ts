/**
 * Converts a request to a query for an upstream, and the response to a reply for the client.
 * @module
 */

import { byteAt } from '../../../dns/bytes/bytes.ts'
import { HEADER_BYTES } from '../../../dns/names/limits.ts'
import { equalNames, nameKey } from '../../../dns/names/name.ts'
import { withinBailiwick } from '../../../dns/wire/bailiwick.ts'
import {
  type EdnsOption,
  isBetweenNeighbours,
  isForwarded,
  OPTION,
} from '../../../dns/wire/edns.ts'
import {
  EMPTY_REPLY,
  parseResponse,
  parseWholeResponse,
  type Question,
  type Reply,
  type Response,
} from '../../../dns/wire/message.ts'
import { FLAG, parseQuery } from '../../../dns/wire/query.ts'
import { writeQuery } from '../../../dns/wire/write-query.ts'
import { optionsOf } from '../../chain/derived-request.ts'
import type { Upstream } from '../../contract/host.ts'
import type { Request } from '../../contract/request.ts'
import { unreadableReason } from './unreadable.ts'

/** Header bits that go to the upstream. */
const FLAGS = FLAG.RD | FLAG.AD | FLAG.CD

/** Bytes of a query besides its name and EDNS options. */
const OTHER_BYTES = 11 + HEADER_BYTES + 4
/** Size that queries over encrypted transports are padded to a multiple of (RFC 8467 §4.1). */
const PADDING_BLOCK = 128

/**
 * Writes the query for an upstream. Its OPT record is new (RFC 6891 §6.2.6), with the client's DO
 * bit, the options that forwarders pass on, and those that plugins have set. Pads the query over
 * encrypted transports.
 */
export function upstreamQuery(
  request: Request,
  id: number,
  transport: Upstream['transport'],
): Uint8Array {
  const { query, name, type, class: rrClass, limits } = request
  const own = query.hasEdns ? forwardedOptions(request) : []
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

/** Returns a key that is equal for requests with the same query to an upstream. */
export function upstreamKey(request: Request): string {
  const { query, name, type, class: rrClass, limits, client } = request
  const options = query.optionsBytes === 0 ? [] : forwardedOptions(request)
  const texts = options.map(({ code, data }) => `${code}:${data}`)
  const edns = query.hasEdns ? `${limits.udpBytes}${query.wantsDnssec}${texts}` : ''
  const transport = client.transport === 'udp' ? 'udp' : 'tcp'
  return `${type} ${rrClass} ${query.flags & FLAGS} ${edns} ${transport} ${nameKey(name)}`
}

/** A response that matches the request, but cannot be read. */
export type Unreadable = {
  readonly kind: 'unreadable'
  /** Follows "a response that". */
  readonly why: string
}

/**
 * Reads a datagram; `undefined` if it does not match the request. An incomplete response with TC
 * set counts as one without records. The header alone of an error has no question to match.
 */
export function readDatagram(
  bytes: Uint8Array,
  request: Request,
): Response | Unreadable | undefined {
  const response = parseResponse(bytes) ?? cutResponse(bytes)
  if (response === undefined) return unreadable(bytes, request)
  return isBareError(bytes) || matches(response, request) ? response : undefined
}

/** As `readDatagram`, for a message on a connection, whose ID matches without a question. */
export function readStreamed(
  bytes: Uint8Array,
  request: Request,
): Response | Unreadable | undefined {
  const response = parseWholeResponse(bytes) ?? cutResponse(bytes)
  if (response === undefined) return unreadable(bytes, request)
  return response.question === undefined || matches(response, request) ? response : undefined
}

function isBareError(bytes: Uint8Array): boolean {
  return bytes.length === HEADER_BYTES && (byteAt(bytes, 3) & 15) !== 0
}

function matches({ question }: Pick<Response, 'question'>, request: Question): boolean {
  const { name, type, class: rrClass } = request
  if (question === undefined || question.type !== type || question.class !== rrClass) return false
  return equalNames(question.name, name)
}

/** Returns what is wrong with a response that has the request's question. */
function unreadable(bytes: Uint8Array, request: Request): Unreadable | undefined {
  const head = headOf(bytes)
  if (head === undefined || !matches(head, request)) return undefined
  return { kind: 'unreadable', why: unreadableReason(bytes) }
}

/**
 * Returns the reply for the client: records within bailiwick, and AD only if the query has AD or DO
 * set (RFC 6840 §5.8).
 */
export function relayed(response: Response, request: Request): Reply {
  const { query } = request
  const wantsAuthentic = query.wantsDnssec || (query.flags & FLAG.AD) !== 0
  return {
    ...response,
    ...withinBailiwick(response, request),
    authenticData: response.authenticData && wantsAuthentic,
    options: endToEnd(response.options, request),
  }
}

function forwardedOptions(request: Request): EdnsOption[] {
  const { ownOptions } = request
  return optionsOf(request).filter(
    ({ code }) => isForwarded(code) || ownOptions?.has(code) === true,
  )
}

function endToEnd(options: readonly EdnsOption[], { ownOptions }: Request): EdnsOption[] {
  return options.filter(({ code }) => !isBetweenNeighbours(code) || ownOptions?.has(code) === true)
}

/** Returns a truncated response without its records: some servers cut within a record. */
function cutResponse(bytes: Uint8Array): Response | undefined {
  const head = headOf(bytes)
  if (head === undefined || (byteAt(bytes, 2) & (FLAG.TC >>> 8)) === 0) return undefined
  return { ...EMPTY_REPLY, origin: 'upstream', truncated: true, ...head }
}

/** Parses the ID and the question of a response. */
function headOf(bytes: Uint8Array): Pick<Response, 'id' | 'question'> | undefined {
  if (bytes.length < HEADER_BYTES || (byteAt(bytes, 2) & (FLAG.QR >>> 8)) === 0) return undefined
  const asQuery = new Uint8Array(bytes)
  asQuery.set([0, 0], 2)
  asQuery.fill(0, 6, HEADER_BYTES)
  const query = parseQuery(asQuery)
  if (query.kind === 'refusal') return undefined
  const { id, type, class: rrClass, nameBytes } = query
  return { id, question: { name: query.name.slice(0, nameBytes), type, class: rrClass } }
}
