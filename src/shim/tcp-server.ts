/**
 * Answers over TCP (RFC 7766): many queries on a connection, answered as each is ready.
 * @module
 */
import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, Server as TlsServer } from 'node:tls'
import { writeUint16 } from '../dns/bytes.ts'
import { HEADER_BYTES } from '../dns/limits.ts'
import { ReplyWriter } from '../dns/reply-writer.ts'
import type { TlsService } from '../plugins/plugin.ts'
import { MessageStream } from './message-stream.ts'
import { contextOptions, isWelcome, serverOptions } from './tls-service.ts'
import type { Answer } from './udp-server.ts'

/** Bounds of connections. */
export type TcpLimits = {
  readonly connectionsMax: number
  /** Connections of one client address. */
  readonly connectionsPerClientMax: number
  /** Queries of one connection that wait for their answers; more are not read until one is done. */
  readonly pendingMax: number
  /** Octets of answers that a client may leave unread before no more queries are taken from it. */
  readonly unreadBytesMax: number
  /** How long a new connection may be without a whole message. */
  readonly readMs: number
  /** How long one may be without the next (RFC 7766 §6.2.3). */
  readonly idleMs: number
  /** How long a client may leave all of an answer, or a part of it, unread. */
  readonly writeMs: number
  /** Queries on a connection; Infinity for any number. */
  readonly queriesMax: number
}

/** Bounds that suit a server in a cluster (RFC 9210 §4), and times that CoreDNS has. */
export const TCP_LIMITS: TcpLimits = {
  connectionsMax: 5000,
  connectionsPerClientMax: 500,
  pendingMax: 256,
  unreadBytesMax: 1024 * 1024,
  readMs: 3000,
  idleMs: 10_000,
  writeMs: 5000,
  queriesMax: Number.POSITIVE_INFINITY,
}

/** One for all connections: responses are copied out of it at once. */
const writer = new ReplyWriter()
const SOCKET_OPTIONS = { allowHalfOpen: true, noDelay: true }

/** A TCP socket that answers, as it is or over TLS. */
export class TcpServer {
  private readonly server: Server
  private readonly answer: () => Answer
  private readonly limits: () => TcpLimits
  private readonly connections = new Set<Socket>()
  private readonly perClient = new Map<string, number>()

  /**
   * @param answer gives the function to answer with at the time of each message
   * @param limits gives the bounds of a connection at the time when it is made
   * @param tls for DNS over TLS (RFC 7858)
   * @throws {Error} when certificate and key are not good
   */
  constructor(answer: () => Answer, limits: () => TcpLimits = () => TCP_LIMITS, tls?: TlsService) {
    this.answer = answer
    this.limits = limits
    this.server = tls === undefined ? this.createPlain() : this.createSecure(tls)
  }

  /** Shows another certificate from now on. @throws {Error} when it and its key are not good */
  renew(service: TlsService): void {
    if (this.server instanceof TlsServer) this.server.setSecureContext(contextOptions(service))
  }

  /**
   * Begins to listen.
   * @param reusePort whether other processes listen there as well
   * @returns the port
   * @throws {Error} when the address is taken
   */
  listen(address: string, port: number, reusePort = false): Promise<number> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject)
      this.server.listen({ host: address, port, ipv6Only: true, reusePort }, () => {
        this.server.off('error', reject)
        this.server.on('error', () => undefined)
        const bound = this.server.address()
        resolve(typeof bound === 'object' && bound !== null ? bound.port : port)
      })
    })
  }

  /** Takes no more connections, and ends those there are. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.server.close(() => {
        resolve()
      })
      for (const socket of this.connections) socket.destroy()
    })
  }

  private createPlain(): Server {
    return createServer(SOCKET_OPTIONS, (socket) => {
      if (this.admit(socket)) this.start(socket, 'tcp')
    })
  }

  private createSecure(tls: TlsService): TlsServer {
    const options = { ...SOCKET_OPTIONS, ...serverOptions(tls), ALPNProtocols: ['dot'] }
    const server = createTlsServer(options, (socket) => {
      if (isWelcome(socket, tls.clientAuth)) this.start(socket, 'tls')
      else socket.destroy()
    })
    server.on('connection', (socket: Socket) => {
      this.admit(socket)
    })
    // Who does not get through the handshake is gone already.
    server.on('tlsClientError', () => undefined)
    return server
  }

  private start(socket: Socket, transport: 'tcp' | 'tls'): void {
    new Connection(socket, { answer: this.answer, limits: this.limits(), transport }).start()
  }

  /** Counts a connection, or ends it when there are too many. */
  private admit(socket: Socket): boolean {
    const client = socket.remoteAddress ?? ''
    const count = (this.perClient.get(client) ?? 0) + 1
    const { connectionsMax, connectionsPerClientMax } = this.limits()
    if (this.connections.size >= connectionsMax || count > connectionsPerClientMax) {
      socket.destroy()
      return false
    }
    this.connections.add(socket)
    this.perClient.set(client, count)
    socket.on('close', () => {
      this.connections.delete(socket)
      const left = (this.perClient.get(client) ?? 1) - 1
      if (left > 0) this.perClient.set(client, left)
      else this.perClient.delete(client)
    })
    return true
  }
}

/** How a connection is served. */
type Service = {
  readonly answer: () => Answer
  readonly limits: TcpLimits
  readonly transport: 'tcp' | 'tls'
}

/** One connection of a client. */
class Connection {
  private readonly socket: Socket
  private readonly answer: () => Answer
  private readonly limits: TcpLimits
  private readonly transport: Service['transport']
  /** Messages of the chunk read last that are not taken yet. */
  private readonly waiting: Uint8Array[] = []
  private pending = 0
  private queriesLeft: number
  private hasEnded = false
  private idle: NodeJS.Timeout | undefined
  private writing: NodeJS.Timeout | undefined

  constructor(socket: Socket, { answer, limits, transport }: Service) {
    this.socket = socket
    this.answer = answer
    this.limits = limits
    this.transport = transport
    this.queriesLeft = limits.queriesMax
  }

  start(): void {
    const { socket } = this
    const stream = new MessageStream((message) => {
      if (!this.hasEnded) this.waiting.push(message)
    })
    this.restartIdle(this.limits.readMs)
    socket.on('error', () => undefined)
    socket.on('close', () => {
      clearTimeout(this.idle)
      clearTimeout(this.writing)
    })
    socket.on('data', (chunk) => {
      const isSound = typeof chunk !== 'string' && stream.push(chunk)
      this.proceed()
      if (!isSound) socket.destroy()
    })
    socket.on('end', () => {
      this.hasEnded = true
      this.proceed()
    })
    socket.on('drain', () => {
      clearTimeout(this.writing)
      this.writing = undefined
      this.proceed()
    })
  }

  private take(message: Uint8Array): void {
    const { socket } = this
    if (message.length < HEADER_BYTES) {
      socket.destroy()
      return
    }
    this.queriesLeft--
    this.restartIdle(this.limits.idleMs)
    const client = {
      address: socket.remoteAddress ?? '',
      port: socket.remotePort ?? 0,
      transport: this.transport,
      localAddress: socket.localAddress ?? '',
      localPort: socket.localPort ?? 0,
      sendAhead: (ahead: Uint8Array) => this.sendAhead(ahead),
    } as const
    const result = this.answer()(message, client, writer)
    if (typeof result === 'number') {
      this.sendFirst(writer.bytes, result)
      return
    }
    if (!(result instanceof Promise)) {
      this.send(result)
      return
    }
    this.pending++
    void result.then((later) => {
      this.pending--
      this.send(later)
      this.proceed()
    })
  }

  private send(response: Uint8Array | undefined): void {
    if (response !== undefined) this.sendFirst(response, response.length)
  }

  /** Sends a copy of the first `size` bytes, which the socket may hold on to. */
  private sendFirst(bytes: Uint8Array, size: number): void {
    const { socket } = this
    if (socket.destroyed) return
    const framed = Buffer.allocUnsafe(2 + size)
    writeUint16(framed, 0, size)
    framed.set(bytes.subarray(0, size), 2)
    if (socket.write(framed)) return
    this.writing ??= setTimeout(() => socket.destroy(), this.limits.writeMs)
  }

  private async sendAhead(message: Uint8Array): Promise<void> {
    const { socket } = this
    this.send(message)
    if (socket.destroyed) throw new Error('the client closed the connection')
    if (!socket.writableNeedDrain) return
    const abort = new AbortController()
    try {
      const { signal } = abort
      await Promise.race([once(socket, 'drain', { signal }), once(socket, 'close', { signal })])
    } finally {
      abort.abort()
    }
  }

  /**
   * Takes messages, and reads on, only while the client takes its answers and not too many are
   * under way: one chunk can hold thousands of messages.
   */
  private proceed(): void {
    const { socket, waiting } = this
    while (!this.isBusy && !socket.destroyed && this.queriesLeft > 0) {
      const message = waiting.shift()
      if (message === undefined) break
      this.take(message)
    }
    if (this.queriesLeft <= 0) {
      waiting.length = 0
      this.hasEnded = true
    }
    if (this.isBusy) socket.pause()
    else socket.resume()
    if (this.hasEnded && this.pending === 0 && waiting.length === 0) socket.end()
  }

  private get isBusy(): boolean {
    const { socket, limits } = this
    return this.pending >= limits.pendingMax || socket.writableLength > limits.unreadBytesMax
  }

  private restartIdle(delayMs: number): void {
    clearTimeout(this.idle)
    this.idle = setTimeout(() => {
      if (this.pending > 0) this.restartIdle(delayMs)
      else this.socket.destroy()
    }, delayMs)
  }
}
