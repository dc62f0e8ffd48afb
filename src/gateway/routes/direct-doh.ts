/**
 * The fast path of DNS over HTTPS: answers common requests of clients whose credential is known,
 * without a router. The credential is a token in a header or in the path, a client certificate, or
 * a login.
 * @module
 */

import type { Query, Refusal } from '../../dns/wire/query.ts'
import { andThen, type MaybePromise } from '../../resolver/contract/maybe-promise.ts'
import type { Admitted } from '../access/admission.ts'
import type { RequestHead } from '../access/caller.ts'
import { CorsHeaders } from '../access/cors.ts'
import { tooMany } from '../access/rate-limiter.ts'
import type { GatewayConfig } from '../config/config.ts'
import {
  badMessage,
  type DirectMessage,
  type DirectResponse,
  directRefusal,
  directResponse,
  isQuery,
  noAnswer,
  readDirect,
} from '../doh/direct-message.ts'
import type { HttpError } from '../doh/http-error.ts'
import { ForwardedHead } from '../doh/trusted-proxies.ts'
import type { KeepAlive } from '../timing/follower.ts'
import type { Gateway } from './gateway.ts'

/** A request that the fast path answers, once its body is here. */
type DirectRequest = Admitted &
  DirectMessage & {
    readonly method: 'GET' | 'POST'
    readonly head: RequestHead
    /** The `Origin` header, '' without one; `undefined` when CORS is not configured. */
    readonly origin: string | undefined
  }

type Body = Uint8Array | undefined

type TokenPath = { readonly token: string | undefined; readonly routeStart: number }

const NO_HEADERS: Readonly<Record<string, string>> = {}
const NO_TOKEN: TokenPath = { token: undefined, routeStart: 0 }

/** The fast path of one gateway. */
export class DirectDoh {
  private readonly gateway: Gateway
  private readonly cors: CorsHeaders | undefined
  private readonly proxies: GatewayConfig['proxies']

  constructor(
    gateway: Gateway,
    { corsOrigins, proxies }: Pick<GatewayConfig, 'corsOrigins' | 'proxies'>,
  ) {
    this.gateway = gateway
    this.proxies = proxies
    if (corsOrigins.length > 0) this.cors = new CorsHeaders(corsOrigins)
  }

  /** Admits a request; `undefined` leaves it to the app. */
  admit(sent: RequestHead): DirectRequest | undefined {
    const head = this.proxies === undefined ? sent : new ForwardedHead(sent, this.proxies)
    const { token: pathToken, routeStart } = splitTokenPath(head.path)
    const query = readDirect(head, routeStart)
    if (query === undefined) return undefined
    const { isPost, message, bytesMax } = query
    const admitted = this.gateway.admission.admitAtOnce(head, pathToken, bytesMax)
    if (admitted === undefined) return undefined
    const { caller, isWithinRate } = admitted
    const origin = this.cors && (head.header('origin') ?? '')
    const method = isPost ? 'POST' : 'GET'
    return { caller, isWithinRate, method, head, isPost, message, bytesMax, origin }
  }

  /**
   * Answers an admitted request.
   * @param body the body of a POST
   */
  answer(request: DirectRequest, body: Body, keepAlive: KeepAlive): MaybePromise<DirectResponse> {
    return andThen(request.isWithinRate, (isWithinRate) =>
      isWithinRate ? this.answerNow(request, body, keepAlive) : this.refuse(request, tooMany()),
    )
  }

  private answerNow(
    request: DirectRequest,
    body: Body,
    keepAlive: KeepAlive,
  ): MaybePromise<DirectResponse> {
    const message = request.message ?? body
    if (message === undefined || !isQuery(message)) return this.refuse(request, badMessage())
    const incoming = this.gateway.read(message, request.caller)
    const { parsed } = incoming
    const reply = this.gateway.answerFor(incoming, keepAlive, request)
    return andThen(reply, (bytes) => this.respond(request, parsed, bytes))
  }

  private respond(request: DirectRequest, query: Query | Refusal, reply: Body): DirectResponse {
    if (reply === undefined) return this.refuse(request, noAnswer())
    const { caller, isPost, origin } = request
    const age = this.gateway.ageHeaders(query, caller.visibility)
    const more = origin === undefined ? age : (this.cors?.with(age, origin, ['Accept']) ?? age)
    return directResponse(reply, { isPrivate: this.gateway.isPrivate, isPost }, more)
  }

  private refuse({ origin = '' }: DirectRequest, error: HttpError): DirectResponse {
    return directRefusal(error, this.cors?.with(NO_HEADERS, origin, []))
  }
}

/**
 * Finds the token in a path, `/t/TOKEN/dns-query`, and the offset of the route, `/dns-query`. Never
 * percent-decodes the token: the gateway's tokens need no encoding.
 */
export function splitTokenPath(path: string): TokenPath {
  const start = '/t/'.length
  const end = path.startsWith('/t/') ? path.indexOf('/', start) : -1
  if (end < 0) return NO_TOKEN
  return { token: path.slice(start, end), routeStart: end }
}
