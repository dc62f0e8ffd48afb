/**
 * A listener of DNS over TLS (RFC 7858) at one address or at all of them, apart from the server
 * blocks of a Corefile.
 * @module
 */
import type { Socket } from 'node:net'
import { sleep } from '../../cluster/api/backoff.ts'
import { errorCode } from '../../dns/bytes/unknown.ts'
import type { TlsService } from '../../resolver/contract/feature.ts'
import type { Answer } from './answer.ts'
import type { ProxyGateOptions } from './proxy-gate.ts'
import { TcpServer, TLS_LIMITS } from './tcp-server.ts'

/** Interval at which a listener that drains looks for connections to close. */
const DRAIN_POLL_MS = 100
const ALL_ADDRESSES = ['0.0.0.0', '::']
/** The machine lacks an address family. */
const MISSING_FAMILY: ReadonlySet<string> = new Set(['EAFNOSUPPORT', 'EADDRNOTAVAIL'])

/** A listener of DNS over TLS. */
export class TlsListener {
  private readonly create: () => TcpServer
  private tls: TlsService
  private servers: readonly TcpServer[] = []

  /**
   * @param answer returns the function that answers a connection; called for each message
   * @param proxy reads PROXY headers of connections; none when left out
   */
  constructor(answer: (socket: Socket) => Answer, tls: TlsService, proxy?: ProxyGateOptions) {
    this.tls = tls
    this.create = () => new TcpServer(answer, () => TLS_LIMITS, this.tls, proxy)
  }

  /**
   * Starts to listen.
   * @param host an address or a name; all addresses when `undefined`
   * @returns the port
   * @throws {Error} when the address is in use, or the certificate or key is invalid
   */
  async listen(host: string | undefined, port: number): Promise<number> {
    let bound = port
    for (const address of host === undefined ? ALL_ADDRESSES : [host]) {
      const server = this.create()
      try {
        bound = await server.listen(address, bound)
        this.servers = [...this.servers, server]
      } catch (error) {
        const isOther = this.servers.length > 0 && MISSING_FAMILY.has(errorCode(error))
        if (isOther) continue
        await this.close()
        throw error
      }
    }
    return bound
  }

  /** Presents another certificate on new connections. @throws {Error} for an invalid one */
  renew(tls: TlsService): void {
    for (const server of this.servers) server.renew(tls)
    this.tls = tls
  }

  /**
   * Stops listening, and closes each connection once its queries are answered. Resolves when the
   * last one has closed, or after `limitMs`.
   */
  async drain(limitMs: number): Promise<void> {
    const polls = setInterval(() => {
      for (const server of this.servers) server.finish()
    }, DRAIN_POLL_MS)
    const limit = new AbortController()
    const ended = Promise.all(this.servers.map((server) => server.stopListening()))
    await Promise.race([ended, sleep(limitMs, limit.signal)])
    limit.abort()
    clearInterval(polls)
  }

  /** Stops listening and closes all connections. */
  async close(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.close()))
  }
}
