/**
 * Small scripted servers with TLS.
 * @module
 */
import type { IncomingHttpHeaders, RequestListener } from 'node:http'
import { createSecureServer, type Http2Session, type ServerHttp2Stream } from 'node:http2'
import { createServer as createHttps } from 'node:https'
import { createServer as createTls, type TLSSocket, type TlsOptions } from 'node:tls'
import type { TestContext } from 'vitest'
import { MessageStream } from '../../src/dns/wire/message-stream.ts'
import { SERVER } from '../certificates.ts'
import { type FakeServer, listening } from './clients.ts'

/** Starts a TLS server that calls `answer` with each query and its connection. */
export async function fakeTls(
  t: TestContext,
  answer: (query: Uint8Array, socket: TLSSocket) => void,
  options: TlsOptions = {},
): Promise<FakeServer> {
  const sockets = new Set<TLSSocket>()
  const server = createTls({ ...SERVER, ...options }, (socket) => {
    sockets.add(socket)
    const stream = new MessageStream((query) => {
      answer(query, socket)
    })
    socket.on('data', (chunk) => stream.push(Buffer.from(chunk)))
    socket.on('error', () => undefined)
  })
  server.on('tlsClientError', () => undefined)
  return listening(t, server, () => {
    for (const socket of sockets) socket.destroy()
  })
}

/** Starts an HTTP/1.1 server over TLS. */
export async function fakeHttps(t: TestContext, listener: RequestListener): Promise<FakeServer> {
  const server = createHttps(SERVER, listener)
  return listening(t, server, () => server.closeAllConnections())
}

/** An HTTP/2 request and the stream to answer it on. */
export type StreamRequest = {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Uint8Array
  readonly stream: ServerHttp2Stream
}

/** An HTTP/2 server over TLS, and its sessions for a test to close. */
export async function fakeHttp2(
  t: TestContext,
  answer: (request: StreamRequest) => void,
): Promise<FakeServer & { readonly sessions: ReadonlySet<Http2Session> }> {
  const sessions = new Set<Http2Session>()
  const server = createSecureServer(SERVER)
  server.on('session', (session) => sessions.add(session))
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    stream.on('error', () => undefined)
    const chunks: Buffer[] = []
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('end', () => {
      const { ':method': method = '', ':path': path = '' } = headers
      answer({ method, path, headers, body: new Uint8Array(Buffer.concat(chunks)), stream })
    })
  })
  const started = await listening(t, server, () => {
    for (const session of sessions) session.destroy()
  })
  return { ...started, sessions }
}
