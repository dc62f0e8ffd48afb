/**
 * The gateway as a server on Node: the same app as the Worker's, with stores in a folder or in
 * memory.
 * @module
 */
import type { TlsService } from '../chain/feature.ts'
import { createGatewayApp } from '../gateway/app.ts'
import type { GatewayConfig } from '../gateway/config.ts'
import { DirectDoh } from '../gateway/direct-doh.ts'
import { Gateway, type GatewayRuntime } from '../gateway/gateway.ts'
import { findRuntime } from '../server/fetch-runtime.ts'
import { FetchServer } from '../server/fetch-server.ts'
import type { App, Direct } from '../server/http-request.ts'
import { HttpServer } from '../server/http-server.ts'
import { createNodeRuntime, type NodeRuntimeOptions } from './node-runtime.ts'

/** Options of a gateway on Node. */
export type NodeGatewayOptions = NodeRuntimeOptions & {
  /** Certificate and key; `undefined` for plain HTTP. */
  readonly tls: TlsService | undefined
}

/** A server that does not listen yet. */
export type GatewayServer = Pick<HttpServer, 'close'> & {
  /** Starts to listen, and resolves with the port. */
  readonly listen: (host: string | undefined, port: number) => Promise<number>
  /**
   * Replaces the Corefile, with the same stores and variables.
   * @throws {GatewayConfigError} for an invalid Corefile; the previous one stays
   */
  readonly reload: (config: Pick<GatewayConfig, 'blocks'>) => Promise<void>
  /** Uses another certificate for new connections. @throws {Error} for an invalid one */
  readonly renew: (tls: TlsService) => void
}

/**
 * Creates the server: on Bun and Deno the runtime's own, unless clients may authenticate by
 * certificate.
 */
export function createNodeGateway(options: NodeGatewayOptions): GatewayServer {
  const { config, tls } = options
  const runtime = createNodeRuntime(options)
  let served = serve(config, runtime)
  const app: App = { fetch: (request, env, context) => served.app.fetch(request, env, context) }
  const server = createServer(app, (head) => served.direct(head), tls)
  return {
    listen: (host, port) => server.listen(host, port),
    close: () => server.close(),
    renew: (next) => server.renew(next),
    reload: async ({ blocks }) => {
      const next = serve({ ...config, blocks }, runtime)
      // Loads the snapshots first, so that no query waits for them.
      await next.gateway.zones.notReady()
      served = next
    },
  }
}

/** The app and fast path of one configuration. */
type Served = { readonly app: App; readonly direct: Direct; readonly gateway: Gateway }

function serve(config: GatewayConfig, runtime: GatewayRuntime): Served {
  const gateway = new Gateway(config, runtime)
  for (const message of gateway.notices) runtime.host.log({ level: 'warning', message })
  const doh = new DirectDoh(gateway, config)
  const keepAlive = (promise: Promise<void>): void => void promise
  const app = createGatewayApp(config, runtime, gateway)
  const direct: Direct = (head) => {
    const ticket = doh.admit(head)
    return ticket && ((body) => doh.answer(ticket, body, keepAlive))
  }
  return { app, direct, gateway }
}

function createServer(
  app: App,
  direct: Direct,
  tls: TlsService | undefined,
): HttpServer | FetchServer {
  const runtime = findRuntime()
  const hasIdentities = tls !== undefined && tls.clientAuth !== 'nocert'
  return runtime === undefined || hasIdentities
    ? new HttpServer(app, { ...(tls && { tls }), direct })
    : new FetchServer(runtime, { app, direct, tls })
}
