/**
 * The sockets of one listener, on each of its addresses: UDP and TCP, or streams alone.
 * @module
 */

import { errorCode } from '../bytes/unknown.ts'
import type { TlsService } from '../chain/feature.ts'
import type { Listener } from '../chain/listener.ts'
import { localAddresses, resolveBind } from '../node/local-addresses.ts'
import { listenMessage } from '../node/output.ts'
import { type Answer, UdpServer } from './udp-server.ts'

/** How often to compare the machine's addresses with the open sockets: 0.1 ms of work each time. */
const RESCAN_MS = 1000
const ALL_ADDRESSES = ['0.0.0.0', '::']
/** What CoreDNS's one UDP socket for all addresses says that its address is. */
const EVERY_ADDRESS = '::'
/** The machine has no such address family, or lost the address: no reason to give up. */
const HARMLESS: ReadonlySet<string> = new Set(['EAFNOSUPPORT', 'EADDRNOTAVAIL'])

/** A port and addresses that cannot be listened on. */
export class ListenError extends Error {
  override readonly name = 'ListenError'
}

/** What answers over streams at one address. */
export type StreamServer = {
  /**
   * Begins to listen; `::` stands for addresses of IPv6 alone.
   * @param reusePort whether other processes listen there as well
   * @returns the port
   */
  readonly listen: (address: string, port: number, reusePort: boolean) => Promise<number>
  /** Shows another certificate from now on, where it shows one. */
  readonly renew?: (service: TlsService) => void
  readonly close: () => Promise<void>
}

/** How a listener answers over streams. */
export type Streams = {
  /** `TCP`, `TLS` or `HTTPS`, for messages. */
  readonly name: string
  /** Creates the server for another address. */
  readonly create: () => StreamServer
  /** Whether it answers over UDP as well. */
  readonly hasUdp: boolean
}

/** Open sockets, which follow the machine's addresses. */
export class Sockets {
  private readonly udp = new Map<string, UdpServer>()
  private readonly opened = new Map<string, StreamServer>()
  private readonly streams: Streams
  private readonly answer: () => Answer
  private readonly sharesPort: boolean
  private words: readonly string[] = []
  private except: readonly string[] = []
  private service: TlsService | undefined
  private rescan: NodeJS.Timeout | undefined
  private isFollowing = false
  private isClosed = false
  /** The port, which the system chose when 0 was asked for. */
  port = 0

  /**
   * @param answer gives the function to answer with over UDP at the time of each message
   * @param sharesPort whether other processes have the same
   */
  constructor(answer: () => Answer, streams: Streams, sharesPort = false) {
    this.answer = answer
    this.streams = streams
    this.sharesPort = sharesPort
  }

  /** Opens the sockets. @throws {ListenError} that says which address cannot be had, and why */
  async open({ addresses, except, port }: Listener): Promise<void> {
    this.port = port
    this.words = addresses
    this.except = except
    try {
      for (const address of this.streamAddresses()) await this.openStream(address)
      for (const address of this.udpAddresses()) await this.openUdp(address)
    } catch (error) {
      await this.close()
      throw error
    }
    this.rescan = setInterval(() => void this.follow(), RESCAN_MS)
    this.rescan.unref()
  }

  /** Shows another certificate from now on. @throws {Error} when it and its key are not good */
  renew(service: TlsService): void {
    for (const server of this.opened.values()) server.renew?.(service)
    this.service = service
  }

  /** Closes all sockets. */
  async close(): Promise<void> {
    this.isClosed = true
    clearInterval(this.rescan)
    const servers = [...this.udp.values(), ...this.opened.values()]
    await Promise.all(servers.map((server) => server.close()))
  }

  /** Closes the sockets of addresses that the machine lost, and opens those it got. */
  private async follow(): Promise<void> {
    if (this.isFollowing) return
    this.isFollowing = true
    const [udp, streams] = [this.udpAddresses(), this.streamAddresses()]
    // A failed address is tried again next time, and does not keep the others from being opened.
    await Promise.allSettled([
      ...closeOthers(this.udp, udp),
      ...closeOthers(this.opened, streams),
      ...udp.filter((one) => !this.udp.has(one)).map((one) => this.openUdp(one)),
      ...streams.filter((one) => !this.opened.has(one)).map((one) => this.openStream(one)),
    ])
    this.isFollowing = false
  }

  private streamAddresses(): readonly string[] {
    return this.words.length > 0 ? resolveBind(this.words, this.except) : ALL_ADDRESSES
  }

  private udpAddresses(): readonly string[] {
    if (!this.streams.hasUdp) return []
    return this.words.length > 0 ? this.streamAddresses() : localAddresses()
  }

  private async openUdp(address: string): Promise<void> {
    const knownAs = this.words.length > 0 ? address : EVERY_ADDRESS
    const { answer, sharesPort } = this
    const server = new UdpServer(address, answer, { knownAs, sharesPort })
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
