/**
 * The sockets of one listener, on each of its addresses: UDP and TCP, or streams alone.
 * @module
 */
import type { TlsService } from '../plugins/plugin.ts'
import type { Listener } from '../resolver/listener.ts'
import { localAddresses, resolveBind } from './local-addresses.ts'
import { type Answer, UdpServer } from './udp-server.ts'

/** How often to look for addresses that the machine got since. */
const RESCAN_MS = 5000
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
  /** Makes what answers at one more address. */
  readonly create: () => StreamServer
  /** Whether it answers over UDP as well. */
  readonly hasUdp: boolean
}

/** Open sockets. */
export class Sockets {
  private readonly udp = new Map<string, UdpServer>()
  private readonly streams: Streams
  private readonly opened: StreamServer[] = []
  private readonly answer: () => Answer
  private readonly sharesPort: boolean
  private rescan: NodeJS.Timeout | undefined
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
  async open({ addresses: words, except, port }: Listener): Promise<void> {
    this.port = port
    const { addresses, unknown } = resolveBind(words, except)
    if (unknown.length > 0) {
      throw new ListenError(
        `"${unknown[0]}" is neither an address nor an interface of this machine`,
      )
    }
    try {
      const { hasUdp } = this.streams
      for (const address of words.length > 0 ? addresses : ALL_ADDRESSES) {
        await this.openStream(address)
        if (words.length > 0 && hasUdp) await this.openUdp(address)
      }
      if (words.length > 0 || !hasUdp) return
      for (const address of this.newAddresses()) await this.openUdp(address, EVERY_ADDRESS)
      this.rescan = setInterval(() => {
        // An address that cannot be had is tried again next time, and keeps no other from use.
        for (const address of this.newAddresses()) {
          void this.openUdp(address, EVERY_ADDRESS).catch(() => undefined)
        }
      }, RESCAN_MS)
      this.rescan.unref()
    } catch (error) {
      await this.close()
      throw error
    }
  }

  /** Shows another certificate from now on. @throws {Error} when it and its key are not good */
  renew(service: TlsService): void {
    for (const server of this.opened) server.renew?.(service)
  }

  /** Closes all sockets. */
  async close(): Promise<void> {
    clearInterval(this.rescan)
    await Promise.all([...this.udp.values(), ...this.opened].map((server) => server.close()))
  }

  private newAddresses(): string[] {
    return localAddresses().filter((address) => !this.udp.has(address))
  }

  private async openUdp(address: string, knownAs = address): Promise<void> {
    const { answer, sharesPort } = this
    const server = new UdpServer(address, answer, { knownAs, sharesPort })
    await this.tryListen(server, address, 'UDP', () => {
      this.udp.set(address, server)
    })
  }

  private async openStream(address: string): Promise<void> {
    const { name, create } = this.streams
    const server = create()
    await this.tryListen(server, address, name, () => {
      this.opened.push(server)
    })
  }

  private async tryListen(
    server: Pick<StreamServer, 'listen'>,
    address: string,
    protocol: string,
    keep: () => void,
  ): Promise<void> {
    try {
      this.port = await server.listen(address, this.port, this.sharesPort)
      keep()
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : ''
      if (HARMLESS.has(code)) return
      throw new ListenError(listenMessage(code, `${protocol} ${address}:${this.port}`), {
        cause: error,
      })
    }
  }
}

function listenMessage(code: string, where: string): string {
  if (code === 'EADDRINUSE') return `Cannot listen on ${where}: another process does already`
  if (code === 'EACCES') {
    return `Cannot listen on ${where}: ports under 1024 need root or CAP_NET_BIND_SERVICE`
  }
  return `Cannot listen on ${where}: ${code === '' ? 'unknown error' : code}`
}
