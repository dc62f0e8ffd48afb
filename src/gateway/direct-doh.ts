/**
 * The common request answered without a router, from somebody who is known.
 * @module
 */
import {
  badMessage,
  type DirectResponse,
  directRefusal,
  directResponse,
  isQuery,
  type MessageHead,
  readDirect,
} from '../doh/direct-message.ts'
import { andThen, type Client, type MaybePromise } from '../plugins/plugin.ts'
import type { GatewayConfig } from './config.ts'
import type { Admitted, Gateway, KeepAlive } from './gateway.ts'
import { tooMany } from './rate-limiter.ts'

/** What is known of a request before its body. */
export type RequestHead = MessageHead & {
  /** The sender's address. */
  readonly address: string
}

/** A request that is taken. */
export type Ticket = Admitted & {
  readonly isPost: boolean
  /** The message of a GET; of a POST it is the body. */
  readonly message: Uint8Array | undefined
}

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
    const asked = this.isOpenToPages ? undefined : readDirect(head)
    if (asked === undefined) return undefined
    const admitted = this.gateway.admitAtOnce(head.header('authorization') ?? '', head)
    if (admitted === undefined) return undefined
    const { client, isWithinRate } = admitted
    return { client, isWithinRate, isPost: asked.isPost, message: asked.message }
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
      isWithinRate ? this.answerNow(ticket, body, keepAlive) : directRefusal(tooMany()),
    )
  }

  private answerNow(
    { client, isPost, message: asked }: Ticket,
    body: Uint8Array | undefined,
    keepAlive: KeepAlive,
  ): MaybePromise<DirectResponse> {
    const message = asked ?? body
    if (message === undefined || !isQuery(message)) return badMessage()
    const reply = this.gateway.answerFor(message, client, keepAlive, isPost ? 'POST' : 'GET')
    return reply instanceof Promise
      ? reply.then((bytes) => this.respond(message, bytes, { client, isPost }))
      : this.respond(message, reply, { client, isPost })
  }

  private respond(
    message: Uint8Array,
    reply: Uint8Array | undefined,
    { client, isPost }: { readonly client: Client; readonly isPost: boolean },
  ): DirectResponse {
    const age = this.gateway.ageHeaders(message, client.view)
    return directResponse(reply, { isPrivate: this.isPrivate, isPost }, age)
  }
}
