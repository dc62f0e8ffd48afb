/**
 * HTTPS for the apps of this project on Bun, over its own sockets, which take half of what those of
 * Node's module take there: HTTP/2 is ours, HTTP/1.1 Node's module's. Without certificates of
 * clients.
 * @module
 */
import { createSecureContext } from 'node:tls'
import type { TlsService } from '../chain/plugin.ts'
import { contextOptions } from '../node/tls-service.ts'
import { BunSocket, BunStream, type RawSocket, type SocketListener } from './bun-socket.ts'
import type { App, Direct } from './http-request.ts'
import { HttpServer } from './http-server.ts'

/** TLS 1.2 as it is on the wire (RFC 5246 §6.2.1). */
const TLS_1_2 = 0x303
/** What may be spoken, each with its length before it (RFC 7301 §3.1). */
const PROTOCOLS = '\x02h2\x08http/1.1'

/** What this module uses of Bun (https://bun.com/reference/bun/listen). */
export type BunListen = { readonly listen: (options: BunListenOptions) => BunListening }

type BunListenOptions = {
  readonly hostname: string
  readonly port: number
  readonly tls: {
    readonly cert: string
    readonly key: string
    readonly minVersion: number
    readonly ALPNProtocols: Uint8Array
  }
  readonly socket: {
    readonly open: (socket: ServedSocket) => void
    readonly handshake: (socket: ServedSocket, isSecure: boolean) => void
    readonly data: (socket: ServedSocket, chunk: Uint8Array) => void
    readonly drain: (socket: ServedSocket) => void
    readonly end: (socket: ServedSocket) => void
    readonly close: (socket: ServedSocket) => void
    readonly error: (socket: ServedSocket) => void
  }
}

type BunListening = {
  readonly port: number
  readonly stop: (closesConnections: boolean) => void
}

/** A socket; `data` is ours. */
type ServedSocket = RawSocket & { data: Served | undefined }

/** What is known of a socket, whose listener comes with its handshake. */
type Served = {
  readonly socket: BunSocket
  /** Reports its end to those who count connections. */
  readonly release: () => void
  listener: SocketListener | undefined
}

/** A server for one app. */
export class BunTlsServer {
  private readonly bun: BunListen
  private tls: TlsService
  private readonly http: HttpServer
  private listening: BunListening | undefined
  private host: string | undefined

  /**
   * @param options `direct` answers common requests in place of the app
   * @throws {Error} when certificate and key are not good
   */
  constructor(
    bun: BunListen,
    app: App,
    { tls, direct }: { readonly tls: TlsService; readonly direct: Direct },
  ) {
    createSecureContext(contextOptions(tls))
    this.bun = bun
    this.tls = tls
    this.http = new HttpServer(app, { direct })
  }

  /**
   * Begins to listen. Resolves with the port.
   * @throws {Error} when the address is taken
   */
  async listen(host: string | undefined, port: number): Promise<number> {
    this.host = host
    return this.bind(port)
  }

  private bind(port: number): number {
    const { bun, tls, host } = this
    const { cert, key } = tls
    const options = {
      port,
      tls: { cert, key, minVersion: TLS_1_2, ALPNProtocols: Buffer.from(PROTOCOLS) },
      socket: {
        open: (socket: ServedSocket) => this.open(socket),
        handshake: (socket: ServedSocket, isSecure: boolean) => this.begin(socket, isSecure),
        data: ({ data }: ServedSocket, chunk: Uint8Array) => data?.listener?.received(chunk),
        drain: ({ data }: ServedSocket) => {
          if (data?.socket.flush() === true) data.listener?.drained()
        },
        end: ({ data }: ServedSocket) => data?.listener?.ended(),
        close: (socket: ServedSocket) => this.forget(socket),
        error: (socket: ServedSocket) => void socket.terminate(),
      },
    }
    this.listening = listenAt(bun, host, options)
    return this.listening.port
  }

  /**
   * Shows another certificate from now on. Bun cannot change it while it listens, so that the port
   * is closed and opened; open connections go on.
   * @throws {Error} when it and its key are not good, or another process took the port meanwhile
   */
  renew(tls: TlsService): void {
    createSecureContext(contextOptions(tls))
    this.tls = tls
    if (this.listening === undefined) return
    const { port } = this.listening
    this.listening.stop(false)
    this.bind(port)
  }

  /** Takes no more requests, and ends the connections there are. */
  async close(): Promise<void> {
    this.listening?.stop(false)
    await this.http.close()
    this.listening?.stop(true)
  }

  private open(raw: ServedSocket): void {
    const socket = new BunSocket(raw)
    raw.data = { socket, release: this.http.open(socket, true), listener: undefined }
  }

  /** Serves a socket by what its client speaks. */
  private begin(raw: ServedSocket, isSecure: boolean): void {
    const { data } = raw
    if (data === undefined || !isSecure) {
      raw.terminate()
      return
    }
    const { socket } = data
    if (raw.alpnProtocol === 'h2') {
      data.listener = this.http.serveHttp2(socket)
      return
    }
    const stream = new BunStream(socket)
    data.listener = stream.listener()
    this.http.serveHttp1(stream)
  }

  private forget(socket: ServedSocket): void {
    const { data } = socket
    if (data === undefined) return
    socket.data = undefined
    data.release()
    data.listener?.closed()
  }
}

/** Without a host, all addresses: of IPv6 as well, where there is that. */
function listenAt(
  bun: BunListen,
  host: string | undefined,
  options: Omit<BunListenOptions, 'hostname'>,
): BunListening {
  if (host !== undefined) return bun.listen({ ...options, hostname: host })
  try {
    return bun.listen({ ...options, hostname: '::' })
  } catch {
    return bun.listen({ ...options, hostname: '0.0.0.0' })
  }
}
