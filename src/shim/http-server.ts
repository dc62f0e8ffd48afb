/**
 * HTTP for the apps of this project on Node: the only place that knows the adapter.
 * @module
 */
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import type { Hono } from 'hono'

const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 15_000
const CONNECTIONS_MAX = 2000

/** An HTTP server for one app. */
export class HttpServer {
  private readonly server: Server

  constructor(app: Hono) {
    const fetch = app.fetch.bind(app)
    this.server = createServer(
      getRequestListener((request, env) => fetch(request, env), { overrideGlobalObjects: false }),
    )
    this.server.headersTimeout = HEADERS_TIMEOUT_MS
    this.server.requestTimeout = REQUEST_TIMEOUT_MS
    this.server.maxConnections = CONNECTIONS_MAX
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
      this.server.closeAllConnections()
    })
  }
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
