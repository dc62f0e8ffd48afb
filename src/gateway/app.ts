/**
 * The gateway's routes: DNS over HTTPS from pushed snapshots, for any runtime with Web APIs.
 * @module
 */

import type { Context } from 'hono'
import { Hono } from 'hono/tiny'
import { createDohApp } from '../doh/app.ts'
import { notFound, refuseFinalSlash } from '../doh/final-slash.ts'
import { errorResponse, HttpError } from '../doh/http-error.ts'
import { jsonResponse, SECURITY_HEADERS } from '../doh/json-response.ts'
import { AGE_HEADER } from './age-headers.ts'
import type { GatewayConfig } from './config.ts'
import { createCors } from './cors.ts'
import { createExplainRoute } from './explain-route.ts'
import { Gateway, type GatewayRuntime } from './gateway.ts'
import { createGenerationRoutes } from './generation-routes.ts'
import { checkAdmin, checkStatusReader } from './operators.ts'
import { formatPage } from './page.ts'
import { createPublishRoutes } from './publish-routes.ts'
import { StoreError } from './store-error.ts'
import { createTokenAdvice } from './token-advice.ts'
import { createTokenRoutes } from './token-routes.ts'

/** Creates the app of a gateway. @throws {GatewayConfigError} when the Corefile is not valid */
export function createGatewayApp(
  config: GatewayConfig,
  runtime: GatewayRuntime,
  gateway: Gateway = new Gateway(config, runtime),
): Hono {
  const { now } = runtime.host
  const { admission } = gateway
  const app = new Hono()
  app.onError(async (error, c) => {
    if (error instanceof StoreError) {
      runtime.host.log({ level: 'error', message: error.message, error: String(error.cause) })
    }
    if (error instanceof HttpError && error.status !== 401) return errorResponse(error)
    if (error instanceof HttpError) {
      // A client that guesses tokens soon gets a 429.
      const refusal = await admission.countRefused(c).catch((denied: unknown) => denied)
      return errorResponse(refusal instanceof HttpError ? refusal : error)
    }
    runtime.host.log({ level: 'error', message: 'a request failed', error: String(error) })
    return errorResponse(new HttpError(500, 'internal', 'Something went wrong here'))
  })
  app.notFound(() => errorResponse(notFound()))
  app.use(refuseFinalSlash)
  app.get('/', (c) => page(originOf(c), config.access.isPublic))
  addStatusRoutes(app, gateway, config)
  if (config.corsOrigins.length > 0) {
    const cors = createCors(config.corsOrigins, AGE_HEADER)
    for (const path of ['/dns-query', '/resolve', '/t/*']) app.use(path, cors)
  }
  app.route(
    '/',
    createPublishRoutes({
      clusters: config.clusters,
      writerOf: runtime.writerOf,
      count: (cluster) => admission.count(`exporter ${cluster}`),
      now,
    }),
  )
  const { tokenStore: store, randomBytes } = runtime
  const { adminSha256 } = config
  const advise = createTokenAdvice(config)
  app.route(
    '/',
    createGenerationRoutes({
      adminSha256,
      isCluster: (id) => config.clusters.has(id),
      writerOf: runtime.writerOf,
      readShardOf: (cluster) => runtime.originOf(cluster).readShard,
    }),
  )
  app.route(
    '/',
    createExplainRoute({
      admit: (c) => admission.admitExplain(c),
      explain: (message, client, c) => gateway.explain(message, client, c),
    }),
  )
  app.route('/', createTokenRoutes({ adminSha256, store, randomBytes, now, advise }))
  app.use('/t/:token/*', async (c, next) => {
    await admission.admit(c, c.req.param('token'))
    await next()
  })
  for (const path of ['/dns-query', '/resolve']) {
    app.use(path, async (c, next) => {
      await admission.admit(c, undefined)
      await next()
    })
  }
  const doh = createDohApp({
    isPrivate: () => !config.access.isPublic,
    answer: (message, c) => gateway.answer(message, c),
    headersOf: (c) => gateway.headersOf(c),
  })
  app.route('/', doh)
  app.route('/t/:token', doh)
  return app
}

/** Adds the routes that report on the gateway to operators, and its health to everybody. */
function addStatusRoutes(app: Hono, gateway: Gateway, config: GatewayConfig): void {
  // Probes and load balancers cannot keep a token, so this reveals nothing about the names.
  app.get('/healthz', () => health(200))
  for (const path of ['/readyz', '/metrics']) {
    app.use(path, async (c, next) => {
      await checkStatusReader(c, config)
      await next()
    })
  }
  app.get('/readyz', async () => {
    const waiting = await gateway.zones.notReady()
    return waiting.length === 0 ? plain('OK') : plain(waiting.join(','), 503)
  })
  app.get('/metrics', () => plain(gateway.metrics(), 200, 'text/plain; version=0.0.4'))
  app.get('/v1/conflicts', async (c) => {
    await checkAdmin(c, config.adminSha256)
    return jsonResponse(200, { groups: await gateway.zones.merged.conflicts() })
  })
}

/** Creates the response of `/healthz`: a status without a body. */
export function health(status: 200 | 503): Response {
  return new Response(null, {
    status,
    headers: { ...SECURITY_HEADERS, 'cache-control': 'no-store' },
  })
}

/** Returns the origin that the client used, also where a proxy terminates TLS. */
function originOf(c: Context): string {
  const url = new URL(c.req.url)
  if (c.req.header('x-forwarded-proto') === 'https') url.protocol = 'https:'
  return url.origin
}

function plain(text: string, status = 200, type = 'text/plain'): Response {
  const headers = { ...SECURITY_HEADERS, 'content-type': type, 'cache-control': 'no-store' }
  return new Response(text, { status, headers })
}

function page(origin: string, isPublic: boolean): Response {
  return new Response(formatPage(origin, isPublic), {
    headers: {
      ...SECURITY_HEADERS,
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
      'cache-control': 'no-store',
    },
  })
}
