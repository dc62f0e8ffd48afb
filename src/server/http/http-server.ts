/**
 * The HTTP server on Node: HTTP/1.1 and, over TLS, HTTP/2; or HTTP/2 alone.
 * @module
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import { createServer as createTcpServer, type Socket, type Server as TcpServer } from 'node:net'
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls'
import { sleep } from '../../cluster/api/backoff.ts'
import type { TrustedProxies } from '../../gateway/doh/trusted-proxies.ts'
import type { ConnectionBounds, TlsService } from '../../resolver/contract/feature.ts'
import { contextOptions, isWelcome, serverOptions } from '../keys/tls-service.ts'
import { takeInherited } from '../node/inherited-sockets.ts'
import { FairQueue } from '../sockets/fair-queue.ts'
import { listenOnMoreHandles } from '../sockets/listening-handles.ts'
import { ProxyGate, type ProxyGateOptions } from '../sockets/proxy-gate.ts'
import { narrowReceiveBuffers } from '../sockets/receive-buffer.ts'
import { type AppListener, listenerFor } from './app-listener.ts'
import { respond } from './direct-response.ts'
import { CHECK_MS, HttpConnections } from './http-connections.ts'
import { HttpGate } from './http-gate.ts'
import {
  type App,
  DIRECT_BODY_BYTES_MAX,
  type Direct,
  endsOf,
  hasValidHost,
  identitiesOfSocket,
  limitKey,
  serverNameOfSocket,
  unmapped,
} from './http-request.ts'
import { Http2Connection, type Http2Only, type Http2Service } from './http2-connection.ts'
import { RequestMemory } from './request-memory.ts'
import type { PhaseTimes } from './served-socket.ts'

const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 15_000
/** Time from a request's headers until the client has read its response. */
const RESPONSE_TIMEOUT_MS = 30_000
const CONNECTIONS_MAX = 2000
/**
 * Connections that may wait to be accepted. With Node's 511, a burst makes clients resend their
 * SYN, which takes a second. Linux caps this at net.core.somaxconn, 4,096 by default.
 */
const BACKLOG = 4096
/** Interval at which a server that drains looks for connections to close; over a round trip. */
const DRAIN_POLL_MS = 100
/** The share of all connections that one client may have. */
const CLIENT_SHARE = 0.5
/** Connections of one client without an answered request, such as those in their handshake. */
const UNSERVED_PER_CLIENT_MAX = 500
const NO_BOUNDS = (): ConnectionBounds => ({})
const NO_PROXIES = (): undefined => undefined

/**
 * CPU time of a TLS handshake, which Node spends when the client's bytes arrive. A burst of new
 * connections starts few handshakes per iteration of the event loop.
 */
const HANDSHAKE_COST_MS = 1

/** Shared by all servers of this process, because they share its event loop. */
const QUEUE = new FairQueue()
/** The requests of all servers that wait for their clients. */
const REQUEST_MEMORY = new RequestMemory()
/** No HTTP/2 on Deno: its `node:http2` double-frees memory under load (Deno 2.9). */
const PROTOCOLS = 'Deno' in globalThis ? ['http/1.1'] : ['h2', 'http/1.1']

/** How to listen; both options are off by default. */
export type ListenOptions = {
  /** Whether `::` means IPv6 addresses only. */
  readonly ipv6Only?: boolean
  /** Whether other sockets listen on the same port. */
  readonly reusePort?: boolean
}

/** How to serve. */
export type HttpOptions = {
  /** Serves HTTPS with HTTP/1.1 and HTTP/2; plain HTTP/1.1 by default. */
  readonly tls?: TlsService
  /** Answers common requests without the app. */
  readonly direct?: Direct
  /** Serves HTTP/2 alone, with and without TLS; every request goes to `direct`. */
  readonly http2Only?: Http2Only
  /** Connections at a time (default 2,000); one client may have half of them. */
  readonly connectionsMax?: number
  /** Returns the bounds of a connection; called for each new one. */
  readonly bounds?: () => ConnectionBounds
  /** Bounds requests that wait for their clients (default: those of all servers of the process). */
  readonly requestMemory?: RequestMemory
  /** Reads PROXY headers of connections; none by default. */
  readonly proxy?: ProxyGateOptions | undefined
  /** Returns the proxies whose connections limits do not count as one client; none by default. */
  readonly proxies?: () => TrustedProxies | undefined
}

/** An HTTP server for one app. */
export class HttpServer {
  private readonly server: TcpServer
  /** The same socket's handles. */
  private servers: readonly TcpServer[]
  private readonly secure: TlsServer | undefined
  private readonly http1: Server
  private readonly connections: HttpConnections
  private readonly app: AppListener
  private readonly direct: Direct | undefined
  private readonly http2Only: Http2Only | undefined
  private readonly bounds: () => ConnectionBounds
  private readonly requestMemory: RequestMemory
  private readonly gate: ProxyGate | undefined
  private readonly proxies: () => TrustedProxies | undefined
  private closed: Promise<void> | undefined
  private isLeaving = false

  /** @throws {Error} when the certificate or key is invalid */
  constructor(app: App, options: HttpOptions = {}) {
    const { tls, direct, connectionsMax = CONNECTIONS_MAX, bounds = NO_BOUNDS } = options
    this.requestMemory = options.requestMemory ?? REQUEST_MEMORY
    this.gate = options.proxy && new ProxyGate(options.proxy)
    this.proxies = options.proxies ?? NO_PROXIES
    this.direct = direct
    this.http2Only = options.http2Only
    this.bounds = bounds
    this.app = listenerFor(app)
    // Other runtimes join duplicate headers too; Node keeps the first by default.
    const httpOptions = { connectionsCheckingInterval: CHECK_MS, joinDuplicateHeaders: true }
    this.http1 = createServer(httpOptions, (request, response) =>
      this.serveRequest(request, response),
    )
    this.secure = tls && this.createSecure(tls)
    this.server = this.createListener()
    this.servers = [this.server]
    // Node starts its checks for slow requests at this event.
    this.server.on('listening', () => this.http1.emit('listening'))
    const connectionsPerClientMax = Math.ceil(connectionsMax * CLIENT_SHARE)
    const limits = {
      connectionsMax,
      connectionsPerClientMax,
      unservedPerClientMax: UNSERVED_PER_CLIENT_MAX,
    }
    this.connections = new HttpConnections(limits, () => this.times())
    this.applyBounds()
  }

  /**
   * Starts to listen.
   * @returns the port
   * @throws {Error} when the address is in use
   */
  listen(host: string | undefined, port: number, how: ListenOptions = {}): Promise<number> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject)
      const fd = takeInherited('tcp', host ?? '::', port)
      const options = fd === undefined ? { host, port, backlog: BACKLOG, ...how } : { fd }
      this.server.listen(options, () => {
        this.server.off('error', reject)
        narrowReceiveBuffers(this.server)
        this.servers = [
          this.server,
          ...listenOnMoreHandles(this.server, () => this.createListener()),
        ]
        const bound = this.server.address()
        resolve(typeof bound === 'object' && bound !== null ? bound.port : port)
      })
    })
  }

  /** Stops listening; open connections stay. Resolves when the last one has closed. */
  stopListening(): Promise<void> {
    this.closed ??= Promise.all(
      this.servers.map(
        (server) => new Promise<void>((resolve) => void server.close(() => resolve())),
      ),
    ).then(() => undefined)
    return this.closed
  }

  /**
   * Asks clients to open other connections: by GOAWAY over HTTP/2 (RFC 9113 §6.8), by `Connection:
   * close` in each response over HTTP/1.1. All requests are still answered, also on new
   * connections.
   */
  leave(): void {
    this.isLeaving = true
    this.connections.leave()
  }

  /**
   * Does as {@link leave}, stops listening, and closes each connection that has no request in
   * flight. Resolves when the last one has closed, or after `limitMs`.
   */
  async drain(limitMs: number): Promise<void> {
    this.leave()
    const polls = setInterval(() => this.connections.finish(), DRAIN_POLL_MS)
    const limit = new AbortController()
    await Promise.race([this.stopListening(), sleep(limitMs, limit.signal)])
    limit.abort()
    clearInterval(polls)
  }

  /** Stops listening and closes all connections. */
  close(): Promise<void> {
    const closed = this.stopListening()
    this.http1.close()
    this.gate?.close()
    this.connections.close()
    return closed
  }

  /** Replaces the certificate. @throws {Error} when the certificate or key is invalid */
  renew(service: TlsService): void {
    this.secure?.setSecureContext(contextOptions(service))
  }

  private createListener(): TcpServer {
    const options = { noDelay: true, pauseOnConnect: true }
    const { gate } = this
    const accept = (socket: Socket): void => this.accept(socket)
    if (gate === undefined) return createTcpServer(options, accept)
    return createTcpServer(options, (socket) => gate.take(socket, accept))
  }

  private accept(socket: Socket): void {
    const { secure, connections } = this
    this.applyBounds()
    const client = limitKey(socket, this.proxies())
    if (!connections.open(socket, secure !== undefined, client)) return
    if (secure === undefined) {
      if (this.http2Only === undefined) this.serveHttp1(socket)
      else this.serveHttp2(socket)
      socket.resume()
    } else {
      const start = (): void => {
        if (!socket.destroyed) secure.emit('connection', socket)
      }
      QUEUE.run(client, start, HANDSHAKE_COST_MS)
    }
  }

  private times(): PhaseTimes {
    const { readMs, idleMs, writeMs } = this.bounds()
    return {
      readMs: readMs ?? REQUEST_TIMEOUT_MS,
      idleMs: idleMs ?? REQUEST_TIMEOUT_MS,
      writeMs: writeMs ?? RESPONSE_TIMEOUT_MS,
    }
  }

  /** Sets the time limits of Node's HTTP/1.1 server. */
  private applyBounds(): void {
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
    if (this.isLeaving) response.shouldKeepAlive = false
    response.once('close', () => served.responded(now(), response.statusCode))
    if (request.socket.destroyed) return
    if (!hasValidHost(request.rawHeaders)) {
      response.writeHead(400, { connection: 'close' }).end()
      return
    }
    if (!this.answerDirectly(request, response)) this.serveByApp(request, response)
  }

  /** Passes a request to the app; an accepted upload makes its connection a trusted one. */
  private serveByApp(
    request: IncomingMessage | Http2ServerRequest,
    response: ServerResponse | Http2ServerResponse,
  ): void {
    if (Number(request.headers['content-length']) > DIRECT_BODY_BYTES_MAX) {
      const served = this.connections.find(request.socket)
      response.once('finish', () => {
        if (response.statusCode < 400) served?.trust()
      })
    }
    void this.app(request, response)
  }

  private answerDirectly(request: IncomingMessage, response: ServerResponse): boolean {
    const answer = this.direct?.({
      method: request.method ?? '',
      path: request.url ?? '',
      header: (name) => textOf(request.headers[name]),
      address: unmapped(request.socket.remoteAddress ?? ''),
      identities: () => identitiesOfSocket(request.socket),
      serverName: () => serverNameOfSocket(request.socket),
      ends: () => endsOf(request.socket),
    })
    if (answer === undefined) return false
    const hasBody = request.method === 'POST'
    const reading = hasBody ? this.requestMemory : undefined
    respond(request, { answer, reading }, ({ status, headers, body }) => {
      response.writeHead(status, headers)
      response.end(body)
    })
    return true
  }

  /** Creates a TLS server that serves each connection by its negotiated protocol (ALPN). */
  private createSecure(tls: TlsService): TlsServer {
    const ALPNProtocols = this.http2Only === undefined ? PROTOCOLS : ['h2']
    const server = createTlsServer({ ...serverOptions(tls), ALPNProtocols })
    server.on('secureConnection', (socket) => {
      const served = this.connections.find(socket)
      if (served === undefined || !isWelcome(socket, tls.clientAuth)) socket.destroy()
      else if (socket.alpnProtocol === 'h2') this.serveHttp2(socket)
      else if (this.http2Only !== undefined) socket.destroy()
      else {
        served.secured(this.connections.now())
        this.serveHttp1(socket)
      }
    })
    // Node reports a handshake that takes too long, but leaves its socket open.
    server.on('tlsClientError', (_, socket) => socket.destroy())
    return server
  }

  private serveHttp2(socket: Socket): void {
    const { direct, connections, requestMemory, http2Only } = this
    const { now } = connections
    const listener: Http2Service['listener'] = (request, response) => {
      this.serveByApp(request, response)
    }
    const connection = new Http2Connection(socket, {
      direct,
      listener,
      queue: QUEUE,
      requestMemory,
      proxies: this.proxies(),
      now,
      isLeaving: () => this.isLeaving,
      http2Only,
    })
    connections.find(socket)?.secured(now(), connection)
  }

  private serveHttp1(socket: Socket): void {
    const served = this.connections.find(socket)
    if (served === undefined) return
    const client = limitKey(socket, this.proxies())
    const gate = new HttpGate(socket, { client, queue: QUEUE, expected: () => served.expected() })
    served.bind(gate)
    this.http1.emit('connection', gate)
  }
}

function textOf(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.join(', ')
}
