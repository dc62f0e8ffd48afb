/**
 * The Worker: wires the gateway to its platform.
 * @module
 */
import type { Context, Hono } from 'hono'
import { isRecord } from '../src/bytes/unknown.ts'
import type { Client } from '../src/chain/plugin.ts'
import { errorResponse, HttpError } from '../src/doh/http-error.ts'
import { createGatewayApp, health } from '../src/gateway/app.ts'
import {
  type BlobStore,
  type ClusterBlobs,
  originWithBlobs,
  writerWithBlobs,
} from '../src/gateway/blob-store.ts'
import { type GatewayConfig, GatewayConfigError, readGatewayConfig } from '../src/gateway/config.ts'
import { DirectDoh } from '../src/gateway/direct-doh.ts'
import { Gateway, type GatewayRuntime } from '../src/gateway/gateway.ts'
import { ObservedGateway } from '../src/gateway/observed-gateway.ts'
import type { ClusterWriter } from '../src/gateway/publish-routes.ts'
import type { TokenStore } from '../src/gateway/token-store.ts'
import { parseManifest } from '../src/snapshot/format/manifest.ts'
import { pointWriter } from './analytics.ts'
import { kvBlobs, r2Blobs } from './blob-stores.ts'
import type { ClusterIdentity } from './cluster-object.ts'
import type { Env } from './env.ts'
import type { TokenObject } from './token-object.ts'
import { createWorkerHost } from './worker-host.ts'

/** Who asks where no platform says it. */
const LOOPBACK = '127.0.0.1'
/** When to ask again what was deployed wrongly. */
const RETRY_SECONDS = '60'
/** Where a segment of a path may consist of dots (RFC 3986 §5.2.4), escaped ones among them. */
const DOT_SEGMENT = /\/(?:\.|%2e)/i

export { ClusterObject } from './cluster-object.ts'
export { TokenObject } from './token-object.ts'

/** The gateway of this isolate: made by the first request, kept as long as the isolate lives. */
let served: { readonly app: Hono; readonly direct: DirectDoh } | undefined

export default {
  async fetch(sent: Request, env: Env, context: ExecutionContext): Promise<Response> {
    const request = withoutDots(sent)
    try {
      served ??= await createGateway(env)
    } catch (error) {
      if (!(error instanceof GatewayConfigError)) throw error
      if (new URL(request.url).pathname === '/healthz') return health(503)
      const later = { 'retry-after': RETRY_SECONDS }
      return errorResponse(new HttpError(503, 'misconfigured', error.message, later))
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

/** Resolves dots in the path as URLs have it, and as other runtimes do before we see a request. */
function withoutDots(request: Request): Request {
  const { url } = request
  return DOT_SEGMENT.test(url) ? new Request(new URL(url).href, request) : request
}

/**
 * Tells whether a request crossed a network without TLS (RFC 8484 §5), as the platform has it, or a
 * proxy before us. On one machine there is neither.
 */
function isInTheClear({ url, headers }: Request): boolean {
  const isFromOutside = headers.has('cf-ray') || headers.get('x-forwarded-proto') === 'http'
  return isFromOutside && url.startsWith('http:')
}

async function createGateway(env: Env): Promise<NonNullable<typeof served>> {
  const config = await readGatewayConfig(env)
  const runtime = createRuntime(env, config)
  const gateway = createObserved(env, config, runtime) ?? new Gateway(config, runtime)
  const app = createGatewayApp(config, runtime, gateway)
  return { app, direct: new DirectDoh(gateway, config) }
}

/** Where answers are to be counted. */
function createObserved(
  { ANALYTICS: dataset, ANALYTICS_NAMES: names }: Env,
  config: GatewayConfig,
  runtime: GatewayRuntime,
): Gateway | undefined {
  if (dataset === undefined) return undefined
  const options = { tell: pointWriter(dataset), wantsNames: names === 'true' }
  return new ObservedGateway(config, runtime, options)
}

async function answerDirectly(
  direct: DirectDoh,
  request: Request,
  context: ExecutionContext,
): Promise<Response | undefined> {
  const { url, method, headers: sent } = request
  const ticket = direct.admit({
    method,
    path: url.slice(url.indexOf('/', 'https://'.length)),
    header: (name) => sent.get(name),
    address: sent.get('cf-connecting-ip') ?? LOOPBACK,
    identities: () => identitiesOf(request),
  })
  if (ticket === undefined) return undefined
  const bytes = ticket.isPost ? new Uint8Array(await request.arrayBuffer()) : undefined
  const { status, headers, body } = await direct.answer(ticket, bytes, (promise) => {
    context.waitUntil(promise)
  })
  return new Response(body, { status, headers })
}

function createRuntime(env: Env, config: GatewayConfig): GatewayRuntime {
  const { LIMITER: limiter } = env
  const blobs = blobsOf(env)
  const host = createWorkerHost()
  const near = (cluster: string, store: BlobStore): ClusterBlobs => ({
    cluster,
    blobs: store,
    after: host.after,
    elapsed: host.elapsed,
    onError: (error) => {
      const message = 'KV or R2 fails; the cluster object has all shards'
      host.log({ level: 'error', message, cluster, error: String(error) })
    },
  })
  return {
    host,
    originOf: (cluster) => {
      const identity = identityOf(cluster, config)
      const origin = {
        readManifest: () => env.CLUSTER.getByName(cluster).readManifest(identity),
        readShard: (sha256: string) => env.CLUSTER.getByName(cluster).readShard(identity, sha256),
      }
      return blobs === undefined ? origin : originWithBlobs(origin, near(cluster, blobs))
    },
    writerOf: (cluster) => {
      const object = env.CLUSTER.getByName(cluster)
      const identity = identityOf(cluster, config)
      const writer: ClusterWriter = {
        putShard: (sha256, bytes) => object.putShard(identity, sha256, bytes),
        putManifest: (bytes, signature, expected) =>
          object.putManifest(identity, { bytes, signature }, expected),
        history: async () => object.history(identity),
        pin: async (generation) => object.pin(identity, generation),
        state: async () => {
          const state = await object.state(identity)
          return state && { manifest: parseManifest(state.bytes), etag: state.etag }
        },
      }
      if (blobs === undefined) return writer
      return writerWithBlobs(writer, near(cluster, blobs))
    },
    tokenStore: tokenStoreOf(env),
    randomBytes: (size) => crypto.getRandomValues(new Uint8Array(size)),
    fetch: (url) => fetch(url),
    clientOf,
    identitiesOf: (c) => identitiesOf(c.req.raw),
    ...(limiter === undefined
      ? {}
      : { limiter: { allow: async (key) => (await limiter.limit({ key })).success } }),
    keepAlive: (c, promise) => {
      c.executionCtx.waitUntil(promise)
    },
  }
}

/** What is bound is used; without either all is in the Durable Object, as on the free plan. */
function blobsOf({ SHARDS_R2: bucket, SHARDS_KV: kv }: Env): BlobStore | undefined {
  if (bucket !== undefined) return r2Blobs(bucket)
  return kv === undefined ? undefined : kvBlobs(kv)
}

/** A stub is for one request only, so each call gets its own. */
function tokenStoreOf(env: Env): TokenStore {
  const object = (): DurableObjectStub<TokenObject> => env.TOKENS.getByName('tokens')
  return {
    list: async () => object().list(),
    add: async (record) => object().add(record),
    replace: async (before, next) => object().replace(before, next),
    remove: async (id) => object().remove(id),
  }
}

function identityOf(cluster: string, { clusters }: GatewayConfig): ClusterIdentity {
  return { cluster, publicKey: clusters.get(cluster)?.publicKeyText ?? '' }
}

/** Cloudflare has checked the client's certificate against the zone's authorities. */
function identitiesOf({ cf }: Request): readonly string[] {
  const client = cf?.tlsClientAuth
  const isVerified = isRecord(client) && client.certVerified === 'SUCCESS'
  if (!isVerified || typeof client.certFingerprintSHA256 !== 'string') return []
  return [`cert:${client.certFingerprintSHA256.toLowerCase()}`]
}

/** The platform says who the client is, and no client can say otherwise. */
function clientOf(c: Context): Client {
  const address = c.req.header('cf-connecting-ip') ?? LOOPBACK
  return { address, port: 0, transport: 'https' }
}
