/**
 * HTTP for the apps of this project on Node: the only place that knows the adapter.
 * @module
 */
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { createSecureServer, type Http2SecureServer, type Http2Session } from 'node:http2'
import { TLSSocket } from 'node:tls'
import { getRequestListener } from '@hono/node-server'
import type { Hono } from 'hono'

const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 15_000
const CONNECTIONS_MAX = 2000

/** Streams of one HTTP/2 connection at a time. */
const STREAMS_MAX = 250

/** What TLS needs, as PEM text. */
export type TlsFiles = {
  readonly cert: string
  readonly key: string
  /** Authorities of clients' certificates; `undefined`: none is asked for. */
  readonly clientCa: string | undefined
}

/** An HTTP server for one app: HTTP/1.1, and with TLS HTTP/2 as well. */
export class HttpServer {
  private readonly server: Server | Http2SecureServer
  private readonly sessions = new Set<Http2Session>()

  /** @throws {Error} when certificate and key are not good */
  constructor(app: Hono, tls?: TlsFiles) {
    const fetch = app.fetch.bind(app)
    const listener = getRequestListener((request, env) => fetch(request, env), {
      overrideGlobalObjects: false,
    })
    this.server = tls === undefined ? createServer(listener) : this.createSecure(tls, listener)
    this.server.maxConnections = CONNECTIONS_MAX
    if (!('headersTimeout' in this.server)) return
    this.server.headersTimeout = HEADERS_TIMEOUT_MS
    this.server.requestTimeout = REQUEST_TIMEOUT_MS
  }

  /** Begins to listen. @returns the port @throws {Error} when the address is taken */
  listen(host: string | undefined, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject)
      this.server.listen({ host, port }, () => {
        this.server.off('error', reject)
        const bound = this.server.address()
        resolve(typeof bound === 'object' && bound !== null ? bound.port : port)
      })
    })
  }

  /** Takes no more requests, and ends the connections there are. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.server.close(() => {
        resolve()
      })
      for (const session of this.sessions) session.destroy()
      if ('closeAllConnections' in this.server) this.server.closeAllConnections()
    })
  }

  private createSecure(
    { cert, key, clientCa }: TlsFiles,
    listener: ReturnType<typeof getRequestListener>,
  ): Http2SecureServer {
    const clients =
      clientCa === undefined ? {} : { ca: clientCa, requestCert: true, rejectUnauthorized: false }
    const server = createSecureServer(
      {
        cert,
        key,
        ...clients,
        allowHTTP1: true,
        minVersion: 'TLSv1.2',
        maxSessionInvalidFrames: 100,
        settings: { maxConcurrentStreams: STREAMS_MAX },
      },
      (request, response) => void listener(request, response),
    )
    server.on('session', (session) => {
      this.sessions.add(session)
      session.setTimeout(REQUEST_TIMEOUT_MS, () => {
        session.close()
      })
      session.once('close', () => this.sessions.delete(session))
    })
    return server
  }
}

/**
 * SHA-256 of the certificate that a client has shown and one of our authorities has signed, in
 * hexadecimal digits; `undefined` without one.
 */
export function certificateOf(env: unknown): string | undefined {
  const socket = hasIncoming(env) ? env.incoming.socket : undefined
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined
  return socket.getPeerCertificate().fingerprint256.replaceAll(':', '').toLowerCase()
}

/** Address and port of who sent a request, from what the adapter passes along. */
export function remoteOf(env: unknown): { readonly address: string; readonly port: number } {
  const incoming = hasIncoming(env) ? env.incoming : undefined
  return {
    address: incoming?.socket.remoteAddress ?? '127.0.0.1',
    port: incoming?.socket.remotePort ?? 0,
  }
}

function hasIncoming(env: unknown): env is { readonly incoming: IncomingMessage } {
  return typeof env === 'object' && env !== null && 'incoming' in env
}
