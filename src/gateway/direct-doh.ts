/**
 * The common request answered without a router, from a client that is known: by a token in a header
 * or in the path, a client certificate, or a login.
 * @module
 */

import { andThen, type MaybePromise } from '../chain/maybe-promise.ts'
import type { Query, Refusal } from '../dns/query.ts'
import {
  badMessage,
  type DirectResponse,
  directRefusal,
  directResponse,
  isQuery,
  type MessageHead,
  noAnswer,
  readDirect,
} from '../doh/direct-message.ts'
import type { HttpError } from '../doh/http-error.ts'
import type { Admitted } from './admission.ts'
import { AGE_HEADER } from './age-headers.ts'
import type { GatewayConfig } from './config.ts'
import type { Gateway, KeepAlive } from './gateway.ts'
import type { Carriers } from './known-sender.ts'
import { PageHeaders } from './open-to-pages.ts'
import { splitTokenPath } from './path-token.ts'
import { tooMany } from './rate-limiter.ts'

/** What is known of a request before its body; `address` is the sender's. */
export type RequestHead = MessageHead & Carriers

/** A request that is taken. */
export type Ticket = Admitted & {
  readonly isPost: boolean
  /** The message of a GET; of a POST it is the body. */
  readonly message: Uint8Array | undefined
  /** The page that sends it, '' for none; `undefined` where no pages may ask. */
  readonly origin: string | undefined
}

const NO_HEADERS: Readonly<Record<string, string>> = {}

/** Answers for one gateway. */
export class DirectDoh {
  private readonly gateway: Gateway
  private readonly isPrivate: boolean
  private readonly pages: PageHeaders | undefined

  constructor(gateway: Gateway, { access, corsOrigins }: GatewayConfig) {
    this.gateway = gateway
    this.isPrivate = !access.isPublic
    if (corsOrigins.length > 0) this.pages = new PageHeaders(corsOrigins, AGE_HEADER)
  }

  /** Takes a request, or leaves it to the app. */
  admit(head: RequestHead): Ticket | undefined {
    const { token: pathToken, routeStart } = splitTokenPath(head.path)
    const asked = readDirect(head, routeStart)
    if (asked === undefined) return undefined
    const { isPost, message, bytesMax } = asked
    const admitted = this.gateway.admission.admitAtOnce(head, { pathToken, bytesMax })
    if (admitted === undefined) return undefined
    const { client, isWithinRate } = admitted
    const origin = this.pages && (head.header('origin') ?? '')
    return { client, isWithinRate, isPost, message, origin }
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
      isWithinRate ? this.answerNow(ticket, body, keepAlive) : this.refuse(ticket, tooMany()),
    )
  }

  private answerNow(
    ticket: Ticket,
    body: Uint8Array | undefined,
    keepAlive: KeepAlive,
  ): MaybePromise<DirectResponse> {
    const message = ticket.message ?? body
    if (message === undefined || !isQuery(message)) return this.refuse(ticket, badMessage())
    const method = ticket.isPost ? 'POST' : 'GET'
    const incoming = this.gateway.read(message, ticket.client)
    // The slow path takes the query over, so that it stays as it is until there is a response.
    const { parsed } = incoming
    const reply = this.gateway.answerFor(incoming, keepAlive, method)
    return andThen(reply, (bytes) => this.respond(ticket, parsed, bytes))
  }

  private respond(
    ticket: Ticket,
    query: Query | Refusal,
    reply: Uint8Array | undefined,
  ): DirectResponse {
    if (reply === undefined) return this.refuse(ticket, noAnswer())
    const { client, isPost, origin } = ticket
    const age = this.gateway.ageHeaders(query, client.visibility)
    const more = origin === undefined ? age : (this.pages?.with(age, origin, ['Accept']) ?? age)
    return directResponse(reply, { isPrivate: this.isPrivate, isPost }, more)
  }

  private refuse({ origin = '' }: Ticket, error: HttpError): DirectResponse {
    return directRefusal(error, this.pages?.with(NO_HEADERS, origin, []))
  }
}
