/**
 * HTTP for the apps of this project on Node: the only place that knows the adapter.
 * @module
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTcpServer, type Socket, type Server as TcpServer } from 'node:net'
import type { Duplex } from 'node:stream'
import { createServer as createTlsServer, type TLSSocket, type Server as TlsServer } from 'node:tls'
import { getRequestListener } from '@hono/node-server'
import type { ConnectionBounds, TlsService } from '../chain/plugin.ts'
import { contextOptions, isWelcome, serverOptions } from '../node/tls-service.ts'
import { CHECK_MS, HttpConnections } from './http-connections.ts'
import {
  type Answer,
  type App,
  DIRECT_BODY_BYTES_MAX,
  type Direct,
  endsOf,
  identitiesOfSocket,
  type Ready,
} from './http-request.ts'
import { Http2Socket, type SecureSocket } from './http2-socket.ts'
import type { BoundedSocket, PhaseTimes } from './served-socket.ts'

const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 15_000
/** Time from the headers of a request of HTTP/1.1 until the client has taken its response. */
const RESPONSE_TIMEOUT_MS = 30_000
const CONNECTIONS_MAX = 2000
/**
 * Connections that wait to be accepted: with Node's 511, a burst makes other clients repeat their
 * SYN, which takes a second. Linux takes no more than net.core.somaxconn, 4,096 by default.
 */
const BACKLOG = 4096
/** The share of all connections that one client may have. */
const CLIENT_SHARE = 0.5
/** Connections of one client without an answered request, such as those in their handshake. */
const UNSERVED_PER_CLIENT_MAX = 500
const NO_BOUNDS = (): ConnectionBounds => ({})

/** How to listen; neither when left out. */
export type ListenOptions = {
  /** Whether `::` stands for addresses of IPv6 alone. */
  readonly ipv6Only?: boolean
  /** Whether other processes listen there as well. */
  readonly reusePort?: boolean
}

/** How to serve; what is left out is not there. */
export type HttpOptions = {
  /** For HTTPS: HTTP/1.1 and HTTP/2. */
  readonly tls?: TlsService
  /** Answers common requests in place of the app. */
  readonly direct?: Direct
  /** Connections at a time, 2000 when left out; one client may have half of them. */
  readonly connectionsMax?: number
  /** Gives the bounds of a connection at the time when it is made. */
  readonly bounds?: () => ConnectionBounds
}

/** An HTTP server for one app: HTTP/1.1, and with TLS HTTP/2 as well. */
export class HttpServer {
  /** What listens, which without TLS is the server of HTTP/1.1 itself. */
  private readonly server: Server | TcpServer
  private readonly secure: TlsServer | undefined
  private readonly http1: Server
  private readonly http2 = new Set<Http2Socket>()
  private readonly connections: HttpConnections
  private readonly app: App
  private readonly direct: Direct | undefined
  private readonly bounds: () => ConnectionBounds

  /** @throws {Error} when certificate and key are not good */
  constructor(app: App, options: HttpOptions = {}) {
    const { tls, direct, connectionsMax = CONNECTIONS_MAX, bounds = NO_BOUNDS } = options
    const fetch = app.fetch.bind(app)
    this.app = app
    this.direct = direct
    this.bounds = bounds
    const listener = getRequestListener((request, env) => fetch(request, env), {
      overrideGlobalObjects: false,
    })
    const serve = (request: IncomingMessage, response: ServerResponse): void => {
      this.follow(request, response)
      if (request.socket.destroyed) return
      if (!this.answerPlain(request, response)) void listener(request, response)
    }
    // Node keeps the first of two headers by default, and other runtimes join them.
    const how = { connectionsCheckingInterval: CHECK_MS, joinDuplicateHeaders: true }
    this.http1 = createServer(how, serve)
    this.secure = tls && this.createSecure(tls)
    this.server = this.secure === undefined ? this.http1 : createTcpServer()
    // With this, Node begins to look for slow requests.
    if (tls) this.server.on('listening', () => this.http1.emit('listening'))
    const connectionsPerClientMax = Math.ceil(connectionsMax * CLIENT_SHARE)
    const limits = {
      connectionsMax,
      connectionsPerClientMax,
      unservedPerClientMax: UNSERVED_PER_CLIENT_MAX,
    }
    this.connections = new HttpConnections(limits, () => this.times())
    this.bound()
  }

  /**
   * Begins to listen.
   * @returns the port
   * @throws {Error} when the address is taken
   */
  listen(host: string | undefined, port: number, how: ListenOptions = {}): Promise<number> {
    this.server.on('connection', (socket: Socket) => this.accept(socket))
    return new Promise((resolve, reject) => {
      this.server.once('error', reject)
      this.server.listen({ host, port, backlog: BACKLOG, ...how }, () => {
        this.server.off('error', reject)
        const bound = this.server.address()
        resolve(typeof bound === 'object' && bound !== null ? bound.port : port)
      })
    })
  }

  /** Takes no more requests, and ends the connections there are. */
  close(): Promise<void> {
    this.connections.close()
    return new Promise((resolve) => {
      this.server.close(() => {
        resolve()
      })
      for (const one of this.http2) one.close()
      if (this.http1 !== this.server) this.http1.close()
      this.http1.closeAllConnections()
    })
  }

  /** Shows another certificate from now on. @throws {Error} when it and its key are not good */
  renew(service: TlsService): void {
    this.secure?.setSecureContext(contextOptions(service))
  }

  /**
   * Counts a connection that a listener other than ours has accepted, before its handshake; ends it
   * when there are too many. @returns what to call when it has ended
   */
  open(socket: BoundedSocket, isSecure: boolean): () => void {
    return this.connections.open(socket, isSecure)
  }

  private accept(socket: Socket): void {
    const { secure } = this
    this.bound()
    socket.once('close', this.open(socket, secure !== undefined))
    if (secure === undefined) this.connections.bind(socket)
    else secure.emit('connection', socket)
  }

  /** Follows a request of HTTP/1.1: its connection is at work until it has the response. */
  private follow(request: IncomingMessage, response: ServerResponse): void {
    const connection = this.connections.find(request.socket)
    if (connection === undefined) return
    const { now } = this.connections
    connection.requested(now(), request)
    response.once('close', () => connection.responded(now(), response.statusCode))
  }

  private times(): PhaseTimes {
    const { readMs, idleMs, writeMs } = this.bounds()
    return {
      readMs: readMs ?? REQUEST_TIMEOUT_MS,
      idleMs: idleMs ?? REQUEST_TIMEOUT_MS,
      writeMs: writeMs ?? RESPONSE_TIMEOUT_MS,
    }
  }

  /** Sets the bounds of HTTP/1.1, for the connections from now on and the requests on all. */
  private bound(): void {
    const { http1 } = this
    const { readMs = REQUEST_TIMEOUT_MS, idleMs } = this.bounds()
    http1.headersTimeout = Math.min(HEADERS_TIMEOUT_MS, readMs)
    http1.requestTimeout = readMs
    if (idleMs !== undefined) http1.keepAliveTimeout = idleMs
  }

  private answerPlain(request: IncomingMessage, response: ServerResponse): boolean {
    const answer = this.direct?.({
      method: request.method ?? '',
      path: request.url ?? '',
      header: (name) => textOf(request.headers[name]),
      address: request.socket.remoteAddress ?? '',
      identities: () => identitiesOfSocket(request.socket),
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

  /**
   * A server of TLS, which hands connections on by what the client speaks. Where the server of
   * HTTP/1.1 is by itself one of TLS, Bun lets nobody else have its connections.
   */
  private createSecure(tls: TlsService): TlsServer {
    const server = createTlsServer({ ...serverOptions(tls), ALPNProtocols: ['h2', 'http/1.1'] })
    server.on('secureConnection', (socket) => {
      socket.setNoDelay(true)
      if (!isWelcome(socket, tls.clientAuth)) socket.destroy()
      else if (socket.alpnProtocol === 'h2') this.serveTls(socket)
      else this.serveHttp1(socket)
    })
    // Node reports a handshake that takes too long, and leaves its socket open.
    server.on('tlsClientError', (_, socket) => socket.destroy())
    return server
  }

  /** Serves a connection by HTTP/2, over whatever has TLS; who calls tells it what happens. */
  serveHttp2(socket: SecureSocket): Http2Socket {
    const { app, direct } = this
    const times = { ...this.times(), writeMs: this.bounds().writeMs ?? REQUEST_TIMEOUT_MS }
    const onClosed = (): void => void this.http2.delete(served)
    const served = new Http2Socket(socket, { app, direct, times, onClosed })
    this.http2.add(served)
    this.connections.secured(socket, served)
    return served
  }

  /** Serves a connection by HTTP/1.1, over whatever has TLS. */
  serveHttp1(socket: Duplex): void {
    this.connections.secured(socket)
    this.connections.bind(socket)
    this.http1.emit('connection', socket)
  }

  private serveTls(socket: TLSSocket): void {
    const served = this.serveHttp2(socket)
    socket.on('error', () => undefined)
    socket.on('data', (chunk: Buffer) => served.received(chunk))
    socket.on('drain', () => served.drained())
    socket.on('end', () => served.ended())
    socket.on('close', () => served.closed())
  }
}

/** Sends the answer to a request; to a POST when its body is there. */
function respond(
  request: IncomingMessage,
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
function readAll(request: IncomingMessage): Promise<Uint8Array> {
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
