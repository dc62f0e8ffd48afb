/**
 * The gateway's routes: DNS over HTTPS from pushed snapshots, for any runtime with Web APIs.
 * @module
 */

import type { Context } from 'hono'
import { Hono } from 'hono/tiny'
import { createSharedPause } from '../../dns/bytes/steps.ts'
import { METRICS_TYPE } from '../../dns/telemetry/metrics.ts'
import type { ClientVisibility } from '../../resolver/contract/client.ts'
import { createAudit } from '../access/audit.ts'
import { createCors } from '../access/cors.ts'
import { createCrossSite } from '../access/cross-site.ts'
import { checkAdmin, checkStatusReader } from '../access/operators.ts'
import { createTokenAdvice } from '../access/token-request.ts'
import { OPENAPI } from '../built/assets.js'
import type { GatewayConfig } from '../config/config.ts'
import { jobAudiences } from '../config/job-audiences.ts'
import { matcherOf } from '../config/text-pattern.ts'
import { createDohApp } from '../doh/app.ts'
import { behindProxies } from '../doh/behind-proxies.ts'
import { createExplainRoute } from '../doh/explain-route.ts'
import { refuseFinalSlash } from '../doh/final-slash.ts'
import { errorResponse, HttpError, notFound } from '../doh/http-error.ts'
import { jsonResponse, streamOf, uncached } from '../doh/json-response.ts'
import { createPublishRoutes, type FindCluster } from '../snapshots/publish-routes.ts'
import { StoreError } from '../snapshots/store.ts'
import { createAuditRoute } from './audit-route.ts'
import { createBackupRoute } from './backup-route.ts'
import { createClusterRoutes } from './cluster-routes.ts'
import { createExchangeRoute } from './exchange-route.ts'
import type { Gateway, GatewayRuntime } from './gateway.ts'
import { createGenerationRoutes } from './generation-routes.ts'
import { createIngestTrace } from './ingest-trace.ts'
import { clusterDomains, createKitRoute } from './kit-route.ts'
import { LoginPlaces } from './login-places.ts'
import { createNamesRoute } from './names-route.ts'
import { createObjectTokenRoute } from './object-token-route.ts'
import { createPage } from './page.ts'
import { prepare } from './prepare.ts'
import { createReplicaRoutes } from './replica-routes.ts'
import { createStatusRoute } from './status-route.ts'
import { createTokenRoutes } from './token-routes.ts'

/** Creates the app of a gateway. */
export function createGatewayApp(
  config: GatewayConfig,
  given: GatewayRuntime,
  gateway: Gateway,
): Hono {
  const runtime = behindProxies(given, config.proxies)
  const { now } = runtime.host
  const { admission } = gateway
  const app = new Hono()
  app.onError((error, c) => respondToError(error, c, gateway, runtime))
  app.notFound(() => errorResponse(notFound()))
  const page = createPage(config.access.isPublic, LoginPlaces.of(config, runtime))
  for (const path of ['/', '/t/:token/']) app.get(path, page)
  app.use(refuseFinalSlash)
  app.use('/v1/*', createAudit(runtime))
  app.use('/v1/*', createCrossSite(runtime.urlOf))
  for (const path of ['/v1/*', '/readyz', '/metrics']) {
    app.use(path, async (c, next) => {
      await admission.identify(c)
      await next()
    })
  }
  addStatusRoutes(app, gateway, { config, host: runtime.host })
  if (config.corsOrigins.length > 0) {
    const cors = createCors(config.corsOrigins)
    for (const path of ['/dns-query', '/resolve', '/t/*']) app.use(path, cors)
  }
  const count = (cluster: string): Promise<void> => admission.count(`exporter ${cluster}`)
  const { clusters } = gateway
  const findCluster: FindCluster = (id, c) => admission.findCluster(id, c)
  const advise = createTokenAdvice(config, clusters)
  const domainsOf = clusterDomains(config, clusters)
  if (runtime.tracer !== undefined) app.route('/', createIngestTrace(runtime.tracer))
  app.route('/', createReplicaRoutes({ config, runtime, gateway }))
  app.route('/', createPublishRoutes({ ...runtime, findCluster, count, now }))
  app.route('/', createGenerationRoutes(config, runtime, findCluster))
  const reload = (): Promise<void> => admission.reloadTokens()
  app.route('/', createClusterRoutes({ ...config, ...runtime, reload, now }))
  app.route('/', createBackupRoute({ ...config, ...runtime, reload, now }))
  app.route('/', createObjectTokenRoute({ ...config, ...runtime, findCluster, count, reload, now }))
  app.route(
    '/',
    createExplainRoute({
      admit: (c) => admission.admitExplain(c),
      explain: (message, client, c) => gateway.explain(message, client, c),
    }),
  )
  app.use('/v1/tokens/*', async (c, next) => {
    await next()
    if (c.req.method !== 'GET' && c.res.ok) await admission.reloadTokens()
  })
  app.route('/', createExchangeRoute({ admission, config, now }))
  app.route('/', createAuditRoute(config, runtime))
  app.route('/', createStatusRoute(config, runtime, gateway))
  const takesCluster = matcherOf(config.objectClusters)
  const takesObjects = (id: string): boolean => takesCluster(id) && clusters.has(id)
  const audiences = jobAudiences(config)
  const tokenOptions = { ...config, ...runtime, now, advise, domainsOf, audiences, takesObjects }
  app.route('/', createTokenRoutes(tokenOptions))
  app.route('/', createNamesRoute(gateway, runtime))
  for (const path of ['/t/:token/*', '/dns-query', '/resolve', '/kit', '/kit/:file']) {
    app.use(path, async (c, next) => {
      const token = c.req.param('token')
      if (admission.isCold(c, token)) prepare(gateway, c)
      await admission.admit(c, token)
      await next()
    })
  }
  const doh = createDohApp({
    isPrivate: () => gateway.isPrivate,
    answer: (message, c) => gateway.answer(message, c),
    headersOf: (c) => gateway.headersOf(c),
  })
  const visibilityOf = (c: Context): ClientVisibility | undefined =>
    admission.clientOf(c).visibility
  const originOf = (c: Context): string => runtime.urlOf(c).origin
  const hostnameOf = (token: string): Promise<string> => admission.hostnameOf(token)
  const kit = createKitRoute({ ...config.access, domainsOf, originOf, hostnameOf, visibilityOf })
  for (const client of [doh, kit]) {
    app.route('/', client)
    app.route('/t/:token', client)
  }
  return app
}

async function respondToError(
  error: Error,
  c: Context,
  { admission }: Gateway,
  { host: { log } }: GatewayRuntime,
): Promise<Response> {
  if (error instanceof StoreError) {
    log({ level: 'error', message: error.message, error: String(error.cause) })
  }
  if (error instanceof HttpError && error.status !== 401) return errorResponse(error)
  if (error instanceof HttpError) {
    // A client that guesses tokens soon gets a 429.
    const refusal = await admission.countRefused(c).catch((denied: unknown) => denied)
    return errorResponse(refusal instanceof HttpError ? refusal : error)
  }
  log({ level: 'error', message: 'a request failed', error: String(error) })
  return errorResponse(new HttpError(500, 'internal', 'Something went wrong here'))
}

/** Adds the routes that report on the gateway to operators, and its health to everybody. */
function addStatusRoutes(
  app: Hono,
  gateway: Gateway,
  { config, host }: { readonly config: GatewayConfig; readonly host: GatewayRuntime['host'] },
): void {
  // Probes and load balancers cannot keep a token, so this reveals nothing about the names.
  app.get('/healthz', () => uncached(200, null))
  app.get('/openapi.json', () => uncached(200, OPENAPI, { 'content-type': 'application/json' }))
  for (const path of ['/readyz', '/metrics']) {
    app.use(path, async (c, next) => {
      await checkStatusReader(c, config, gateway.clusters)
      await next()
    })
  }
  app.get('/readyz', async () => {
    const waiting = await gateway.zones.notReady()
    const isReady = waiting.length === 0
    const text = isReady ? 'OK' : waiting.join(',')
    return uncached(isReady ? 200 : 503, text, { 'content-type': 'text/plain' })
  })
  app.get('/metrics', async () => {
    const body = streamOf(await gateway.metrics(), createSharedPause(host))
    return uncached(200, body, { 'content-type': METRICS_TYPE })
  })
  app.get('/v1/conflicts', async (c) => {
    await checkAdmin(c, config.adminSha256s)
    return jsonResponse(200, await gateway.zones.conflicts())
  })
}
