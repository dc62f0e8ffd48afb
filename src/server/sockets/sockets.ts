/**
 * The sockets of one listener on each of its addresses: UDP and TCP, or streams only.
 * @module
 */

import { errorCode } from '../../dns/bytes/unknown.ts'
import type { Listener } from '../../resolver/chain/listener.ts'
import type { TlsService } from '../../resolver/contract/feature.ts'
import { localAddresses, resolveBind } from '../node/local-addresses.ts'
import { listenMessage } from '../node/output.ts'
import type { UdpAnswers } from './answer.ts'
import { CatchAll } from './catch-all.ts'
import { type UdpOptions, UdpServer } from './udp-server.ts'

/** Interval of comparing the machine's addresses with the open sockets, which takes 0.1 ms. */
const RESCAN_MS = 1000
const ALL_ADDRESSES = ['0.0.0.0', '::']
/** The local address that CoreDNS's single UDP socket for all addresses reports. */
const EVERY_ADDRESS = '::'
/** Errors to ignore: the machine lacks the address family, or has lost the address. */
const HARMLESS: ReadonlySet<string> = new Set(['EAFNOSUPPORT', 'EADDRNOTAVAIL'])

/** An address or port that the server cannot listen on. */
export class ListenError extends Error {
  override readonly name = 'ListenError'
}

/** A server for streams at one address. */
export type StreamServer = {
  /**
   * Starts to listen; `::` means IPv6 addresses only.
   * @param reusePort whether other sockets listen on the same port
   * @returns the port
   */
  readonly listen: (address: string, port: number, reusePort: boolean) => Promise<number>
  /** Replaces the certificate, if the server uses TLS. */
  readonly renew?: (service: TlsService) => void
  /** Accepts no more connections; open ones stay until `close`. */
  readonly stopListening: () => Promise<void>
  readonly close: () => Promise<void>
}

/** What other sockets have at the same port. */
export type Neighbours = {
  /** Whether others listen on the same port: threads, processes, or listeners of this server. */
  readonly sharesPort?: boolean
  /** Returns addresses that other listeners serve, which a listener for all leaves to them. */
  readonly taken?: () => readonly string[]
}

/** How a listener serves streams. */
export type Streams = {
  /** `TCP`, `TLS` or `HTTPS`, for messages. */
  readonly name: string
  /** Creates the server for another address. */
  readonly create: () => StreamServer
  /** Whether the listener also answers over UDP. */
  readonly hasUdp: boolean
}

/** Open sockets, updated when the machine's addresses change. */
export class Sockets {
  private readonly udp = new Map<string, UdpServer>()
  private readonly opened = new Map<string, StreamServer>()
  private catchAll: CatchAll | undefined
  private readonly streams: Streams
  private readonly answers: UdpAnswers
  private readonly options: Pick<UdpOptions, 'queue' | 'onUnsent'>
  private readonly taken: () => readonly string[]
  readonly sharesPort: boolean
  private addresses: readonly string[] = []
  private except: readonly string[] = []
  private service: TlsService | undefined
  private rescan: NodeJS.Timeout | undefined
  private isFollowing = false
  private isClosed = false
  /** The port; the system chooses it when the listener's port is 0. */
  port = 0

  /** @param answers how it answers over UDP */
  constructor(
    answers: UdpAnswers,
    streams: Streams,
    {
      sharesPort = false,
      taken = () => [],
      ...options
    }: Neighbours & Pick<UdpOptions, 'queue' | 'onUnsent'> = {},
  ) {
    this.answers = answers
    this.options = options
    this.streams = streams
    this.sharesPort = sharesPort
    this.taken = taken
  }

  /** Opens the sockets. @throws {ListenError} when it cannot listen on one of the addresses */
  async open({ addresses, except, port }: Listener): Promise<void> {
    this.port = port
    this.addresses = addresses
    this.except = except
    try {
      for (const address of this.streamAddresses()) await this.openStream(address)
      if (this.streams.hasUdp && addresses.length === 0) {
        this.catchAll = CatchAll.open(this.port, this.sharesPort, this.answers)
      }
      for (const address of this.udpAddresses()) await this.openUdp(address)
    } catch (error) {
      await this.close()
      throw error
    }
    this.rescan = setInterval(() => void this.updateAddresses(), RESCAN_MS)
    this.rescan.unref()
  }

  /** Replaces the certificate. @throws {Error} when the certificate or key is invalid */
  renew(service: TlsService): void {
    for (const server of this.opened.values()) server.renew?.(service)
    this.service = service
  }

  /** Accepts no more connections. Open ones, and UDP, are served until `close`. */
  stopListening(): void {
    clearInterval(this.rescan)
    for (const server of this.opened.values()) void server.stopListening()
  }

  /** Leaves new queries over UDP to another process at the same port. */
  handOver(): void {
    this.catchAll?.close()
    for (const server of this.udp.values()) server.handOver()
  }

  /** Closes all sockets. */
  async close(): Promise<void> {
    this.isClosed = true
    clearInterval(this.rescan)
    this.catchAll?.close()
    const servers = [...this.udp.values(), ...this.opened.values()]
    await Promise.all(servers.map((server) => server.close()))
  }

  /** Closes the sockets of addresses that the machine has lost, and opens those of new ones. */
  async updateAddresses(): Promise<void> {
    if (this.isFollowing) return
    const wanted = this.findAddresses()
    if (wanted === undefined) return
    this.isFollowing = true
    const { udp, streams } = wanted
    // `allSettled`: one failed address must not block the others; the next rescan retries it.
    await Promise.allSettled([
      ...closeOthers(this.udp, udp),
      ...closeOthers(this.opened, streams),
      ...udp.filter((one) => !this.udp.has(one)).map((one) => this.openUdp(one)),
      ...streams.filter((one) => !this.opened.has(one)).map((one) => this.openStream(one)),
    ])
    this.isFollowing = false
  }

  /** Returns the addresses to listen on now; `undefined` when the machine cannot list its own. */
  private findAddresses(): Record<'udp' | 'streams', readonly string[]> | undefined {
    try {
      return { udp: this.udpAddresses(), streams: this.streamAddresses() }
    } catch {
      // Listing them takes a descriptor, and none may be free.
      return undefined
    }
  }

  private streamAddresses(): readonly string[] {
    return this.addresses.length > 0 ? resolveBind(this.addresses, this.except) : ALL_ADDRESSES
  }

  private udpAddresses(): readonly string[] {
    if (!this.streams.hasUdp) return []
    if (this.addresses.length > 0) return this.streamAddresses()
    // The kernel would share queries among the sockets of one address.
    const taken = this.taken()
    return localAddresses().filter((address) => !taken.includes(address))
  }

  private async openUdp(address: string): Promise<void> {
    const knownAs = this.addresses.length > 0 ? address : EVERY_ADDRESS
    const { answers, options, sharesPort } = this
    const isBesideCatchAll = this.catchAll !== undefined && !sharesPort
    const server = new UdpServer(address, answers, {
      ...options,
      knownAs,
      sharesPort,
      isBesideCatchAll,
    })
    await this.tryListen(server, address, 'UDP', () => this.udp.set(address, server))
  }

  private async openStream(address: string): Promise<void> {
    const { name, create } = this.streams
    const server = create()
    if (this.service !== undefined) server.renew?.(this.service)
    await this.tryListen(server, address, name, () => this.opened.set(address, server))
  }

  private async tryListen(
    server: Pick<StreamServer, 'listen' | 'close'>,
    address: string,
    protocol: string,
    keep: () => void,
  ): Promise<void> {
    try {
      this.port = await server.listen(address, this.port, this.sharesPort)
    } catch (error) {
      if (HARMLESS.has(errorCode(error))) return
      const where = `${protocol} ${address}:${this.port}`
      throw new ListenError(listenMessage(error, where), { cause: error })
    }
    if (this.isClosed) await server.close()
    else keep()
  }
}

function closeOthers(
  servers: Map<string, Pick<StreamServer, 'close'>>,
  wanted: readonly string[],
): Promise<void>[] {
  return [...servers].flatMap(([address, server]) => {
    if (wanted.includes(address)) return []
    servers.delete(address)
    return [server.close()]
  })
}
