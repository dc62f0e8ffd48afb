/**
 * The Worker: wires the gateway to its platform.
 * @module
 */
import type { Context, Hono } from 'hono'
import { errorResponse, HttpError } from '../src/doh/http-error.ts'
import { createGatewayApp, type GatewayRuntime } from '../src/gateway/app.ts'
import { type GatewayConfig, GatewayConfigError, readGatewayConfig } from '../src/gateway/config.ts'
import type { Client } from '../src/plugins/plugin.ts'
import { parseManifest } from '../src/snapshot/manifest.ts'
import type { ClusterIdentity } from './cluster-object.ts'
import type { Env } from './env.ts'
import { createWorkerHost } from './worker-host.ts'

export { ClusterObject } from './cluster-object.ts'

/** The gateway of this isolate: made by the first request, kept as long as the isolate lives. */
let gateway: Hono | undefined

export default {
  async fetch(request: Request, env: Env, context: ExecutionContext): Promise<Response> {
    try {
      gateway ??= await createGateway(env)
    } catch (error) {
      if (!(error instanceof GatewayConfigError)) throw error
      return errorResponse(new HttpError(503, 'misconfigured', error.message))
    }
    return gateway.fetch(request, env, context)
  },
}

async function createGateway(env: Env): Promise<Hono> {
  const config = await readGatewayConfig(env)
  return createGatewayApp(config, createRuntime(env, config))
}

function createRuntime(env: Env, config: GatewayConfig): GatewayRuntime {
  return {
    host: createWorkerHost(),
    originOf: (cluster) => ({
      readManifest: () => env.CLUSTER.getByName(cluster).readManifest(),
      readShard: (sha256) => env.CLUSTER.getByName(cluster).readShard(sha256),
    }),
    writerOf: (cluster) => {
      const object = env.CLUSTER.getByName(cluster)
      const identity = identityOf(cluster, config)
      return {
        putShard: (sha256, bytes) => object.putShard(identity, sha256, bytes),
        putManifest: (bytes, signature, expected) =>
          object.putManifest(identity, { bytes, signature }, expected),
        state: async () => {
          const state = await object.state()
          return state && { manifest: parseManifest(state.bytes), etag: state.etag }
        },
      }
    },
    clientOf,
    keepAlive: (c, promise) => {
      c.executionCtx.waitUntil(promise)
    },
  }
}

function identityOf(cluster: string, { clusters }: GatewayConfig): ClusterIdentity {
  return { cluster, publicKey: clusters.get(cluster)?.publicKeyText ?? '' }
}

/** The platform says who the client is, and no client can say otherwise. */
function clientOf(c: Context): Client {
  const address = c.req.header('cf-connecting-ip') ?? '127.0.0.1'
  return { address, port: 0, transport: 'https' }
}
