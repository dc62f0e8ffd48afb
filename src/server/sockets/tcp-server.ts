/**
 * A DNS server over TCP (RFC 7766) or TLS (RFC 7858).
 * @module
 */

import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls'
import type { TlsService } from '../../resolver/contract/feature.ts'
import { contextOptions, HANDSHAKE_MS, isWelcome, serverOptions } from '../keys/tls-service.ts'
import { elapsed } from '../node/elapsed.ts'
import { takeInherited } from '../node/inherited-sockets.ts'
import type { Answer } from './answer.ts'
import { type Connection, type ConnectionLimits, ConnectionTable } from './connection-table.ts'
import { ProxyGate, type ProxyGateOptions } from './proxy-gate.ts'
import { type ConnectionTimes, TcpConnection } from './tcp-connection.ts'

/** Bounds of connections. */
export type TcpLimits = ConnectionLimits &
  ConnectionTimes & {
    /** Milliseconds for a TLS handshake. */
    readonly handshakeMs: number
  }

/** Bounds for a server in a cluster (RFC 9210 §4), with CoreDNS's times. */
export const TCP_LIMITS: TcpLimits = {
  connectionsMax: 5000,
  connectionsPerClientMax: 500,
  pendingMax: 256,
  unreadBytesMax: 16 * 1024,
  handshakeMs: HANDSHAKE_MS,
  readMs: 3000,
  idleMs: 10_000,
  writeMs: 5000,
  queriesMax: Number.POSITIVE_INFINITY,
}

/** A TLS connection takes about 60 KiB, ten times as much as a plain one. */
export const TLS_LIMITS: TcpLimits = { ...TCP_LIMITS, connectionsMax: 2000 }

/** Connections that may wait to be accepted; the default maximum of Linux. */
const BACKLOG = 4096
const SOCKET_OPTIONS = { allowHalfOpen: true, noDelay: true }

/** A listening TCP socket, with or without TLS. */
export class TcpServer {
  private readonly server: Server
  /** Gets the connections of `server` that begin with a PROXY header. */
  private readonly secure: TlsServer | undefined
  private readonly gate: ProxyGate | undefined
  private readonly answer: (socket: Socket) => Answer
  private readonly limits: () => TcpLimits
  private readonly connections: ConnectionTable<Accepted>
  /** TLS handshakes, by both ends: the TLS socket is not the TCP socket that was accepted. */
  private readonly handshakes = new Map<string, Accepted>()
  private closed: Promise<void> | undefined

  /**
   * @param answer returns the function that answers a connection; called for each message
   * @param limits returns the bounds of a connection; called for each new one
   * @param tls for DNS over TLS (RFC 7858)
   * @param proxy reads PROXY headers of connections
   * @throws {Error} when the certificate or key is invalid
   */
  constructor(
    answer: (socket: Socket) => Answer,
    limits: () => TcpLimits = () => TCP_LIMITS,
    tls?: TlsService,
    proxy?: ProxyGateOptions,
  ) {
    this.answer = answer
    this.limits = limits
    this.connections = new ConnectionTable(limits)
    this.secure = tls && this.createSecure(tls)
    this.gate = proxy && new ProxyGate(proxy)
    this.server =
      this.gate === undefined
        ? (this.secure ?? this.createPlain())
        : this.createGated(this.gate, this.secure ?? this.createPlain())
  }

  /** Replaces the certificate. @throws {Error} when the certificate or key is invalid */
  renew(service: TlsService): void {
    this.secure?.setSecureContext(contextOptions(service))
  }

  /**
   * Starts to listen.
   * @param reusePort whether other sockets listen on the same port
   * @returns the port
   * @throws {Error} when the address is in use
   */
  listen(address: string, port: number, reusePort = false): Promise<number> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject)
      const fd = takeInherited('tcp', address, port)
      const options = { host: address, port, ipv6Only: true, reusePort, backlog: BACKLOG }
      this.server.listen(fd === undefined ? options : { fd }, () => {
        this.server.off('error', reject)
        this.server.on('error', () => undefined)
        const bound = this.server.address()
        resolve(typeof bound === 'object' && bound !== null ? bound.port : port)
      })
    })
  }

  /** Stops listening; open connections stay. Resolves when the last one has closed. */
  stopListening(): Promise<void> {
    this.closed ??= new Promise((resolve) => {
      this.server.close(() => {
        resolve()
      })
    })
    return this.closed
  }

  /** Closes the connections that were served, each once its queries are answered. */
  finish(): void {
    for (const { connection } of this.connections.all()) connection?.finish()
  }

  /** Stops listening and closes all connections. */
  close(): Promise<void> {
    const closed = this.stopListening()
    this.gate?.close()
    for (const accepted of this.connections.all()) accepted.destroy()
    return closed
  }

  /** Reads the headers before a server that does not listen itself gets the connections. */
  private createGated(gate: ProxyGate, inner: Server): Server {
    return createServer({ ...SOCKET_OPTIONS, pauseOnConnect: true }, (socket) => {
      gate.take(socket, () => {
        inner.emit('connection', socket)
        if (this.secure === undefined) socket.resume()
      })
    })
  }

  private createPlain(): Server {
    return createServer(SOCKET_OPTIONS, (socket) => {
      const accepted = this.accept(socket)
      if (accepted !== undefined) this.start(socket, accepted, 'tcp')
    })
  }

  private createSecure(tls: TlsService): TlsServer {
    const options = { ...SOCKET_OPTIONS, ...serverOptions(tls), ALPNProtocols: ['dot'] }
    const server = createTlsServer(options, (socket) => {
      const ends = endsOf(socket)
      const accepted = this.handshakes.get(ends)
      this.handshakes.delete(ends)
      if (accepted !== undefined && isWelcome(socket, tls.clientAuth)) {
        this.start(socket, accepted, 'tls')
      } else socket.destroy()
    })
    server.on('connection', (socket: Socket) => {
      const accepted = this.accept(socket)
      if (accepted === undefined) return
      const ends = endsOf(socket)
      this.handshakes.set(ends, accepted)
      const deadline = setTimeout(() => {
        if (accepted.connection === undefined) socket.destroy()
      }, this.limits().handshakeMs)
      socket.on('close', () => {
        clearTimeout(deadline)
        if (this.handshakes.get(ends) === accepted) this.handshakes.delete(ends)
      })
    })
    // Node reports a failed handshake, but may leave the socket open.
    server.on('tlsClientError', (_, socket) => {
      socket.destroy()
    })
    return server
  }

  private start(socket: Socket, accepted: Accepted, transport: 'tcp' | 'tls'): void {
    const { connections } = this
    const answer = (): Answer => this.answer(socket)
    const onChange = (): void => connections.changed(accepted)
    const service = { answer, limits: this.limits(), transport, onChange }
    accepted.connection = new TcpConnection(socket, service)
  }

  /** Adds a connection to the table, or closes it when there is no room. */
  private accept(socket: Socket): Accepted | undefined {
    const accepted = new Accepted(socket)
    const { remoteAddress } = socket
    // A socket whose client has already disconnected has no address.
    if (remoteAddress === undefined || !this.connections.add(remoteAddress, accepted)) {
      socket.destroy()
      return undefined
    }
    socket.on('close', () => this.connections.remove(accepted))
    return accepted
  }
}

/** An accepted connection, with or without a completed handshake. */
class Accepted implements Connection {
  connection: TcpConnection | undefined
  private readonly socket: Socket
  private readonly sinceMs = elapsed()

  constructor(socket: Socket) {
    this.socket = socket
  }

  get idleSinceMs(): number {
    return this.connection?.idleSinceMs ?? this.sinceMs
  }

  get hasServed(): boolean {
    return this.connection?.hasServed ?? false
  }

  destroy(): void {
    this.socket.destroy()
  }
}

/** Returns a key that is unique among open connections. */
function endsOf({ remoteAddress, remotePort, remoteFamily, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${remoteFamily} ${localAddress}`
}
