/**
 * Chooses the HTTP server for an app: on Bun and Deno the runtime's own, which costs a quarter of
 * `node:http2` there, unless the configuration needs a feature that only Node's modules have.
 * @module
 */
import { inheritedSockets } from '../node/inherited-sockets.ts'
import { findRuntime } from './fetch-runtime.ts'
import { FetchServer } from './fetch-server.ts'
import type { App, Direct } from './http-request.ts'
import { type HttpOptions, HttpServer } from './http-server.ts'

/** A server for one app. */
export type AppServer = HttpServer | FetchServer

/**
 * Creates a server; call `listen` next. The runtimes' own servers report no client certificates,
 * take no sockets of systemd, and bound neither the number of connections nor their requests.
 * Node's modules therefore serve a block with such bounds. Bounds that a reload adds have no effect
 * before a restart.
 * @throws {Error} when the certificate or key is invalid
 */
export function createAppServer(
  app: App,
  options: HttpOptions & { readonly direct: Direct },
): AppServer {
  const { direct, tls, bounds, connectionsMax, proxies, proxy } = options
  const runtime = findRuntime()
  const needsNode =
    (tls !== undefined && tls.clientAuth !== 'nocert') ||
    connectionsMax !== undefined ||
    proxy !== undefined ||
    Object.keys(bounds?.() ?? {}).length > 0 ||
    inheritedSockets().length > 0
  return runtime === undefined || needsNode
    ? new HttpServer(app, options)
    : new FetchServer(runtime, { app, direct, tls, proxies })
}
