/**
 * The gateway as a server on Node: the same app as the Worker's, with a store of its own.
 * @module
 */
import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import type { Context } from 'hono'
import type { Log } from '../../dns/telemetry/log.ts'
import { Metrics } from '../../dns/telemetry/metrics.ts'
import { type GatewayConfig, refuseProxyProtocol } from '../../gateway/config/config.ts'
import { TlsHead } from '../../gateway/routes/direct-dot.ts'
import type { GatewayRuntime } from '../../gateway/routes/gateway.ts'
import { openStoredGateway, withPrimary, withStore } from '../../gateway/routes/stored-gateway.ts'
import { Primary, type PrimaryOptions } from '../../gateway/snapshots/primary.ts'
import {
  createMemoryGatewayStore,
  type GatewayStore,
  Mutex,
} from '../../gateway/snapshots/store.ts'
import type { AnswerResult } from '../../resolver/chain/incoming.ts'
import type { Client } from '../../resolver/contract/client.ts'
import type { ProxyPolicy, TlsService } from '../../resolver/contract/feature.ts'
import type { PluginHost } from '../../resolver/contract/plugin-entry.ts'
import { type AppServer, createAppServer } from '../http/app-server.ts'
import { findRuntime } from '../http/fetch-runtime.ts'
import {
  type Direct,
  endsOf,
  identitiesOf,
  identitiesOfSocket,
  remoteOf,
  serverNameOf,
  serverNameOfSocket,
} from '../http/http-request.ts'
import type { Print } from '../node/output.ts'
import { type Collector, createTracer } from '../serve/collector.ts'
import { createNodeHost } from '../serve/node-host.ts'
import type { Answer } from '../sockets/answer.ts'
import { TlsListener } from '../sockets/tls-listener.ts'
import { createFileDirectory } from './file-directory.ts'
import { createFileStore } from './file-store.ts'
import { createFileTokenStore } from './file-token-store.ts'
import { Files } from './files.ts'
import { Readiness } from './readiness.ts'

/** Enough for no two replicas to have the same identifier. */
const REPLICA_ID_BYTES = 8

/** How long requests in flight may take when the gateway stops. */
const DRAIN_MS = 5000

/** Options of a gateway on Node. */
type NodeGatewayOptions = NodeRuntimeOptions & {
  /** Certificate and key; `undefined` for plain HTTP. */
  readonly tls: TlsService | undefined
  /** Port of DNS over TLS, for clients that discover it; none when left out. */
  readonly dotPort?: number | undefined
  /** Returns whether what this process follows itself was read; nothing when left out. */
  readonly hasRead?: () => boolean
}

/** A server that does not listen yet; `listenDot` is for DNS over TLS. */
export type GatewayServer = Pick<AppServer, 'close'> & {
  /** Answers a request that came otherwise; `address` is the client's. */
  readonly fetch: (request: Request, address: string) => Promise<Response>
  /** Starts to listen, and resolves with the port. */
  readonly listen: (host: string | undefined, port: number) => Promise<number>
  /**
   * Starts to listen for DNS over TLS, and resolves with the port. Absent without a
   * certificate.
   */
  readonly listenDot?: (host: string | undefined, port: number) => Promise<number>
  /**
   * Replaces the Corefile and the variables, with the same stores. Requests in flight end as they
   * began; several reloads follow each other.
   * @throws {GatewayConfigError} for an invalid Corefile; the previous configuration stays
   */
  readonly reload: (config: GatewayConfig) => Promise<void>
  /** Uses another certificate for new connections. @throws {Error} for an invalid one */
  readonly renew: (tls: TlsService) => void
  /**
   * Ends the readiness at once, and asks clients to open other connections, but answers all
   * requests for `lingerMs`. Then accepts no more connections, and closes each one whose requests
   * are answered, within 5 s. Call `close` next.
   */
  readonly drain: (lingerMs: number) => Promise<void>
}

/**
 * Creates the server: on Bun and Deno the runtime's own, except with client certificates.
 * @throws {GatewayConfigError} for an invalid Corefile
 */
export async function createNodeGateway(options: NodeGatewayOptions): Promise<GatewayServer> {
  const { tls, hasRead = () => true } = options
  let { config } = options
  const isForeign = findRuntime() !== undefined
  if (isForeign) refuseProxyProtocol(config)
  const reloads = new Mutex()
  const { dotPort } = options
  const hasTls = tls !== undefined
  const runtime: GatewayRuntime = { ...createNodeRuntime(options), hasTls, dotPort }
  let served = await openStoredGateway(config, runtime)
  served.gateway.start()
  const readiness = new Readiness(async () => hasRead() && (await served.gateway.hasLooked()))
  const app = readiness.beside({
    fetch: (request, env, context) => served.app.fetch(request, env, context),
  })
  const keepAlive = (promise: Promise<void>): void => void promise
  const direct: Direct = (head) => {
    const { direct: doh } = served
    const admitted = doh.admit(head)
    return admitted && ((body) => doh.answer(admitted, body, keepAlive))
  }
  const proxy = isForeign ? undefined : { policyOf: (address: string) => policyOf(config, address) }
  const server = createAppServer(app, {
    direct,
    ...(tls && { tls }),
    proxy,
    proxies: () => config.proxies,
  })
  const answerDot = dotAnswers((message, head) => served.dot.answer(message, head, keepAlive))
  const dot = tls && new TlsListener(answerDot, tls, proxy)
  return {
    fetch: async (request, remoteAddress) =>
      app.fetch(request, { incoming: { socket: { remoteAddress } } }),
    listen: (host, port) => server.listen(host, port),
    ...(dot && { listenDot: (host: string | undefined, port: number) => dot.listen(host, port) }),
    close: async () => {
      await served.gateway.stop()
      await Promise.all([server.close(), dot?.close()])
      runtime.tracer?.stop()
    },
    drain: async (lingerMs) => {
      readiness.end()
      server.leave()
      await new Promise((resolve) => setTimeout(resolve, lingerMs))
      await Promise.all([server.drain(DRAIN_MS), dot?.drain(DRAIN_MS)])
    },
    renew: (next) => {
      server.renew(next)
      dot?.renew(next)
    },
    reload: (next) =>
      reloads.run(async () => {
        if (isForeign) refuseProxyProtocol(next)
        runtime.configure?.(next.clusters)
        const opened = await openStoredGateway(next, runtime).catch((error: unknown) => {
          runtime.configure?.(config.clusters)
          throw error
        })
        // Loads the snapshots first, so that no query waits for them.
        await opened.gateway.zones.notReady()
        opened.gateway.start()
        void served.gateway.stop()
        served = opened
        config = next
      }),
  }
}

/** Returns what becomes of a peer's PROXY header. */
function policyOf({ proxies, hasProxyProtocol }: GatewayConfig, address: string): ProxyPolicy {
  return hasProxyProtocol && proxies?.has(address) === true ? 'require' : 'skip'
}

/** Returns what answers a connection of DNS over TLS: it remembers who opened each. */
function dotAnswers(
  answer: (message: Uint8Array, head: TlsHead) => AnswerResult,
): (socket: Socket) => Answer {
  const heads = new WeakMap<Socket, TlsHead>()
  return (socket) => (message) => {
    let head = heads.get(socket)
    if (head === undefined) {
      const client = { ...endsOf(socket), transport: 'tls' } as const
      const identities = (): readonly string[] => identitiesOfSocket(socket)
      head = new TlsHead(client, serverNameOfSocket(socket), identities)
      heads.set(socket, head)
    }
    return answer(message, head)
  }
}

/** The URL of a gateway to follow, and the token of its replicas. */
export type PrimaryAddress = Pick<PrimaryOptions, 'url' | 'token'>

/** What the runtime is made of. */
type NodeRuntimeOptions = {
  readonly config: GatewayConfig
  /** Where it keeps what is published, or the gateway that it follows instead. */
  readonly store: GatewayStore | PrimaryAddress
  /** Folder of the Corefile, which its paths are relative to. */
  readonly corefileFolder: string
  readonly log: Log
  /** Where spans of what exporters publish go, if anywhere. */
  readonly collector?: Collector | undefined
  /** Where the gateway counts (default: metrics of its own). */
  readonly metrics?: Metrics
  /** Receives the lines of `log`, as CoreDNS writes them; default: standard output. */
  readonly print?: Print
}

/** Creates the runtime, and starts to check what the store has. */
export function createNodeRuntime(options: NodeRuntimeOptions): GatewayRuntime {
  const runtime = {
    host: createHost(options),
    randomBytes,
    fetch: (url: string) => fetch(url, { redirect: 'manual' }),
    clientOf: (c: Context): Client => ({ ...remoteOf(c.env), transport: 'https' }),
    identitiesOf: (c: Context) => identitiesOf(c.env),
    serverNameOf: (c: Context) => serverNameOf(c.env),
    keepAlive: (_: Context, promise: Promise<void>) => void promise,
    ...(options.collector && { tracer: createTracer(options.collector, options.log) }),
  }
  const { store, config } = options
  if (!('url' in store)) return withStore(config, runtime, store)
  const { after, elapsed } = runtime.host
  const id = randomBytes(REPLICA_ID_BYTES).toString('hex')
  return withPrimary(runtime, new Primary({ ...store, id, fetch, after, elapsed }))
}

function createHost(options: NodeRuntimeOptions): PluginHost {
  const { corefileFolder, log, print, metrics = new Metrics() } = options
  return createNodeHost({
    folder: corefileFolder,
    metrics,
    log,
    print,
    openCluster: () => {
      throw new TypeError('A gateway opens its clusters itself')
    },
    abort: (message) => log({ level: 'error', message }),
  })
}

/** Creates the store in a folder, which logs broken lines of its tokens; in memory without one. */
export function createNodeStore(folder: string | undefined, log: Log): GatewayStore {
  if (folder === undefined) return createMemoryGatewayStore()
  const files = new Files()
  const message = 'a line of the token file is broken and authorizes nobody'
  const onBroken = (file: string, line: number): void =>
    log({ level: 'warning', message, file, line })
  const folderOf = (cluster: string): string => join(folder, 'clusters', cluster)
  const onBrokenCluster = (file: string, line: number): void =>
    log({ level: 'warning', message: 'a line of the directory of clusters is broken', file, line })
  return {
    clusterStore: (cluster) => createFileStore(folderOf(cluster), files),
    tokenStore: createFileTokenStore(join(folder, 'tokens.jsonl'), { files, onBroken }),
    directory: {
      store: createFileDirectory(join(folder, 'clusters.jsonl'), {
        files,
        onBroken: onBrokenCluster,
      }),
      removeSnapshots: (cluster) => files.removeFolder(folderOf(cluster)),
    },
  }
}
