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
import { checkAdmin } from './admin.ts'
import { AGE_HEADER } from './age-headers.ts'
import type { GatewayConfig } from './config.ts'
import { createExplainRoute } from './explain-route.ts'
import { Gateway, type GatewayRuntime } from './gateway.ts'
import { createGenerationRoutes } from './generation-routes.ts'
import { openToPages } from './open-to-pages.ts'
import { formatPage } from './page.ts'
import { createPublishRoutes } from './publish-routes.ts'
import { StoreError } from './store-error.ts'
import { createTokenAdvice } from './token-advice.ts'
import { createTokenRoutes } from './token-routes.ts'

/** Makes the gateway. @throws {GatewayConfigError} when the Corefile asks for what there is not */
export function createGatewayApp(
  config: GatewayConfig,
  runtime: GatewayRuntime,
  gateway: Gateway = new Gateway(config, runtime),
): Hono {
  const { now } = runtime.host
  const app = new Hono()
  app.onError(async (error, c) => {
    if (error instanceof StoreError) {
      runtime.host.log({ level: 'error', message: error.message, error: String(error.cause) })
    }
    if (error instanceof HttpError && error.status !== 401) return errorResponse(error)
    if (error instanceof HttpError) {
      // Who guesses tokens is soon told to wait.
      const refusal = await gateway.countRefused(c).catch((denied: unknown) => denied)
      return errorResponse(refusal instanceof HttpError ? refusal : error)
    }
    runtime.host.log({ level: 'error', message: 'a request failed', error: String(error) })
    return errorResponse(new HttpError(500, 'internal', 'Something went wrong here'))
  })
  app.notFound(() => errorResponse(notFound()))
  app.use(refuseFinalSlash)
  app.get('/', (c) => page(originOf(c), config.access.isPublic))
  addStatusRoutes(app, gateway, config.adminSha256)
  if (config.corsOrigins.length > 0) {
    const allowed = openToPages(config.corsOrigins, AGE_HEADER)
    for (const path of ['/dns-query', '/resolve', '/t/*']) app.use(path, allowed)
  }
  app.route(
    '/',
    createPublishRoutes({
      clusters: config.clusters,
      writerOf: runtime.writerOf,
      count: (cluster) => gateway.count(`exporter ${cluster}`),
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
      viewOf: (c) => gateway.explainView(c),
      explain: (message, view, c) => gateway.explain(message, view, c),
    }),
  )
  app.route('/', createTokenRoutes({ adminSha256, store, randomBytes, now, advise }))
  app.use('/t/:token/*', async (c, next) => {
    await gateway.admit(c, c.req.param('token'))
    await next()
  })
  for (const path of ['/dns-query', '/resolve']) {
    app.use(path, async (c, next) => {
      await gateway.admit(c, undefined)
      await next()
    })
  }
  const doh = createDohApp({
    isPrivate: () => !config.access.isPublic,
    answer: (message, c) => gateway.answer(message, c),
    headersOf: (message, c) => gateway.headersOf(message, c),
  })
  app.route('/', doh)
  app.route('/t/:token', doh)
  return app
}

/** What operators and exporters see of the gateway, and its health, which everybody may see. */
function addStatusRoutes(app: Hono, gateway: Gateway, adminSha256: string | undefined): void {
  // For probes and load balancers, which cannot keep a token: it says nothing of the names.
  app.get('/healthz', () => health(200))
  for (const path of ['/readyz', '/metrics']) {
    app.use(path, async (c, next) => {
      await gateway.checkOperator(c)
      await next()
    })
  }
  app.get('/readyz', async () => {
    const waiting = await gateway.notReady()
    return waiting.length === 0 ? plain('OK') : plain(waiting.join(','), 503)
  })
  app.get('/metrics', () => plain(gateway.metrics(), 200, 'text/plain; version=0.0.4'))
  app.get('/v1/conflicts', async (c) => {
    await checkAdmin(c, adminSha256)
    return jsonResponse(200, { groups: await gateway.merged.conflicts() })
  })
}

/** Makes the response of `/healthz`: a status and nothing else. */
export function health(status: 200 | 503): Response {
  return new Response(null, {
    status,
    headers: { ...SECURITY_HEADERS, 'cache-control': 'no-store' },
  })
}

/** Returns the origin that the client sees, also behind a proxy that ends TLS. */
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
