/**
 * The gateway as a server on Node: the same app as the Worker's, with stores in a folder or in
 * memory.
 * @module
 */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { TlsService } from '../chain/plugin.ts'
import { createGatewayApp } from '../gateway/app.ts'
import { CheckedStore } from '../gateway/checked-store.ts'
import type { GatewayConfig } from '../gateway/config.ts'
import { DirectDoh } from '../gateway/direct-doh.ts'
import { Gateway, type GatewayRuntime } from '../gateway/gateway.ts'
import { LocalWriter } from '../gateway/local-writer.ts'
import { type ClusterStore, createMemoryStore } from '../gateway/store.ts'
import { createMemoryTokenStore } from '../gateway/token-store.ts'
import { findRuntime } from '../server/fetch-runtime.ts'
import { FetchServer } from '../server/fetch-server.ts'
import { type App, type Direct, identitiesOf, remoteOf } from '../server/http-request.ts'
import { HttpServer } from '../server/http-server.ts'
import { createNodeHost } from '../server/node-host.ts'
import type { Log } from '../telemetry/log.ts'
import { Metrics } from '../telemetry/metrics.ts'
import { createFileStore } from './file-store.ts'
import { createFileTokenStore } from './file-token-store.ts'

/** How to run it. */
export type NodeGatewayOptions = {
  readonly config: GatewayConfig
  /** Folder that keeps snapshots and tokens; `undefined` for memory. */
  readonly folder: string | undefined
  /** Folder of the Corefile, which its paths are relative to. */
  readonly corefileFolder: string
  /** Certificate and key; `undefined` for plain HTTP. */
  readonly tls: TlsService | undefined
  readonly log: Log
}

/** A server that does not listen yet. */
export type GatewayServer = Pick<HttpServer, 'close'> & {
  /** Begins to listen, and resolves with the port. */
  readonly listen: (host: string | undefined, port: number) => Promise<number>
  /**
   * Answers by another Corefile from now on, with the same stores. Variables stay as they were.
   * @throws {GatewayConfigError} when it cannot; the previous one stays
   */
  readonly reload: (config: Pick<GatewayConfig, 'blocks'>) => Promise<void>
  /** Shows another certificate to new connections. @throws {Error} when it cannot be used */
  readonly renew: (tls: TlsService) => void
}

/**
 * Creates the server: on Bun and Deno the runtime's own, unless clients may authenticate by
 * certificate.
 */
export function createNodeGateway(options: NodeGatewayOptions): GatewayServer {
  const { config, tls } = options
  const runtime = createRuntime(options)
  let served = serve(config, runtime)
  const app: App = { fetch: (request, env, context) => served.app.fetch(request, env, context) }
  const server = createServer(app, (head) => served.direct(head), tls)
  return {
    listen: (host, port) => server.listen(host, port),
    close: () => server.close(),
    renew: (next) => server.renew(next),
    reload: async ({ blocks }) => {
      const next = serve({ ...config, blocks }, runtime)
      // Reads the snapshots first, so that no query waits for them.
      await next.gateway.notReady()
      served = next
    },
  }
}

/** What answers requests by one configuration. */
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

function createRuntime({
  config,
  folder,
  corefileFolder,
  log,
}: NodeGatewayOptions): GatewayRuntime {
  const stores = new Map(
    [...config.clusters].map(([cluster, { publicKey }]) => {
      const warn = (message: string): void => log({ level: 'warning', message, cluster })
      const store = new CheckedStore({ cluster, publicKey, store: storeOf(folder, cluster), warn })
      store.start()
      return [cluster, store] as const
    }),
  )
  const host = createNodeHost({
    folder: corefileFolder,
    metrics: new Metrics(),
    log,
    openCluster: () => {
      throw new TypeError('A gateway opens its clusters itself')
    },
    abort: (message) => {
      log({ level: 'error', message })
    },
  })
  const writers = new Map(
    [...config.clusters].map(([cluster, { publicKey }]) => {
      const store = known(stores, cluster)
      return [cluster, new LocalWriter({ cluster, publicKey, store, now: Date.now })] as const
    }),
  )
  return {
    host,
    originOf: (cluster) => known(stores, cluster),
    writerOf: (cluster) => known(writers, cluster),
    tokenStore:
      folder === undefined
        ? createMemoryTokenStore()
        : createFileTokenStore(join(folder, 'tokens.jsonl'), {
            onBroken: (file, line) => {
              const message = 'a line of the token file is broken and authorizes nobody'
              log({ level: 'warning', message, file, line })
            },
          }),
    randomBytes,
    fetch,
    clientOf: (c) => ({ ...remoteOf(c.env), transport: 'https' }),
    identitiesOf: (c) => identitiesOf(c.env),
    keepAlive: (_, promise) => {
      void promise
    },
  }
}

function storeOf(folder: string | undefined, cluster: string): ClusterStore {
  if (folder === undefined) return createMemoryStore()
  return createFileStore(join(folder, 'clusters', cluster))
}

function known<T>(all: ReadonlyMap<string, T>, cluster: string): T {
  const found = all.get(cluster)
  if (found === undefined) throw new TypeError(`There is no cluster "${cluster}"`)
  return found
}
