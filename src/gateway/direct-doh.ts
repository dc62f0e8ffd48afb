/**
 * The common request answered without a router, `Request` and `URL` in between, which cost far more
 * than the answer: a message by GET or POST, nothing unusual about it, from somebody who is known.
 * Whatever else comes goes to the app; what both answer, they answer alike.
 * @module
 */
import { decodeBase64url } from '../dns/base64url.ts'
import { octet } from '../dns/bytes.ts'
import { HEADER_BYTES, MESSAGE_BYTES_MAX } from '../dns/limits.ts'
import { answerHeaders, cacheControl } from '../doh/answer-headers.ts'
import { HttpError } from '../doh/http-error.ts'
import { SECURITY_HEADERS } from '../doh/json-response.ts'
import { WIRE_TYPE } from '../doh/negotiate.ts'
import { andThen, type Client, type MaybePromise } from '../plugins/plugin.ts'
import type { GatewayConfig } from './config.ts'
import { type Admitted, type Gateway, type KeepAlive, tooMany } from './gateway.ts'

/** What is known of a request before its body. */
export type RequestHead = {
  readonly method: string
  /** Path and query, as they were sent. */
  readonly path: string
  /** A header by its name in lower case. */
  readonly header: (name: string) => string | null | undefined
  /** The sender's address. */
  readonly address: string
}

/** A request that is taken. */
export type Ticket = Admitted & {
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

/** Answers for one gateway. */
export class DirectDoh {
  private readonly gateway: Gateway
  private readonly isPrivate: boolean
  private readonly isOpenToPages: boolean

  constructor(gateway: Gateway, { access, corsOrigins }: GatewayConfig) {
    this.gateway = gateway
    this.isPrivate = !access.isPublic
    this.isOpenToPages = corsOrigins.length > 0
  }

  /** Takes a request, or leaves it to the app. */
  admit(head: RequestHead): Ticket | undefined {
    const { method, path, header, address } = head
    const isPost = method === 'POST'
    if (isPost ? path !== POST_PATH : method !== 'GET' || !path.startsWith(GET_PREFIX)) {
      return undefined
    }
    if (!ACCEPTED.has(header('accept') ?? '') || this.isOpenToPages) return undefined
    if (isPost && !isPlainBody(header)) return undefined
    const message = isPost ? undefined : decodeBase64url(path.slice(GET_PREFIX.length))
    if (!isPost && (message === undefined || !isQuery(message))) return undefined
    const admitted = this.gateway.admitAtOnce(header('authorization') ?? '', address)
    return admitted && { ...admitted, isPost, message }
  }

  /**
   * Answers a request that was taken.
   * @param body of a POST
   */
  answer(
    ticket: Ticket,
    body: Uint8Array | undefined,
    keepAlive: KeepAlive,
  ): MaybePromise<DirectResponse> {
    return andThen(ticket.isWithinRate, (isWithinRate) =>
      isWithinRate ? this.answerNow(ticket, body, keepAlive) : refusal(tooMany()),
    )
  }

  private answerNow(
    { client, isPost, message: asked }: Ticket,
    body: Uint8Array | undefined,
    keepAlive: KeepAlive,
  ): MaybePromise<DirectResponse> {
    const message = asked ?? body
    if (message === undefined || !isQuery(message)) {
      return refusal(new HttpError(400, 'bad_message', 'The message is not a DNS query'))
    }
    const reply = this.gateway.answerFor(message, client, keepAlive)
    return reply instanceof Promise
      ? reply.then((bytes) => this.respond(message, bytes, { client, isPost }))
      : this.respond(message, reply, { client, isPost })
  }

  private respond(
    message: Uint8Array,
    reply: Uint8Array | undefined,
    { client, isPost }: { readonly client: Client; readonly isPost: boolean },
  ): DirectResponse {
    if (reply === undefined) {
      return refusal(new HttpError(500, 'no_answer', 'The query gets no answer'))
    }
    const control = cacheControl(reply, { isPrivate: this.isPrivate, isPost })
    const age = this.gateway.ageHeaders(message, client.view)
    const headers = { ...answerHeaders(WIRE_TYPE, reply.length, control), ...age }
    return { status: 200, headers, body: reply }
  }
}

/** Without its size a body would have to be read to know whether it is too large. */
function isPlainBody(header: RequestHead['header']): boolean {
  const length = header('content-length') ?? ''
  const size = /^\d{1,9}$/.test(length) ? Number(length) : Number.NaN
  const hasType = header('content-type') === WIRE_TYPE
  return hasType && size <= MESSAGE_BYTES_MAX && (header('content-encoding') ?? '') === ''
}

function isQuery(message: Uint8Array): boolean {
  return message.length >= HEADER_BYTES && (octet(message, 2) & 0x80) === 0
}

function refusal({ status, code, message, headers: own }: HttpError): DirectResponse {
  const body = new TextEncoder().encode(`${JSON.stringify({ error: { code, message } })}\n`)
  const headers = {
    ...SECURITY_HEADERS,
    'content-type': 'application/json',
    'cache-control': 'no-store',
    ...own,
  }
  return { status, headers, body }
}
