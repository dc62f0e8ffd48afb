/**
 * The gateway: DNS over HTTPS from pushed snapshots, for any runtime with Web APIs.
 * @module
 */
import { type Context, Hono } from 'hono'
import type { KubernetesOptions } from '../corefile/kubernetes-options.ts'
import { ConfigError, configError, formatProblem } from '../corefile/problem.ts'
import { createDohApp } from '../doh/app.ts'
import { errorResponse, HttpError, SECURITY_HEADERS } from '../doh/http-error.ts'
import type { Host, SnapshotSource } from '../plugins/host.ts'
import type { Client } from '../plugins/plugin.ts'
import { createResolver } from '../resolver/create-resolver.ts'
import type { Resolver } from '../resolver/resolver.ts'
import { checkAccess, hasHash, headerToken } from './access.ts'
import { ClusterReader, type SnapshotOrigin } from './cluster-reader.ts'
import { type GatewayConfig, GatewayConfigError } from './config.ts'
import { formatGatewayMetrics } from './gateway-metrics.ts'
import { formatPage } from './page.ts'
import { type ClusterWriter, createPublishRoutes } from './publish-routes.ts'

/** What a gateway needs of its runtime. */
export type GatewayRuntime = {
  readonly host: Omit<Host, 'openCluster'>
  /** Where the snapshots of a cluster are read. */
  readonly originOf: (cluster: string) => SnapshotOrigin
  /** Who writes the snapshots of a cluster. */
  readonly writerOf: (cluster: string, c: Context) => ClusterWriter
  /** Who sent a request. */
  readonly clientOf: (c: Context) => Client
  /** Keeps a promise alive beyond the response. */
  readonly keepAlive: (c: Context, promise: Promise<void>) => void
}

/** Makes the gateway. @throws {GatewayConfigError} when the Corefile asks for what there is not */
export function createGatewayApp(config: GatewayConfig, runtime: GatewayRuntime): Hono {
  const gateway = new Gateway(config, runtime)
  const app = new Hono()
  app.onError((error) => {
    if (error instanceof HttpError) return errorResponse(error)
    runtime.host.log({ level: 'error', message: 'a request failed', error: String(error) })
    return errorResponse(new HttpError(500, 'internal', 'Something went wrong here'))
  })
  app.notFound(() => errorResponse(new HttpError(404, 'not_found', 'There is nothing here')))
  app.get('/', (c) => page(new URL(c.req.url).origin))
  for (const path of ['/healthz', '/readyz', '/metrics']) {
    app.use(path, async (c, next) => {
      await gateway.checkOperator(c)
      await next()
    })
  }
  app.get('/healthz', () => plain('OK'))
  app.get('/readyz', () => gateway.ready())
  app.get('/metrics', () => gateway.metrics())
  app.route(
    '/',
    createPublishRoutes({ ...runtime, clusters: config.clusters, now: runtime.host.now }),
  )
  app.use('/t/:token/*', async (c, next) => {
    await checkAccess(config.access, c.req.raw, c.req.param('token'))
    await next()
  })
  for (const path of ['/dns-query', '/resolve']) {
    app.use(path, async (c, next) => {
      await checkAccess(config.access, c.req.raw, undefined)
      await next()
    })
  }
  const doh = createDohApp({
    isPrivate: () => config.access.kind !== 'public',
    answer: (message, c) => gateway.answer(message, c),
  })
  app.route('/', doh)
  app.route('/t/:token', doh)
  return app
}

class Gateway {
  private readonly config: GatewayConfig
  private readonly runtime: GatewayRuntime
  private readonly readers = new Map<string, ClusterReader>()
  private readonly resolver: Resolver

  constructor(config: GatewayConfig, runtime: GatewayRuntime) {
    this.config = config
    this.runtime = runtime
    this.resolver = this.compile()
  }

  async answer(message: Uint8Array, c: Context): Promise<Uint8Array | undefined> {
    const [listener] = this.resolver.listeners
    if (listener === undefined) return undefined
    for (const reader of this.readers.values()) {
      const refresh = reader.refreshIfDue()
      if (refresh !== undefined) this.runtime.keepAlive(c, refresh)
    }
    return this.resolver.answer(listener, message, this.runtime.clientOf(c))
  }

  /** Ready when every cluster has a snapshot that is not too old. */
  async ready(): Promise<Response> {
    const waiting: string[] = []
    for (const [id, reader] of this.readers) {
      const isDue = reader.current() === undefined
      if (isDue) await reader.load().catch((error: unknown) => this.logFailure(id, error))
      if (reader.freshness() === 'expired') waiting.push(id)
    }
    return waiting.length === 0 ? plain('OK') : plain(waiting.join(','), 503)
  }

  metrics(): Response {
    const text = formatGatewayMetrics(this.runtime.host.metrics, this.readers)
    return plain(text, 200, 'text/plain; version=0.0.4')
  }

  /** Operators' routes are for who may publish, and never for everybody (`PUBLIC`). */
  async checkOperator(c: Context): Promise<void> {
    const token = headerToken(c.req.raw)
    for (const { tokenSha256 } of this.config.clusters.values()) {
      if (token !== undefined && (await hasHash(token, tokenSha256))) return
    }
    if (this.config.access.kind === 'token') {
      await checkAccess(this.config.access, c.req.raw, undefined)
      return
    }
    throw new HttpError(401, 'unauthorized', "An exporter's token is needed", {
      'www-authenticate': 'Bearer realm="kubedoh"',
    })
  }

  private compile(): Resolver {
    try {
      const host: Host = { ...this.runtime.host, openCluster: (options) => this.open(options) }
      const resolver = createResolver(this.config.blocks, host)
      // Metrics are counted here too; where they are to be had is the gateway's affair.
      const feature = resolver.features.find(({ kind }) => kind !== 'metrics')
      if (feature === undefined) return resolver
      throw new GatewayConfigError(
        `COREFILE: "${feature.kind}" has no meaning in a gateway, which has /healthz and ` +
          '/readyz and is told of changes; leave it out',
      )
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      throw new GatewayConfigError(error.problems.map(formatProblem).join('; '), { cause: error })
    }
  }

  private logFailure(cluster: string, error: unknown): void {
    const message = 'cannot refresh a snapshot'
    this.runtime.host.log({ level: 'error', message, cluster, error: describe(error) })
  }

  private open(options: KubernetesOptions): SnapshotSource {
    const id = options.cluster
    if (id === undefined) {
      const known = [...this.config.clusters.keys()].join(', ')
      throw configError(options, `say which cluster: "cluster ID", with one of ${known || 'none'}`)
    }
    const cluster = this.config.clusters.get(id)
    if (cluster === undefined) throw configError(options, `CLUSTERS has no cluster "${id}"`)
    const known = this.readers.get(id)
    if (known !== undefined) return known
    const { host, originOf } = this.runtime
    const reader = new ClusterReader({
      cluster: id,
      publicKey: cluster.publicKey,
      origin: originOf(id),
      times: this.config.times,
      now: host.now,
      onError: (error) => {
        this.logFailure(id, error)
      },
    })
    this.readers.set(id, reader)
    return reader
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function plain(text: string, status = 200, type = 'text/plain'): Response {
  const headers = { ...SECURITY_HEADERS, 'content-type': type, 'cache-control': 'no-store' }
  return new Response(text, { status, headers })
}

function page(origin: string): Response {
  return new Response(formatPage(origin), {
    headers: {
      ...SECURITY_HEADERS,
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
      'cache-control': 'no-store',
    },
  })
}
