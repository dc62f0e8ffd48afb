/**
 * The common request, read and answered without a router, `Request` and `URL` in between, which
 * cost far more than the answer: a message by GET or POST, nothing unusual about it. Whatever else
 * comes is for the app; what both answer, they answer alike.
 * @module
 */
import { decodeBase64url } from '../dns/base64url.ts'
import { octet } from '../dns/bytes.ts'
import { HEADER_BYTES, MESSAGE_BYTES_MAX } from '../dns/limits.ts'
import { answerHeaders, cacheControl } from './answer-headers.ts'
import { HttpError } from './http-error.ts'
import { SECURITY_HEADERS } from './json-response.ts'
import { replyBytesMax, WIRE_TYPE } from './negotiate.ts'

/** What is known of a request before its body. */
export type MessageHead = {
  readonly method: string
  /** Path and query, as they were sent. */
  readonly path: string
  /** A header by its name in lower case. */
  header(name: string): string | null | undefined
}

/** A message by GET, or one that is still to come by POST. */
export type DirectMessage = {
  readonly isPost: boolean
  /** The message of a GET; of a POST it is the body. */
  readonly message: Uint8Array | undefined
}

/** A response. */
export type DirectResponse = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

const GET_PREFIX = '/dns-query?dns='
const POST_PATH = '/dns-query'
const ACCEPTED: ReadonlySet<string> = new Set(['', '*/*', WIRE_TYPE])

/** Reads a request; `undefined` leaves it to the app. */
export function readDirect(head: MessageHead): DirectMessage | undefined {
  const { method, path } = head
  const isPost = method === 'POST'
  if (isPost ? path !== POST_PATH : method !== 'GET' || !path.startsWith(GET_PREFIX)) {
    return undefined
  }
  const accept = head.header('accept') ?? ''
  if (!ACCEPTED.has(accept) || replyBytesMax(method, accept) !== undefined) return undefined
  if (isPost) return isPlainBody(head) ? { isPost, message: undefined } : undefined
  const message = decodeBase64url(path, GET_PREFIX.length)
  return message !== undefined && isQuery(message) ? { isPost, message } : undefined
}

/** Tells whether octets may be a query: long enough for a header, and no response. */
export function isQuery(message: Uint8Array): boolean {
  return message.length >= HEADER_BYTES && (octet(message, 2) & 0x80) === 0
}

/** Makes the response with a reply; `undefined` is none, and an error. */
export function directResponse(
  reply: Uint8Array | undefined,
  { isPrivate, isPost }: { readonly isPrivate: boolean; readonly isPost: boolean },
  more: Readonly<Record<string, string>> = {},
): DirectResponse {
  if (reply === undefined) {
    return directRefusal(new HttpError(500, 'no_answer', 'The query gets no answer'))
  }
  const control = cacheControl(reply, { isPrivate, isPost })
  const headers = answerHeaders(WIRE_TYPE, reply.length, control, more)
  return { status: 200, headers, body: reply }
}

/** Makes the response to a body that is no query. */
export function badMessage(): DirectResponse {
  return directRefusal(new HttpError(400, 'bad_message', 'The message is not a DNS query'))
}

/** Makes the response of an error, as the app makes it. */
export function directRefusal({ status, code, message, headers: own }: HttpError): DirectResponse {
  const body = new TextEncoder().encode(`${JSON.stringify({ error: { code, message } })}\n`)
  const headers = {
    ...SECURITY_HEADERS,
    'content-type': 'application/json',
    'cache-control': 'no-store',
    ...own,
  }
  return { status, headers, body }
}

/** Without its size a body would have to be read to know whether it is too large. */
function isPlainBody(head: MessageHead): boolean {
  const length = head.header('content-length') ?? ''
  const size = /^\d{1,9}$/.test(length) ? Number(length) : Number.NaN
  const hasType = head.header('content-type') === WIRE_TYPE
  return hasType && size <= MESSAGE_BYTES_MAX && (head.header('content-encoding') ?? '') === ''
}
