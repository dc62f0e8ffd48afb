/**
 * The fast path of DNS over HTTPS: reads common GET and POST requests without a router, `Request`
 * and `URL`, which cost far more than the answer. The app handles all others; for the same request,
 * both return the same response.
 * @module
 */
import { decodeBase64url } from '../../dns/bytes/base64url.ts'
import { byteAt } from '../../dns/bytes/bytes.ts'
import { bytesOfSlab } from '../../dns/bytes/slab.ts'
import { HEADER_BYTES, MESSAGE_BYTES_MAX } from '../../dns/names/limits.ts'
import { answerHeaders, cacheControl } from './answer-headers.ts'
import { HttpError } from './http-error.ts'
import { SECURITY_HEADERS } from './json-response.ts'
import { replyBytesMax, WIRE_TYPE } from './negotiate.ts'

/** A request without its body. */
export type MessageHead = {
  readonly method: string
  /** Path and query, as they were sent. */
  readonly path: string
  /** Returns a header by its name in lower case. */
  header(name: string): string | null | undefined
}

/** The message of a GET, or a POST whose body has yet to arrive. */
export type DirectMessage = {
  readonly isPost: boolean
  /** The message of a GET; the message of a POST is its body. */
  readonly message: Uint8Array | undefined
  /** Largest response that the client takes; `undefined` for any size. */
  readonly bytesMax: number | undefined
}

/** A response. */
export type DirectResponse = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

const ROUTE = '/dns-query'
const GET_PREFIX = `${ROUTE}?dns=`
const ACCEPTED: ReadonlySet<string> = new Set(['', '*/*', WIRE_TYPE])

/**
 * Reads a request; `undefined` leaves it to the app.
 * @param start offset of `/dns-query` in the path, which may start with a token
 */
export function readDirect(head: MessageHead, start = 0): DirectMessage | undefined {
  const { method, path } = head
  const isPost = method === 'POST'
  if (isPost ? path.length !== start + ROUTE.length : method !== 'GET') return undefined
  if (!path.startsWith(isPost ? ROUTE : GET_PREFIX, start)) return undefined
  const accept = head.header('accept') ?? ''
  if (!ACCEPTED.has(accept)) return undefined
  const bytesMax = replyBytesMax(method, accept)
  if (isPost) return isPlainBody(head) ? { isPost, message: undefined, bytesMax } : undefined
  const message = decodeBase64url(path, start + GET_PREFIX.length, bytesOfSlab)
  return message !== undefined && isQuery(message) ? { isPost, message, bytesMax } : undefined
}

/** Returns whether a message may be a query: it has a header without the bit of responses. */
export function isQuery(message: Uint8Array): boolean {
  return message.length >= HEADER_BYTES && (byteAt(message, 2) & 0x80) === 0
}

/** Returns the HTTP response with a DNS response; `more` are additional headers. */
export function directResponse(
  reply: Uint8Array,
  { isPrivate, isPost }: { readonly isPrivate: boolean; readonly isPost: boolean },
  more?: Readonly<Record<string, string>>,
): DirectResponse {
  const control = cacheControl(reply, { isPrivate, isPost })
  const headers = answerHeaders(WIRE_TYPE, reply.length, control, more)
  return { status: 200, headers, body: reply }
}

/** Returns the error for a query without a response. */
export function noAnswer(): HttpError {
  return new HttpError(500, 'no_answer', 'The query gets no answer')
}

/** Returns the error for a body that is not a query. */
export function badMessage(): HttpError {
  return new HttpError(400, 'bad_message', 'The message is not a DNS query')
}

/** Returns the HTTP response for an error, the same as the app's; `more` are more headers. */
export function directRefusal(
  { status, code, message, headers: own }: HttpError,
  more: Readonly<Record<string, string>> = {},
): DirectResponse {
  const body = new TextEncoder().encode(`${JSON.stringify({ error: { code, message } })}\n`)
  const headers = {
    ...SECURITY_HEADERS,
    'content-type': 'application/json',
    'cache-control': 'no-store',
    ...own,
    ...more,
  }
  return { status, headers, body }
}

/** A body without a declared size may be too large, so the app reads it. */
function isPlainBody(head: MessageHead): boolean {
  const length = head.header('content-length') ?? ''
  const size = /^\d{1,9}$/.test(length) ? Number(length) : Number.NaN
  const hasType = head.header('content-type') === WIRE_TYPE
  return hasType && size <= MESSAGE_BYTES_MAX && (head.header('content-encoding') ?? '') === ''
}
