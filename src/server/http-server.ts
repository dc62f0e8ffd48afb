/**
 * HTTP for the apps of this project on Node: the only place that knows the adapter.
 * @module
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTcpServer, type Socket, type Server as TcpServer } from 'node:net'
import { createServer as createTlsServer, type TLSSocket, type Server as TlsServer } from 'node:tls'
import { getRequestListener } from '@hono/node-server'
import type { ConnectionBounds, TlsService } from '../chain/feature.ts'
import { contextOptions, isWelcome, serverOptions } from '../node/tls-service.ts'
import { CHECK_MS, HttpConnections } from './http-connections.ts'
import { HttpGate } from './http-gate.ts'
import {
  type Answer,
  type App,
  DIRECT_BODY_BYTES_MAX,
  type Direct,
  endsOf,
  identitiesOfSocket,
  type Ready,
} from './http-request.ts'
import { Http2Connection } from './http2-connection.ts'
import { NetworkTurns } from './network-turns.ts'
import type { PhaseTimes, ServedSocket } from './served-socket.ts'

const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 15_000
/** Time from the headers of a request until the client has taken its response. */
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

/** The turns of all clients of all servers of this process. */
const TURNS = new NetworkTurns()
/** Deno 2.9 frees memory twice under load in its `node:http2`. */
const PROTOCOLS = 'Deno' in globalThis ? ['http/1.1'] : ['h2', 'http/1.1']

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

/** What `@hono/node-server` makes of an app; it takes requests of both versions of HTTP. */
type Listener = ReturnType<typeof getRequestListener>

/** An HTTP server for one app: HTTP/1.1, and with TLS HTTP/2 as well. */
export class HttpServer {
  private readonly server: TcpServer
  private readonly secure: TlsServer | undefined
  private readonly http1: Server
  private readonly connections: HttpConnections
  private readonly listener: Listener
  private readonly direct: Direct | undefined
  private readonly bounds: () => ConnectionBounds

  /** @throws {Error} when certificate and key are not good */
  constructor(app: App, options: HttpOptions = {}) {
    const { tls, direct, connectionsMax = CONNECTIONS_MAX, bounds = NO_BOUNDS } = options
    const fetch = app.fetch.bind(app)
    this.direct = direct
    this.bounds = bounds
    this.listener = getRequestListener((request, env) => fetch(request, env), {
      overrideGlobalObjects: false,
    })
    // Node keeps the first of two headers by default, and other runtimes join them.
    const how = { connectionsCheckingInterval: CHECK_MS, joinDuplicateHeaders: true }
    this.http1 = createServer(how, (request, response) => this.serveRequest(request, response))
    this.secure = tls && this.createSecure(tls)
    this.server = createTcpServer({ noDelay: true })
    // With this, Node begins to look for slow requests.
    this.server.on('listening', () => this.http1.emit('listening'))
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
    return new Promise((resolve) => {
      this.server.close(() => {
        resolve()
      })
      this.http1.close()
      this.connections.close()
    })
  }

  /** Shows another certificate from now on. @throws {Error} when it and its key are not good */
  renew(service: TlsService): void {
    this.secure?.setSecureContext(contextOptions(service))
  }

  private accept(socket: Socket): void {
    const { secure, connections } = this
    this.bound()
    if (!connections.open(socket, secure !== undefined)) return
    if (secure === undefined) this.serveHttp1(socket)
    else secure.emit('connection', socket)
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

  private serveRequest(request: IncomingMessage, response: ServerResponse): void {
    const served = this.connections.find(request.socket)
    if (served === undefined) return
    const { now } = this.connections
    served.requested(now(), request)
    response.once('close', () => served.responded(now(), response.statusCode))
    if (request.socket.destroyed) return
    if (!this.answerDirectly(request, response)) void this.listener(request, response)
  }

  private answerDirectly(request: IncomingMessage, response: ServerResponse): boolean {
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

  /** A server of TLS, which hands connections on by what the client speaks. */
  private createSecure(tls: TlsService): TlsServer {
    const server = createTlsServer({ ...serverOptions(tls), ALPNProtocols: PROTOCOLS })
    server.on('secureConnection', (socket) => {
      const served = this.connections.find(socket)
      if (served === undefined || !isWelcome(socket, tls.clientAuth)) socket.destroy()
      else if (socket.alpnProtocol === 'h2') this.serveHttp2(socket, served)
      else {
        served.secured(this.connections.now())
        this.serveHttp1(socket)
      }
    })
    // Node reports a handshake that takes too long, and leaves its socket open.
    server.on('tlsClientError', (_, socket) => socket.destroy())
    return server
  }

  private serveHttp2(socket: TLSSocket, served: ServedSocket): void {
    const { direct, listener, connections } = this
    const { now } = connections
    const connection = new Http2Connection(socket, { direct, listener, turns: TURNS, now })
    served.secured(now(), connection)
  }

  private serveHttp1(socket: Socket): void {
    const served = this.connections.find(socket)
    if (served === undefined) return
    const gate = new HttpGate(socket, { turns: TURNS, expected: () => served.expected() })
    served.bind(gate)
    this.http1.emit('connection', gate)
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
