/**
 * DNS over gRPC for `grpc://` server blocks, with and without TLS (github.com/coredns/coredns,
 * core/dnsserver/server_grpc.go).
 *
 * Its calls are requests of HTTP/2 with one message each way and the status in the trailers, so
 * the server of HTTPS serves them, with all of its bounds. The server of `@grpc/grpc-js` (1.14)
 * bounds messages, streams and connections that rest, but not slow requests, responses that nobody
 * reads, invalid frames, connections of one client, and what all requests together hold.
 * @module
 */
import { EMPTY } from '../../dns/bytes/bytes.ts'
import {
  GRPC_BYTES_MAX,
  GRPC_PATH,
  GRPC_STATUS,
  GRPC_TOO_LONG,
  GRPC_TYPE,
  type GrpcRefusal,
  readGrpcMessage,
  writeGrpcMessage,
} from '../../dns/wire/grpc-message.ts'
import { ReplyWriter } from '../../dns/wire/reply-writer.ts'
import { isQuery } from '../../gateway/doh/direct-message.ts'
import { ownResponse } from '../../resolver/chain/incoming.ts'
import type { ConnectionBounds, TlsService } from '../../resolver/contract/feature.ts'
import { andThen } from '../../resolver/contract/maybe-promise.ts'
import type { Answer } from '../sockets/answer.ts'
import type { ProxyGateOptions } from '../sockets/proxy-gate.ts'
import type { Direct, Head, Ready } from './http-request.ts'
import { HttpServer } from './http-server.ts'

/** Concurrent calls on a connection, as in CoreDNS. */
const STREAMS_MAX = 256

const { INVALID_ARGUMENT, OK, UNAVAILABLE, UNIMPLEMENTED } = GRPC_STATUS
const HEADERS = { 'content-type': GRPC_TYPE }
const TRAILERS_OK = { 'grpc-status': String(OK) }

const TOO_LONG = ended(GRPC_TOO_LONG)
const NO_METHOD = ended({ status: UNIMPLEMENTED, reason: `the only method is ${GRPC_PATH}` })
const COMPRESSED = ended({ status: UNIMPLEMENTED, reason: 'messages must not be compressed' })
const NO_QUERY = ended({ status: INVALID_ARGUMENT, reason: 'the message is no DNS query' })
const NO_RESPONSE = ended({ status: UNAVAILABLE, reason: 'the query got no response' })

/** Shared by all servers: each response is copied out of it synchronously. */
const writer = new ReplyWriter()

/** How to answer, and how to serve. */
export type GrpcServerOptions = {
  /** Returns the function that answers; called for each message. */
  readonly answer: () => Answer
  /** Plain HTTP/2 when undefined. */
  readonly tls: TlsService | undefined
  /** Connections at a time (default: 2,000, as over HTTPS; one client may have half of them). */
  readonly connectionsMax: number | undefined
  /** Concurrent calls on a connection (default: 256). */
  readonly streamsMax: number | undefined
  /** Returns the bounds of a connection; called for each new one. */
  readonly bounds: () => ConnectionBounds
  /** Reads PROXY headers of connections; none when left out. */
  readonly proxy?: ProxyGateOptions | undefined
}

/**
 * Creates a server; call `listen` next.
 * @throws {Error} when the certificate or key is bad, and on Deno, which has no HTTP/2 for it
 */
export function createGrpcServer(options: GrpcServerOptions): HttpServer {
  if ('Deno' in globalThis) throw new Error('"grpc://" needs the HTTP/2 of Node')
  const { answer, tls, connectionsMax, streamsMax = STREAMS_MAX, bounds, proxy } = options
  const direct: Direct = (head) => {
    const refused = refusedBy(head)
    return refused === undefined ? (body) => respond(answer(), head, body) : () => refused
  }
  const app = { fetch: () => new Response(null, { status: 404 }) }
  return new HttpServer(app, {
    ...(tls && { tls }),
    proxy,
    direct,
    http2Only: { streamsMax, bodyBytesMax: GRPC_BYTES_MAX, tooLong: TOO_LONG },
    ...(connectionsMax !== undefined && { connectionsMax }),
    bounds,
  })
}

/** Returns the response to a request that is no call, or a call of another method. */
function refusedBy(head: Head): Ready | undefined {
  if (head.method !== 'POST') return refusal(405)
  const type = head.header('content-type')?.toLowerCase() ?? ''
  if (!/^application\/grpc(\+proto)?\s*(;|$)/.test(type)) return refusal(415)
  if (head.path !== GRPC_PATH) return NO_METHOD
  return (head.header('grpc-encoding') ?? 'identity') === 'identity' ? undefined : COMPRESSED
}

function respond(answer: Answer, head: Head, body: Uint8Array = EMPTY): Ready | Promise<Ready> {
  const message = readGrpcMessage(body)
  if (!(message instanceof Uint8Array)) return ended(message)
  if (!isQuery(message)) return NO_QUERY
  const result = answer(message, { ...head.ends(), transport: 'grpc' }, writer)
  return andThen(ownResponse(result, writer), (reply): Ready => {
    if (reply === undefined) return NO_RESPONSE
    return { status: 200, headers: HEADERS, body: writeGrpcMessage(reply), trailers: TRAILERS_OK }
  })
}

/** Returns the response that ends a call without a message: headers alone, as gRPC has it. */
function ended({ status, reason }: GrpcRefusal): Ready {
  const fields = { 'grpc-status': String(status), 'grpc-message': reason }
  return { status: 200, headers: { ...HEADERS, ...fields }, body: EMPTY }
}

/** Returns the response to a request that is not one of gRPC. */
function refusal(status: number): Ready {
  return { status, headers: {}, body: EMPTY }
}
