/**
 * The sockets of one listener: UDP and TCP on each of its addresses.
 * @module
 */
import type { ConnectionBounds } from '../plugins/plugin.ts'
import type { Listener } from '../resolver/listener.ts'
import { localAddresses, resolveBind } from './local-addresses.ts'
import { TCP_LIMITS, TcpServer } from './tcp-server.ts'
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

/** Open sockets. */
export class Sockets {
  private readonly udp = new Map<string, UdpServer>()
  private readonly tcp: TcpServer[] = []
  private readonly answer: () => Answer
  private readonly bounds: () => ConnectionBounds
  private rescan: NodeJS.Timeout | undefined
  /** The port, which the system chose when 0 was asked for. */
  port = 0

  /**
   * @param answer gives the function to answer with at the time of each message
   * @param bounds gives those of a connection at the time when it is made
   */
  constructor(answer: () => Answer, bounds: () => ConnectionBounds = () => ({})) {
    this.answer = answer
    this.bounds = bounds
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
      if (words.length > 0) {
        for (const address of addresses) await this.openBoth(address)
        return
      }
      for (const address of ALL_ADDRESSES) await this.openTcp(address)
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

  /** Closes all sockets. */
  async close(): Promise<void> {
    clearInterval(this.rescan)
    await Promise.all([...this.udp.values(), ...this.tcp].map((server) => server.close()))
  }

  private async openBoth(address: string): Promise<void> {
    await this.openTcp(address)
    await this.openUdp(address)
  }

  private newAddresses(): string[] {
    return localAddresses().filter((address) => !this.udp.has(address))
  }

  private async openUdp(address: string, knownAs = address): Promise<void> {
    const server = new UdpServer(address, this.answer, knownAs)
    await this.tryListen(server, address, 'UDP', () => {
      this.udp.set(address, server)
    })
  }

  private async openTcp(address: string): Promise<void> {
    const server = new TcpServer(this.answer, () => ({ ...TCP_LIMITS, ...this.bounds() }))
    await this.tryListen(server, address, 'TCP', () => {
      this.tcp.push(server)
    })
  }

  private async tryListen(
    server: UdpServer | TcpServer,
    address: string,
    protocol: string,
    keep: () => void,
  ): Promise<void> {
    try {
      this.port = await server.listen(address, this.port)
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
