/**
 * DNS over HTTPS for `https://` server blocks (RFC 8484), with and without TLS.
 * @module
 */

import type { Client } from '../chain/client.ts'
import type { ConnectionBounds, TlsService } from '../chain/feature.ts'
import { ownResponse } from '../chain/incoming.ts'
import { andThen, type MaybePromise } from '../chain/maybe-promise.ts'
import { ReplyWriter } from '../dns/reply-writer.ts'
import { createDohApp } from '../doh/app.ts'
import {
  badMessage,
  directRefusal,
  directResponse,
  isQuery,
  noAnswer,
  readDirect,
} from '../doh/direct-message.ts'
import { replyBytesMax } from '../doh/negotiate.ts'
import { type Direct, type Ends, remoteOf } from './http-request.ts'
import { HttpServer } from './http-server.ts'
import type { Answer } from './udp-server.ts'

/** One for all servers: responses are copied out of it at once. */
const writer = new ReplyWriter()

/** What to answer with, and how to serve. */
export type DohServerOptions = {
  /** Gives the function to answer with at the time of each message. */
  readonly answer: () => Answer
  /** Plain HTTP when left out: something in front has TLS. */
  readonly tls: TlsService | undefined
  /**
   * Connections at a time; when left out, ten times CoreDNS's 200, as one client may have half of
   * them and attackers all.
   */
  readonly connectionsMax: number | undefined
  /** Gives the bounds of a connection at the time when it is made. */
  readonly bounds: () => ConnectionBounds
  /** Learns the status of each response. */
  readonly onResponse: (status: number) => void
}

/** Makes the server, which does not listen yet. @throws {Error} when certificate or key is bad */
export function createDohServer({
  answer,
  tls,
  connectionsMax,
  bounds,
  onResponse,
}: DohServerOptions): HttpServer {
  const ownAnswer = (message: Uint8Array, client: Client): MaybePromise<Uint8Array | undefined> =>
    ownResponse(answer()(message, client, writer), writer)
  const app = createDohApp({
    isPrivate: () => false,
    answer: (message, c) => {
      const bytesMax = replyBytesMax(c.req.method, c.req.header('accept'))
      return ownAnswer(message, clientOf(remoteOf(c.env), bytesMax))
    },
  })
  const counted: ConstructorParameters<typeof HttpServer>[0] = {
    fetch: async (request, env) => {
      const response = await app.fetch(request, env)
      onResponse(response.status)
      return response
    },
  }
  const direct: Direct = (head) => {
    const asked = readDirect(head)
    if (asked === undefined) return undefined
    return (body) => {
      const message = asked.message ?? body
      const isAsking = message !== undefined && isQuery(message)
      const { isPost, bytesMax } = asked
      const client = clientOf(head.ends(), bytesMax)
      const reply = isAsking ? ownAnswer(message, client) : undefined
      return andThen(reply, (bytes) => {
        const response =
          bytes === undefined
            ? directRefusal(isAsking ? noAnswer() : badMessage())
            : directResponse(bytes, { isPrivate: false, isPost })
        onResponse(response.status)
        return response
      })
    }
  }
  return new HttpServer(counted, {
    ...(tls && { tls }),
    direct,
    ...(connectionsMax && { connectionsMax }),
    bounds,
  })
}

function clientOf(ends: Ends, bytesMax: number | undefined): Client {
  return { ...ends, transport: 'https', ...(bytesMax !== undefined && { bytesMax }) }
}
