/**
 * DNS over HTTPS for `https://` server blocks (RFC 8484), with and without TLS.
 * @module
 */

import { ReplyWriter } from '../../dns/wire/reply-writer.ts'
import { createDohApp } from '../../gateway/doh/app.ts'
import {
  badMessage,
  directRefusal,
  directResponse,
  isQuery,
  noAnswer,
  readDirect,
} from '../../gateway/doh/direct-message.ts'
import { replyBytesMax } from '../../gateway/doh/negotiate.ts'
import { ownResponse } from '../../resolver/chain/incoming.ts'
import type { Client } from '../../resolver/contract/client.ts'
import type { ConnectionBounds, TlsService } from '../../resolver/contract/feature.ts'
import { andThen, type MaybePromise } from '../../resolver/contract/maybe-promise.ts'
import type { Answer } from '../sockets/answer.ts'
import type { ProxyGateOptions } from '../sockets/proxy-gate.ts'
import { type AppServer, createAppServer } from './app-server.ts'
import { type App, type Direct, type Ends, type Head, remoteOf } from './http-request.ts'

/** Shared by all servers: each response is copied out of it synchronously. */
const writer = new ReplyWriter()

/** How to answer, and how to serve. */
export type DohServerOptions = {
  /** Returns the function that answers; called for each message. */
  readonly answer: () => Answer
  /** Plain HTTP when undefined: a proxy in front terminates TLS. */
  readonly tls: TlsService | undefined
  /**
   * Connections at a time (default: 2,000, ten times CoreDNS's 200, because one client may have
   * half of them and attackers all).
   */
  readonly connectionsMax: number | undefined
  /** Returns the bounds of a connection; called for each new one. */
  readonly bounds: () => ConnectionBounds
  /** Reads PROXY headers of connections; none when left out. */
  readonly proxy?: ProxyGateOptions | undefined
  /** Called with the status of each response. */
  readonly onResponse: (status: number) => void
}

/** Creates a server; call `listen` next. @throws {Error} when the certificate or key is bad */
export function createDohServer({
  answer,
  tls,
  connectionsMax,
  bounds,
  proxy,
  onResponse,
}: DohServerOptions): AppServer {
  const ownAnswer = (message: Uint8Array, client: Client): MaybePromise<Uint8Array | undefined> =>
    ownResponse(answer()(message, client, writer), writer)
  const app = createDohApp({
    isPrivate: () => false,
    answer: (message, c) => {
      const bytesMax = replyBytesMax(c.req.method, c.req.header('accept'))
      return ownAnswer(message, clientOf(remoteOf(c.env), bytesMax))
    },
  })
  const counted: App = {
    fetch: async (request, env) => {
      const response = await app.fetch(request, env)
      onResponse(response.status)
      return response
    },
  }
  const direct: Direct = (head) => {
    const query = readDirect(head)
    if (query === undefined) return undefined
    return (body) => {
      const message = query.message ?? body
      const isValid = message !== undefined && isQuery(message)
      const { isPost, bytesMax } = query
      const client = new HttpsClient(head, bytesMax)
      const reply = isValid ? ownAnswer(message, client) : undefined
      // Bun does not know the address any more once the client has gone.
      if (reply instanceof Promise) client.look()
      return andThen(reply, (bytes) => {
        const response =
          bytes === undefined
            ? directRefusal(isValid ? noAnswer() : badMessage())
            : directResponse(bytes, { isPrivate: false, isPost })
        onResponse(response.status)
        return response
      })
    }
  }
  return createAppServer(counted, {
    ...(tls && { tls }),
    direct,
    ...(connectionsMax && { connectionsMax }),
    bounds,
    proxy,
  })
}

function clientOf(ends: Ends, bytesMax: number | undefined): Client {
  return { ...ends, transport: 'https', ...(bytesMax !== undefined && { bytesMax }) }
}

/** A client whose address is looked up when a plugin reads it: on Bun that costs 1.5 µs. */
class HttpsClient implements Client {
  readonly transport = 'https'
  readonly bytesMax?: number
  private readonly head: Head
  private ends: Ends | undefined

  constructor(head: Head, bytesMax: number | undefined) {
    this.head = head
    if (bytesMax !== undefined) this.bytesMax = bytesMax
  }

  get address(): string {
    return this.look().address
  }

  get port(): number {
    return this.look().port
  }

  get localAddress(): string {
    return this.look().localAddress
  }

  get localPort(): number {
    return this.look().localPort
  }

  /** Looks up both ends of the connection, once. */
  look(): Ends {
    this.ends ??= this.head.ends()
    return this.ends
  }
}
