/**
 * One connection to a server for requests over HTTP/2, over TLS or, for gRPC, over plain TCP.
 * @module
 */

import {
  type ClientHttp2Session,
  connect as connectHttp2,
  type IncomingHttpHeaders,
} from 'node:http2'
import { connect as connectPlain, type Socket } from 'node:net'
import { type ConnectionOptions, connect, TLSSocket } from 'node:tls'
import { MESSAGE_BYTES_MAX } from '../../dns/names/limits.ts'
import { GRPC_BYTES_MAX } from '../../dns/wire/grpc-message.ts'
import type { DohRequest } from '../../gateway/doh/doh-client.ts'
import { readResponse } from './http-response.ts'

/** The names of fields after a body that belong to its response, in gRPC. */
const TRAILERS = ['grpc-status', 'grpc-message']

/** The server's address, and options of connections. */
export type HttpsServer = {
  readonly address: string
  readonly port: number
  /** Absent for plain TCP. */
  readonly tls: ConnectionOptions | undefined
  /** Whether a server without HTTP/2 is of no use; not by default. */
  readonly onlyHttp2?: boolean
  readonly expireMs: number
  readonly idleMax: number
  readonly sourceAddress: string | undefined
}

/** Time to connect: clients of DNS have given up after five seconds. */
const CONNECT_MS = 5000
/** Time that a retired connection has for its last responses. */
const DRAIN_MS = 5000

/** A connection from its start on. A request that gives up leaves it to the others. */
export class Http2Client {
  readonly openedMs: number = performance.now()
  /** When it received its last response. */
  answeredMs: number | undefined
  private readonly socket: Socket
  private readonly bodyBytesMax: number
  private readonly ready: Promise<boolean>
  private session: ClientHttp2Session | undefined
  private isRetired = false

  constructor(server: HttpsServer) {
    const { address: host, port, tls, sourceAddress, expireMs, onlyHttp2 } = server
    this.bodyBytesMax = onlyHttp2 === true ? GRPC_BYTES_MAX : MESSAGE_BYTES_MAX
    const local = sourceAddress === undefined ? {} : { localAddress: sourceAddress }
    const ALPNProtocols = onlyHttp2 ? ['h2'] : ['h2', 'http/1.1']
    this.socket =
      tls === undefined
        ? connectPlain({ host, port, noDelay: true, ...local })
        : connect({ host, port, ...local, ...tls, ALPNProtocols })
    this.ready = this.negotiate(expireMs)
    this.ready.catch(() => undefined)
  }

  /** Whether it takes no further requests. */
  get isOver(): boolean {
    const { session, socket } = this
    return this.isRetired || socket.destroyed || (session?.closed ?? false)
  }

  /**
   * Resolves when requests can be sent, with whether the server supports HTTP/2 (RFC 7301).
   * @throws {Error} if the connection fails, or the signal comes first
   */
  isReady(signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const abort = (): void => reject(new Error('aborted'))
      if (signal.aborted) abort()
      signal.addEventListener('abort', abort, { once: true })
      this.ready.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
    })
  }

  /** Accepts no further requests, and closes after the last response. */
  retire(): void {
    if (this.isRetired) return
    this.isRetired = true
    // The peer of a dead connection never confirms its end.
    setTimeout(() => this.socket.destroy(), DRAIN_MS).unref()
    // Requests that wait for the connection are sent first, in promises.
    const close = (): void => this.session?.close()
    this.ready.then(
      () => setImmediate(close),
      () => undefined,
    )
  }

  /** Sends a request when the connection is ready. @throws {Error} with the reason */
  fetch(target: URL, { method, headers, body, signal }: DohRequest): Promise<Response> {
    const { session } = this
    if (session === undefined) throw new TypeError('The connection must be ready')
    return new Promise((resolve, reject) => {
      const stream = session.request(
        {
          ':method': method,
          ':scheme': target.protocol.slice(0, -1),
          ':authority': target.host,
          ':path': `${target.pathname}${target.search}`,
          ...headers,
          // A server may answer a body of a known length with less work, as our gateway does.
          ...(body && { 'content-length': body.length }),
        },
        { signal, endStream: false },
      )
      stream.once('error', reject)
      let trailers: IncomingHttpHeaders = {}
      stream.once('trailers', (fields) => {
        trailers = fields
      })
      stream.once('response', (found) => {
        this.answeredMs = performance.now()
        const { ':status': status = 0, 'content-type': type, age } = found
        const settle = (response: Response): void => {
          for (const name of TRAILERS) {
            const value = trailers[name] ?? found[name]
            if (typeof value === 'string') response.headers.set(name, value)
          }
          // A lost connection ends the stream without an error.
          if (stream.rstCode === undefined || stream.rstCode === 0) resolve(response)
          else reject(new Error('the response broke off'))
        }
        readResponse({ status, type, age }, stream, this.bodyBytesMax).then(settle, reject)
      })
      stream.end(body)
    })
  }

  /** Negotiates the protocol; resolves with whether it is HTTP/2. */
  private async negotiate(expireMs: number): Promise<boolean> {
    const { socket } = this
    const timer = setTimeout(() => {
      socket.destroy(new Error('no connection over HTTP/2 in time'))
    }, CONNECT_MS)
    try {
      await new Promise((resolve, reject) => {
        socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', resolve)
        socket.once('error', reject)
        socket.once('close', () => reject(new Error('the upstream closed the connection')))
      })
    } finally {
      clearTimeout(timer)
    }
    if (socket instanceof TLSSocket && socket.alpnProtocol !== 'h2') {
      socket.destroy()
      return false
    }
    const session = connectHttp2('http://upstream', { createConnection: () => socket })
    session.on('error', () => undefined)
    session.setTimeout(expireMs, () => {
      session.close()
    })
    this.session = session
    return true
  }
}
