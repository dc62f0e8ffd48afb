/**
 * The Worker: wires the gateway to Cloudflare.
 * @module
 */
import { WorkerEntrypoint } from 'cloudflare:workers'
import type { Hono } from 'hono'
import { isRecord } from '../src/dns/bytes/unknown.ts'
import { KnownClusters } from '../src/gateway/access/known-clusters.ts'
import { usesLabels } from '../src/gateway/access/token.ts'
import { parseTokenUpdate, type TokenStore } from '../src/gateway/access/token-store.ts'
import {
  type GatewayConfig,
  GatewayConfigError,
  readGatewayConfig,
  refuseProxyProtocol,
} from '../src/gateway/config/config.ts'
import { readServiceScope } from '../src/gateway/config/service-scope.ts'
import { readVariableFiles } from '../src/gateway/config/variable-files.ts'
import { errorResponse, HttpError } from '../src/gateway/doh/http-error.ts'
import type { JsonReply } from '../src/gateway/doh/json-reply.ts'
import { uncached } from '../src/gateway/doh/json-response.ts'
import type { NameResolver } from '../src/gateway/doh/name-resolver.ts'
import { createGatewayApp } from '../src/gateway/routes/app.ts'
import { DirectDoh } from '../src/gateway/routes/direct-doh.ts'
import { Gateway, type GatewayRuntime } from '../src/gateway/routes/gateway.ts'
import { createNameService } from '../src/gateway/routes/name-service.ts'
import {
  type BlobStore,
  type ClusterBlobs,
  originWithBlobs,
  writerWithBlobs,
} from '../src/gateway/snapshots/blob-store.ts'
import { createWebHost, logError } from '../src/library/web-host.ts'
import { answerRequest } from '../src/library/web-request.ts'
import { pointWriter } from './analytics.ts'
import type { AuditObject } from './audit-object.ts'
import { blobsOf } from './blob-stores.ts'
import { type ClusterIdentity, ClusterStub } from './cluster-stub.ts'
import { directoryIn } from './directory-stub.ts'
import type { Env } from './env.ts'
import { cannotFollow, followObject, NOTHING_NEW } from './follow-object.ts'
import { placed } from './placement.ts'
import { restoreObject } from './restore-tokens.ts'
import type { TokenObject } from './token-object.ts'

/** The client's address outside of Cloudflare, as in tests. */
const LOOPBACK = '127.0.0.1'
/** When clients of a misconfigured gateway may try again. */
const RETRY_SECONDS = '60'
/** A variable in a Corefile. Its value may be a secret, and errors quote words of the Corefile. */
const VARIABLE = /\{[$%]/
const IN_LOG = 'The configuration is invalid; the log of the Worker says where'

export { AuditObject } from './audit-object.ts'
export { ClusterObject } from './cluster-object.ts'
export { TokenObject } from './token-object.ts'

/**
 * The gateway of this isolate, created by its first request; by several, if they come meanwhile. No
 * request waits for the promise of another one: `nextTurn`, which compiling a large Corefile waits
 * for, is a timer of the request that started it, and may never fire once that is cancelled.
 */
let served: Served | undefined
type Served = {
  readonly app: Hono
  readonly direct: DirectDoh
  readonly answerService: ReturnType<typeof createNameService>
}

/** What other Workers have bound as a service: names, within SERVICE_SCOPE. */
export class NameService extends WorkerEntrypoint<Env> implements NameResolver {
  /** Resolves a name, as {@link NameResolver} says. */
  async resolve(name: unknown, type?: unknown): Promise<JsonReply> {
    served ??= await openGateway(this.env)
    return served.answerService({ name, type }, (promise) => this.ctx.waitUntil(promise))
  }
}

export default {
  async fetch(request: Request, env: Env, context: ExecutionContext): Promise<Response> {
    try {
      served ??= await openGateway(env)
    } catch (error) {
      if (!(error instanceof HttpError)) throw error
      const isHealth = new URL(request.url).pathname === '/healthz'
      return isHealth ? uncached(503, null) : errorResponse(error)
    }
    if (isInTheClear(request)) {
      return errorResponse(new HttpError(403, 'https_only', 'Use https:'))
    }
    const { app, direct } = served
    return answerRequest(direct, (one) => app.fetch(one, env, context), request, {
      address: addressOf(request.headers),
      identities: () => identitiesOf(request),
      keepAlive: (promise) => context.waitUntil(promise),
    })
  },
} satisfies ExportedHandler<Env>

/**
 * Returns whether a request crossed a network without TLS (RFC 8484 §5), according to Cloudflare or
 * a proxy. On one machine there is neither.
 */
function isInTheClear({ url, headers }: Request): boolean {
  const isFromOutside = headers.has('cf-ray') || headers.get('x-forwarded-proto') === 'http'
  return isFromOutside && url.startsWith('http:')
}

/** @throws {HttpError} 503 for variables that are wrong, which the log has in full */
async function openGateway(env: Env): Promise<Served> {
  try {
    return await createGateway(env)
  } catch (error) {
    if (!(error instanceof GatewayConfigError)) throw error
    logError(error.message)
    const later = { 'retry-after': RETRY_SECONDS }
    const message = VARIABLE.test(env.COREFILE ?? '') ? IN_LOG : error.message
    throw new HttpError(503, 'misconfigured', message, later)
  }
}

async function createGateway(env: Env): Promise<Served> {
  const files = readVariableFiles(env)
  const config = await readGatewayConfig(env, { file: 'COREFILE', source: files.source })
  refuseProxyProtocol(config)
  const scope = readServiceScope(env.SERVICE_SCOPE)
  const runtime = {
    ...createRuntime(env, config, createWebHost({ runtime: 'workerd', files })),
    usesLabels: scope !== undefined && usesLabels(scope),
  }
  const gateway = await Gateway.open(config, runtime)
  const app = createGatewayApp(config, runtime, gateway)
  const answerService = createNameService(gateway, scope)
  return { app, direct: new DirectDoh(gateway, config), answerService }
}

function createRuntime(
  env: Env,
  config: GatewayConfig,
  host: GatewayRuntime['host'],
): GatewayRuntime {
  const blobs = blobsOf(env)
  const clusters = placed(env.CLUSTER, env)
  const known = new KnownClusters(config.clusters)
  const stubOf = (cluster: string): ClusterStub => {
    const identityOf = (): ClusterIdentity => {
      const publicKeys = known.find(cluster)?.publicKeyTexts ?? []
      const [publicKey = ''] = publicKeys
      return { cluster, publicKey, publicKeys }
    }
    return new ClusterStub(clusters, identityOf, host.after)
  }
  const nearOf = (cluster: string, store: BlobStore): ClusterBlobs => {
    const message = 'KV or R2 fails; the cluster object has all shards'
    const onError = (error: unknown): void =>
      host.log({ level: 'error', message, cluster, error: String(error) })
    return { cluster, blobs: store, after: host.after, elapsed: host.elapsed, onError }
  }
  return {
    host,
    originOf: (id) => (blobs ? originWithBlobs(stubOf(id), nearOf(id, blobs)) : stubOf(id)),
    writerOf: (id) => (blobs ? writerWithBlobs(stubOf(id), nearOf(id, blobs)) : stubOf(id)),
    tokenStore: tokenStoreOf(env, host),
    directory: {
      clusters: known,
      store: directoryIn(() => tokenObjectOf(env)),
      removeSnapshots: async (id) => clusters.getByName(id).removeCluster(id),
    },
    randomBytes: (size) => crypto.getRandomValues(new Uint8Array(size)),
    fetch: (url) => fetch(url, { redirect: 'manual' }),
    clientOf: (c) => ({ address: addressOf(c.req.raw.headers), port: 0, transport: 'https' }),
    identitiesOf: (c) => identitiesOf(c.req.raw),
    hasHttp3: env.HTTP3 === 'true',
    ...limiterOf(env),
    ...observerOf(env),
    ...auditStoreOf(env),
    keepAlive: (c, promise) => c.executionCtx.waitUntil(promise),
  }
}

/** Without the binding, each isolate counts requests in its own memory. */
function limiterOf({ LIMITER: limiter }: Env): Pick<GatewayRuntime, 'limiter'> {
  if (limiter === undefined) return {}
  return { limiter: { allow: async (key) => (await limiter.limit({ key })).success } }
}

function observerOf(env: Env): Pick<GatewayRuntime, 'observer'> {
  const { ANALYTICS, ANALYTICS_NAMES, ANALYTICS_TOKENS } = env
  if (ANALYTICS === undefined) return {}
  const onAnswer = pointWriter(ANALYTICS, { hasTokens: ANALYTICS_TOKENS !== 'false' })
  return { observer: { onAnswer, wantsNames: ANALYTICS_NAMES === 'true' } }
}

/** Without the binding, audit lines are in the log only. */
function auditStoreOf(env: Env): Pick<GatewayRuntime, 'auditStore'> {
  const { AUDIT } = env
  if (AUDIT === undefined) return {}
  const objects = placed(AUDIT, env)
  const object = (): DurableObjectStub<AuditObject> => objects.getByName('audit')
  return {
    auditStore: {
      add: async (line) => object().add(line),
      list: async (query) => object().list(query),
    },
  }
}

function tokenObjectOf(env: Env): DurableObjectStub<TokenObject> {
  return placed(env.TOKENS, env).getByName('tokens')
}

/** A stub belongs to one request, so each call gets a stub of its own. */
function tokenStoreOf(env: Env, { after }: Pick<GatewayRuntime['host'], 'after'>): TokenStore {
  const object = (): DurableObjectStub<TokenObject> => tokenObjectOf(env)
  return {
    list: async () => object().list(),
    follow: async (version, waitMs, take) => {
      const onMessage = (message: string | Uint8Array): boolean => {
        take(message === NOTHING_NEW ? undefined : parseTokenUpdate(String(message)))
        return true
      }
      try {
        await followObject(object(), { subject: '', version }, waitMs, { after, onMessage })
      } catch (error) {
        if (!cannotFollow(error)) throw error
        take({ version: '', isWhole: true, records: await object().list(), removed: [] })
      }
    },
    add: async (record) => object().add(record),
    addAll: async (records) => object().addAll(records),
    replace: async (before, next) => object().replace(before, next),
    remove: async (id) => object().remove(id),
    replaceObjects: async (cluster, wanted) => object().replaceObjects(cluster, wanted),
    restore: (atMs) => restoreObject(object, atMs),
    noteUse: async (days) => object().noteUse(days),
  }
}

/** Cloudflare has verified the client's certificate against the zone's authorities. */
function identitiesOf({ cf }: Request): readonly string[] {
  const client = cf?.tlsClientAuth
  const isVerified = isRecord(client) && client.certVerified === 'SUCCESS'
  if (!isVerified || typeof client.certFingerprintSHA256 !== 'string') return []
  return [`cert:${client.certFingerprintSHA256.toLowerCase()}`]
}

/** The platform sets this header; clients cannot. */
function addressOf(headers: Headers): string {
  return headers.get('cf-connecting-ip') ?? LOOPBACK
}
