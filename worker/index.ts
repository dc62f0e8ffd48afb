/**
 * The Worker: wires the gateway to Cloudflare.
 * @module
 */
import type { Context, Hono } from 'hono'
import { isRecord } from '../src/dns/bytes/unknown.ts'
import type { TokenStore } from '../src/gateway/access/token-store.ts'
import {
  type GatewayConfig,
  GatewayConfigError,
  readGatewayConfig,
} from '../src/gateway/config/config.ts'
import { readVariableFiles } from '../src/gateway/config/variable-files.ts'
import { errorResponse, HttpError } from '../src/gateway/doh/http-error.ts'
import { uncached } from '../src/gateway/doh/json-response.ts'
import { createGatewayApp } from '../src/gateway/routes/app.ts'
import { DirectDoh } from '../src/gateway/routes/direct-doh.ts'
import { Gateway, type GatewayRuntime } from '../src/gateway/routes/gateway.ts'
import {
  type BlobStore,
  type ClusterBlobs,
  originWithBlobs,
  writerWithBlobs,
} from '../src/gateway/snapshots/blob-store.ts'
import type { Client } from '../src/resolver/contract/client.ts'
import { pointWriter } from './analytics.ts'
import { kvBlobs, r2Blobs } from './blob-stores.ts'
import { ClusterStub } from './cluster-stub.ts'
import type { Env } from './env.ts'
import type { TokenObject } from './token-object.ts'
import { createWorkerHost, logError } from './worker-host.ts'

/** The client's address outside of Cloudflare, as in tests. */
const LOOPBACK = '127.0.0.1'
/** When clients of a misconfigured gateway may try again. */
const RETRY_SECONDS = '60'
/** A variable in a Corefile. Its value may be a secret, and errors quote words of the Corefile. */
const VARIABLE = /\{[$%]/
const IN_LOG = 'The configuration is invalid; the log of the Worker says where'
/** A path with segments of dots (RFC 3986 §5.2.4), which may be percent-encoded. */
const DOT_SEGMENT = /\/(?:\.|%2e)/i

export { ClusterObject } from './cluster-object.ts'
export { TokenObject } from './token-object.ts'

/** The gateway of this isolate, created by its first request. */
let served: { readonly app: Hono; readonly direct: DirectDoh } | undefined

export default {
  async fetch(sent: Request, env: Env, context: ExecutionContext): Promise<Response> {
    const request = withoutDots(sent)
    try {
      served ??= await createGateway(env)
    } catch (error) {
      if (!(error instanceof GatewayConfigError)) throw error
      if (new URL(request.url).pathname === '/healthz') return uncached(503, null)
      logError(error.message)
      const later = { 'retry-after': RETRY_SECONDS }
      const message = VARIABLE.test(env.COREFILE ?? '') ? IN_LOG : error.message
      return errorResponse(new HttpError(503, 'misconfigured', message, later))
    }
    if (isInTheClear(request)) {
      return errorResponse(new HttpError(403, 'https_only', 'Use https:'))
    }
    return (
      (await answerDirectly(served.direct, request, context)) ??
      served.app.fetch(request, env, context)
    )
  },
}

/** Resolves dot segments (RFC 3986 §5.2.4), as Node, Bun and Deno do before the app runs. */
function withoutDots(request: Request): Request {
  const { url } = request
  return DOT_SEGMENT.test(url) ? new Request(new URL(url).href, request) : request
}

/**
 * Returns whether a request crossed a network without TLS (RFC 8484 §5), according to Cloudflare or
 * a proxy. On one machine there is neither.
 */
function isInTheClear({ url, headers }: Request): boolean {
  const isFromOutside = headers.has('cf-ray') || headers.get('x-forwarded-proto') === 'http'
  return isFromOutside && url.startsWith('http:')
}

async function createGateway(env: Env): Promise<NonNullable<typeof served>> {
  const files = readVariableFiles(env)
  const config = await readGatewayConfig(env, { file: 'COREFILE', source: files.source })
  const runtime = createRuntime(env, config, createWorkerHost(files))
  const gateway = await Gateway.open(config, runtime)
  const app = createGatewayApp(config, runtime, gateway)
  return { app, direct: new DirectDoh(gateway, config) }
}

async function answerDirectly(
  direct: DirectDoh,
  request: Request,
  context: ExecutionContext,
): Promise<Response | undefined> {
  const { url, method, headers: sent } = request
  const admitted = direct.admit({
    method,
    path: url.slice(url.indexOf('/', 'https://'.length)),
    header: (name) => sent.get(name),
    address: sent.get('cf-connecting-ip') ?? LOOPBACK,
    identities: () => identitiesOf(request),
  })
  if (admitted === undefined) return undefined
  const bytes = admitted.isPost ? new Uint8Array(await request.arrayBuffer()) : undefined
  const { status, headers, body } = await direct.answer(admitted, bytes, (promise) => {
    context.waitUntil(promise)
  })
  return new Response(body, { status, headers })
}

function createRuntime(
  env: Env,
  config: GatewayConfig,
  host: GatewayRuntime['host'],
): GatewayRuntime {
  const blobs = blobsOf(env)
  const stubOf = (cluster: string): ClusterStub => {
    const publicKey = config.clusters.get(cluster)?.publicKeyText ?? ''
    return new ClusterStub(env.CLUSTER, { cluster, publicKey })
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
    tokenStore: tokenStoreOf(env),
    randomBytes: (size) => crypto.getRandomValues(new Uint8Array(size)),
    fetch: (url) => fetch(url),
    clientOf,
    identitiesOf: (c) => identitiesOf(c.req.raw),
    ...limiterOf(env),
    ...observerOf(env),
    keepAlive: (c, promise) => c.executionCtx.waitUntil(promise),
  }
}

/** Without the binding, each isolate counts requests in its own memory. */
function limiterOf({ LIMITER: limiter }: Env): Pick<GatewayRuntime, 'limiter'> {
  if (limiter === undefined) return {}
  return { limiter: { allow: async (key) => (await limiter.limit({ key })).success } }
}

function observerOf({ ANALYTICS, ANALYTICS_NAMES }: Env): Pick<GatewayRuntime, 'observer'> {
  if (ANALYTICS === undefined) return {}
  return { observer: { onAnswer: pointWriter(ANALYTICS), wantsNames: ANALYTICS_NAMES === 'true' } }
}

/** Prefers R2 to KV; without either, shards are read from the Durable Object. */
function blobsOf({ SHARDS_R2: bucket, SHARDS_KV: kv }: Env): BlobStore | undefined {
  if (bucket !== undefined) return r2Blobs(bucket)
  return kv === undefined ? undefined : kvBlobs(kv)
}

/** A stub belongs to one request, so each call gets a stub of its own. */
function tokenStoreOf(env: Env): TokenStore {
  const object = (): DurableObjectStub<TokenObject> => env.TOKENS.getByName('tokens')
  return {
    list: async () => object().list(),
    add: async (record) => object().add(record),
    replace: async (before, next) => object().replace(before, next),
    remove: async (id) => object().remove(id),
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
function clientOf(c: Context): Client {
  const address = c.req.header('cf-connecting-ip') ?? LOOPBACK
  return { address, port: 0, transport: 'https' }
}
