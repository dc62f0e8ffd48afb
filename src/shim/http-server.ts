/**
 * HTTP for the apps of this project on Node: the only place that knows the adapter.
 * @module
 */
import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http'
import {
  createSecureServer,
  type Http2SecureServer,
  Http2ServerRequest,
  Http2ServerResponse,
  type Http2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { TLSSocket } from 'node:tls'
import { getRequestListener } from '@hono/node-server'
import type { Hono } from 'hono'
import type { ConnectionBounds, TlsService } from '../plugins/plugin.ts'
import { contextOptions, isWelcome, serverOptions } from './tls-service.ts'

const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 15_000
const CONNECTIONS_MAX = 2000
const NO_BOUNDS = (): ConnectionBounds => ({})
/** How often slow requests are looked for. */
const CHECK_MS = 1000

/** Octets of a body that is answered without the app. */
const DIRECT_BODY_BYTES_MAX = 65_535
/** Streams of one HTTP/2 connection at a time. */
const STREAMS_MAX = 250

/** How to listen; neither when left out. */
export type ListenOptions = {
  /** Whether `::` stands for addresses of IPv6 alone. */
  readonly ipv6Only?: boolean
  /** Whether other processes listen there as well. */
  readonly reusePort?: boolean
}

/** What is known of a request before its body. */
export type Head = {
  readonly method: string
  /** Path and query, as they were sent. */
  readonly path: string
  readonly header: (name: string) => string | undefined
  readonly address: string
  readonly ends: () => Ends
}

/** What answers requests. */
export type App = Pick<Hono, 'fetch'>

/** How to serve; what is left out is not there. */
export type HttpOptions = {
  /** For HTTPS: HTTP/1.1 and HTTP/2. */
  readonly tls?: TlsService
  /** Answers common requests in place of the app. */
  readonly direct?: Direct
  /** Connections at a time, 2000 when left out. */
  readonly connectionsMax?: number
  /** Gives the bounds of a connection at the time when it is made. */
  readonly bounds?: () => ConnectionBounds
}

/** A response that is at hand. */
export type Ready = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/**
 * Takes a request by its head, or leaves it to the app (`undefined`); then answers it, a POST with
 * its body.
 */
export type Direct = (head: Head) => Answer | undefined

type Answer = (body?: Uint8Array) => Ready | Promise<Ready>

/** An HTTP server for one app: HTTP/1.1, and with TLS HTTP/2 as well. */
export class HttpServer {
  private readonly server: Server | Http2SecureServer
  private readonly sessions = new Set<Http2Session>()
  private readonly direct: Direct | undefined
  private readonly bounds: () => ConnectionBounds

  /** @throws {Error} when certificate and key are not good */
  constructor(app: App, options: HttpOptions = {}) {
    const { tls, direct, connectionsMax = CONNECTIONS_MAX, bounds = NO_BOUNDS } = options
    const fetch = app.fetch.bind(app)
    this.direct = direct
    this.bounds = bounds
    const listener = getRequestListener((request, env) => fetch(request, env), {
      overrideGlobalObjects: false,
    })
    const serve = (request: IncomingMessage, response: ServerResponse): void => {
      const { writeMs } = bounds()
      if (writeMs !== undefined) response.setTimeout(writeMs, () => response.destroy())
      if (!this.answerPlain(request, response)) void listener(request, response)
    }
    this.server =
      tls === undefined
        ? createServer({ connectionsCheckingInterval: CHECK_MS }, serve)
        : this.createSecure(tls, listener, serve)
    this.server.maxConnections = connectionsMax
    this.bound()
    this.server.on('connection', () => this.bound())
  }

  /**
   * Begins to listen.
   * @returns the port
   * @throws {Error} when the address is taken
   */
  listen(host: string | undefined, port: number, how: ListenOptions = {}): Promise<number> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject)
      this.server.listen({ host, port, ...how }, () => {
        this.server.off('error', reject)
        const bound = this.server.address()
        resolve(typeof bound === 'object' && bound !== null ? bound.port : port)
      })
    })
  }

  /** Takes no more requests, and ends the connections there are. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.server.close(() => {
        resolve()
      })
      for (const session of this.sessions) session.destroy()
      if ('closeAllConnections' in this.server) this.server.closeAllConnections()
    })
  }

  /** Shows another certificate from now on. @throws {Error} when it and its key are not good */
  renew(service: TlsService): void {
    if ('setSecureContext' in this.server) this.server.setSecureContext(contextOptions(service))
  }

  /** Sets the bounds of HTTP/1.1, for the connections from now on and the requests on all. */
  private bound(): void {
    const { server } = this
    if (!('headersTimeout' in server)) return
    const { readMs = REQUEST_TIMEOUT_MS, idleMs } = this.bounds()
    server.headersTimeout = Math.min(HEADERS_TIMEOUT_MS, readMs)
    server.requestTimeout = readMs
    if (idleMs !== undefined) server.keepAliveTimeout = idleMs
  }

  private answerPlain(request: IncomingMessage, response: ServerResponse): boolean {
    const answer = this.direct?.({
      method: request.method ?? '',
      path: request.url ?? '',
      header: (name) => textOf(request.headers[name]),
      address: request.socket.remoteAddress ?? '',
      ends: () => endsOf(request.socket),
    })
    if (answer === undefined) return false
    const hasBody = request.method === 'POST'
    respond(request, { answer, hasBody }, ({ status, headers, body }) => {
      response.writeHead(status, headers)
      response.end(body)
    })
    return true
  }

  private answerStream(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): boolean {
    const answer = this.direct?.({
      method: textOf(headers[':method']) ?? '',
      path: textOf(headers[':path']) ?? '',
      header: (name) => textOf(headers[name]),
      address: stream.session?.socket.remoteAddress ?? '',
      ends: () => endsOf(stream.session?.socket),
    })
    if (answer === undefined) return false
    const hasBody = headers[':method'] === 'POST'
    respond(stream, { answer, hasBody }, (ready) => {
      if (stream.destroyed || stream.closed) return
      stream.respond({ ':status': ready.status, ...ready.headers })
      stream.end(ready.body)
    })
    return true
  }

  private createSecure(
    tls: TlsService,
    listener: ReturnType<typeof getRequestListener>,
    serve: (request: IncomingMessage, response: ServerResponse) => void,
  ): Http2SecureServer {
    const server = createSecureServer({
      ...serverOptions(tls),
      allowHTTP1: true,
      maxSessionInvalidFrames: 100,
      settings: { maxConcurrentStreams: STREAMS_MAX },
    })
    server.on('secureConnection', (socket) => {
      if (!isWelcome(socket, tls.clientAuth)) socket.destroy()
    })
    server.on('request', (request, response) => {
      // Only HTTP/1.1 comes this way: streams are taken below.
      if (request instanceof IncomingMessage && response instanceof ServerResponse) {
        serve(request, response)
      }
    })
    server.removeAllListeners('stream')
    server.on('stream', (stream: ServerHttp2Stream, headers, _, rawHeaders: string[]) => {
      stream.on('error', () => undefined)
      if (this.answerStream(stream, headers)) return
      const request = new Http2ServerRequest(stream, headers, {}, rawHeaders)
      void listener(request, new Http2ServerResponse(stream))
    })
    server.on('session', (session) => {
      this.sessions.add(session)
      session.setTimeout(this.bounds().idleMs ?? REQUEST_TIMEOUT_MS, () => {
        session.close()
      })
      session.once('close', () => this.sessions.delete(session))
    })
    return server
  }
}

/** Sends the answer to a request; to a POST when its body is there. */
function respond(
  request: Readable,
  { answer, hasBody }: { readonly answer: Answer; readonly hasBody: boolean },
  send: (ready: Ready) => void,
): void {
  if (hasBody) {
    void readAll(request)
      .then((body) => answer(body))
      .then(send)
      // The client is gone, or its request broke off.
      .catch(() => request.destroy())
    return
  }
  const ready = answer()
  if (ready instanceof Promise) void ready.then(send).catch(() => request.destroy())
  else send(ready)
}

/** Reads a body; one that is longer than a message is broken off. */
function readAll(request: Readable): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > DIRECT_BODY_BYTES_MAX) reject(new Error('the body is too long'))
      else chunks.push(chunk)
    })
    request.on('end', () => {
      const [only] = chunks
      resolve(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks))
    })
    request.on('error', reject)
  })
}

function textOf(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.join(', ')
}

/**
 * SHA-256 of the certificate that a client has shown and one of our authorities has signed, in
 * hexadecimal digits; `undefined` without one.
 */
export function certificateOf(env: unknown): string | undefined {
  const socket = hasIncoming(env) ? env.incoming.socket : undefined
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined
  return socket.getPeerCertificate().fingerprint256.replaceAll(':', '').toLowerCase()
}

/** Both ends of a request's connection. */
export type Ends = {
  readonly address: string
  readonly port: number
  readonly localAddress: string
  readonly localPort: number
}

/** Who sent a request, and to which address, from what the adapter passes along. */
export function remoteOf(env: unknown): Ends {
  return endsOf(hasIncoming(env) ? env.incoming.socket : undefined)
}

function endsOf(socket: Partial<Socket> | undefined): Ends {
  return {
    address: socket?.remoteAddress ?? '127.0.0.1',
    port: socket?.remotePort ?? 0,
    localAddress: socket?.localAddress ?? '127.0.0.1',
    localPort: socket?.localPort ?? 0,
  }
}

function hasIncoming(env: unknown): env is { readonly incoming: IncomingMessage } {
  return typeof env === 'object' && env !== null && 'incoming' in env
}
