/**
 * Answers over TCP (RFC 7766): many queries on a connection, answered as each is ready.
 * @module
 */

import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, Server as TlsServer } from 'node:tls'
import type { TlsService } from '../chain/feature.ts'
import { elapsed } from '../node/elapsed.ts'
import { contextOptions, isWelcome, serverOptions } from '../node/tls-service.ts'
import { type Connection, type ConnectionLimits, ConnectionTable } from './connection-table.ts'
import { HANDSHAKE_MS } from './served-socket.ts'
import { type ConnectionTimes, TcpConnection } from './tcp-connection.ts'
import type { Answer } from './udp-server.ts'

/** Bounds of connections. */
export type TcpLimits = ConnectionLimits &
  ConnectionTimes & {
    /** How long a TLS handshake may take. */
    readonly handshakeMs: number
  }

/** Bounds that suit a server in a cluster (RFC 9210 §4), and times that CoreDNS has. */
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

/** A TLS connection takes some 60 KiB, ten times as much as one without. */
export const TLS_LIMITS: TcpLimits = { ...TCP_LIMITS, connectionsMax: 2000 }

/** Connections that the system may hold for us while we are busy; Linux allows 4096. */
const BACKLOG = 4096
const SOCKET_OPTIONS = { allowHalfOpen: true, noDelay: true }

/** A TCP socket that answers, as it is or over TLS. */
export class TcpServer {
  private readonly server: Server
  private readonly answer: () => Answer
  private readonly limits: () => TcpLimits
  private readonly connections: ConnectionTable<Accepted>
  /** TLS connections in their handshake, by both ends: the socket that comes out is another. */
  private readonly handshakes = new Map<string, Accepted>()

  /**
   * @param answer gives the function to answer with at the time of each message
   * @param limits gives the bounds of a connection at the time when it is made
   * @param tls for DNS over TLS (RFC 7858)
   * @throws {Error} when certificate and key are not good
   */
  constructor(answer: () => Answer, limits: () => TcpLimits = () => TCP_LIMITS, tls?: TlsService) {
    this.answer = answer
    this.limits = limits
    this.connections = new ConnectionTable(limits)
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
      const options = { host: address, port, ipv6Only: true, reusePort, backlog: BACKLOG }
      this.server.listen(options, () => {
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
      for (const accepted of this.connections.all()) accepted.destroy()
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
    // Node reports a handshake that failed, and may leave the socket open.
    server.on('tlsClientError', (_, socket) => {
      socket.destroy()
    })
    return server
  }

  private start(socket: Socket, accepted: Accepted, transport: 'tcp' | 'tls'): void {
    const { answer, connections } = this
    const onChange = (): void => connections.changed(accepted)
    const service = { answer, limits: this.limits(), transport, onChange }
    accepted.connection = new TcpConnection(socket, service)
  }

  /** Counts a connection, or ends it when there are too many and none is idle. */
  private accept(socket: Socket): Accepted | undefined {
    const accepted = new Accepted(socket)
    const { remoteAddress } = socket
    // A client that is gone already has no address.
    if (remoteAddress === undefined || !this.connections.add(remoteAddress, accepted)) {
      socket.destroy()
      return undefined
    }
    socket.on('close', () => this.connections.remove(accepted))
    return accepted
  }
}

/** A connection that is counted; its handshake, if any, comes first. */
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

/** Identifies a connection among those open at the same time. */
function endsOf({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`
}
