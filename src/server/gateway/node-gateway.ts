/**
 * The gateway as a server on Node: the same app as the Worker's, with stores in a folder or in
 * memory.
 * @module
 */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Log } from '../../dns/telemetry/log.ts'
import { Metrics } from '../../dns/telemetry/metrics.ts'
import { createMemoryTokenStore, type TokenStore } from '../../gateway/access/token-store.ts'
import type { GatewayConfig } from '../../gateway/config/config.ts'
import { createGatewayApp } from '../../gateway/routes/app.ts'
import { DirectDoh } from '../../gateway/routes/direct-doh.ts'
import { Gateway, type GatewayRuntime } from '../../gateway/routes/gateway.ts'
import { CheckedStore } from '../../gateway/snapshots/checked-store.ts'
import { LocalWriter } from '../../gateway/snapshots/local-writer.ts'
import type { ClusterWriter } from '../../gateway/snapshots/publish-routes.ts'
import { createMemoryStore } from '../../gateway/snapshots/store.ts'
import type { TlsService } from '../../resolver/contract/feature.ts'
import type { PluginHost } from '../../resolver/contract/plugin-entry.ts'
import { type AppServer, createAppServer } from '../http/app-server.ts'
import { type App, type Direct, identitiesOf, remoteOf } from '../http/http-request.ts'
import { createNodeHost } from '../serve/node-host.ts'
import { createFileStore } from './file-store.ts'
import { createFileTokenStore } from './file-token-store.ts'

/** Options of a gateway on Node. */
type NodeGatewayOptions = NodeRuntimeOptions & {
  /** Certificate and key; `undefined` for plain HTTP. */
  readonly tls: TlsService | undefined
}

/** A server that does not listen yet. */
export type GatewayServer = Pick<AppServer, 'close'> & {
  /** Answers a request that came otherwise; `address` is the client's. */
  readonly fetch: (request: Request, address: string) => Promise<Response>
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
 * Creates the server: on Bun and Deno the runtime's own, except with client certificates.
 * @throws {GatewayConfigError} for an invalid Corefile
 */
export async function createNodeGateway(options: NodeGatewayOptions): Promise<GatewayServer> {
  const { config, tls } = options
  const runtime = { ...createNodeRuntime(options), hasTls: tls !== undefined }
  let served = await serve(config, runtime)
  served.gateway.start()
  const app: App = { fetch: (request, env, context) => served.app.fetch(request, env, context) }
  const direct: Direct = (head) => served.direct(head)
  const server = createAppServer(app, { direct, ...(tls && { tls }) })
  return {
    fetch: async (request, remoteAddress) =>
      served.app.fetch(request, { incoming: { socket: { remoteAddress } } }),
    listen: (host, port) => server.listen(host, port),
    close: async () => {
      await served.gateway.stop()
      await server.close()
    },
    renew: (next) => server.renew(next),
    reload: async ({ blocks }) => {
      const next = await serve({ ...config, blocks }, runtime)
      // Loads the snapshots first, so that no query waits for them.
      await next.gateway.zones.notReady()
      next.gateway.start()
      void served.gateway.stop()
      served = next
    },
  }
}

/** The app and fast path of one configuration. */
type Served = { readonly app: App; readonly direct: Direct; readonly gateway: Gateway }

async function serve(config: GatewayConfig, runtime: GatewayRuntime): Promise<Served> {
  const gateway = await Gateway.open(config, runtime)
  for (const message of gateway.notices) runtime.host.log({ level: 'warning', message })
  const doh = new DirectDoh(gateway, config)
  const keepAlive = (promise: Promise<void>): void => void promise
  const app = createGatewayApp(config, withReload(runtime, gateway), gateway)
  const direct: Direct = (head) => {
    const admitted = doh.admit(head)
    return admitted && ((body) => doh.answer(admitted, body, keepAlive))
  }
  return { app, direct, gateway }
}

/**
 * Has a gateway answer from a manifest as soon as it is stored. Its readers would notice it only at
 * their next interval, as they do what another process stores.
 */
function withReload(runtime: GatewayRuntime, { zones }: Gateway): GatewayRuntime {
  const writerOf: GatewayRuntime['writerOf'] = (cluster, c) => {
    const writer = runtime.writerOf(cluster, c)
    const reloading =
      (put: ClusterWriter['putManifest']): ClusterWriter['putManifest'] =>
      async (...manifest) => {
        const result = await put(...manifest)
        if (result.kind === 'stored') await zones.reload(cluster)
        return result
      }
    const { putManifest, putPublication } = writer
    return {
      ...writer,
      putManifest: reloading(putManifest),
      putPublication: reloading(putPublication),
    }
  }
  return { ...runtime, writerOf }
}

/** What the runtime is made of. */
type NodeRuntimeOptions = {
  readonly config: GatewayConfig
  /** Folder for snapshots and tokens; `undefined` keeps them in memory. */
  readonly folder: string | undefined
  /** Folder of the Corefile, which its paths are relative to. */
  readonly corefileFolder: string
  readonly log: Log
}

/** A cluster's snapshots, and their single writer. */
type StoredCluster = { readonly store: CheckedStore; readonly writer: LocalWriter }

/** Creates the runtime, and starts to check what the folder has. */
export function createNodeRuntime(options: NodeRuntimeOptions): GatewayRuntime {
  const clusters = new Map(
    [...options.config.clusters.keys()].map((id) => [id, openCluster(id, options)] as const),
  )
  return {
    host: createHost(options),
    originOf: (id) => known(clusters, id).store,
    writerOf: (id) => known(clusters, id).writer,
    tokenStore: openTokenStore(options),
    randomBytes,
    fetch,
    clientOf: (c) => ({ ...remoteOf(c.env), transport: 'https' }),
    identitiesOf: (c) => identitiesOf(c.env),
    keepAlive: (_, promise) => void promise,
  }
}

function openCluster(cluster: string, { config, folder, log }: NodeRuntimeOptions): StoredCluster {
  const { publicKey } = known(config.clusters, cluster)
  const warn = (message: string): void => log({ level: 'warning', message, cluster })
  const files =
    folder === undefined ? createMemoryStore() : createFileStore(join(folder, 'clusters', cluster))
  const store = new CheckedStore({ cluster, publicKey, store: files, warn })
  store.start()
  return { store, writer: new LocalWriter({ cluster, publicKey, store, now: Date.now }) }
}

function createHost({ corefileFolder, log }: NodeRuntimeOptions): PluginHost {
  return createNodeHost({
    folder: corefileFolder,
    metrics: new Metrics(),
    log,
    openCluster: () => {
      throw new TypeError('A gateway opens its clusters itself')
    },
    abort: (message) => log({ level: 'error', message }),
  })
}

function openTokenStore({ folder, log }: NodeRuntimeOptions): TokenStore {
  if (folder === undefined) return createMemoryTokenStore()
  const message = 'a line of the token file is broken and authorizes nobody'
  return createFileTokenStore(join(folder, 'tokens.jsonl'), {
    onBroken: (file, line) => log({ level: 'warning', message, file, line }),
  })
}

function known<T>(all: ReadonlyMap<string, T>, cluster: string): T {
  const found = all.get(cluster)
  if (found === undefined) throw new TypeError(`CLUSTERS has no cluster "${cluster}"`)
  return found
}
