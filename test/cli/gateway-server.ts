/**
 * A gateway's publishing on loopback, and the keys of the cluster `shop`.
 * @module
 */
import { randomBytes } from 'node:crypto'
import { Hono } from 'hono'
import type { TestContext } from 'vitest'
import { createClusterKeys } from '../../src/exporter/cluster-keys.ts'
import { readGatewayConfig } from '../../src/gateway/config/config.ts'
import { errorResponse, HttpError } from '../../src/gateway/doh/http-error.ts'
import { LocalWriter } from '../../src/gateway/snapshots/local-writer.ts'
import { createPublishRoutes } from '../../src/gateway/snapshots/publish-routes.ts'
import { createMemoryStore } from '../../src/gateway/snapshots/store.ts'
import { HttpServer } from '../../src/server/http/http-server.ts'
import type { Manifest } from '../../src/snapshot/format/manifest.ts'

/** The gateway, and what an exporter is told of it. */
export type GatewayServer = {
  readonly url: string
  /** The exporter's variables. */
  readonly environment: Readonly<Record<'KUBEDOH_TOKEN' | 'KUBEDOH_SIGNING_KEY', string>>
  /** What is published. */
  readonly manifest: () => Promise<Manifest | undefined>
}

/** Starts a gateway, which runs until its test ends. */
export async function startGatewayServer(t: TestContext): Promise<GatewayServer> {
  const { token, signingKey, publicKey, tokenSha256 } = await createClusterKeys()
  const config = await readGatewayConfig({
    COREFILE: '. {\n}\n',
    CLUSTERS: JSON.stringify({ shop: { publicKey, tokenSha256 } }),
  })
  const cluster = config.clusters.get('shop')
  if (cluster === undefined) throw new TypeError('The gateway has no cluster')
  const store = createMemoryStore()
  const { publicKey: key } = cluster
  const writer = new LocalWriter({ cluster: 'shop', publicKey: key, store, now: Date.now })
  const app = new Hono()
  app.onError((error) => {
    if (error instanceof HttpError) return errorResponse(error)
    throw error
  })
  const { clusters } = config
  app.route(
    '/',
    createPublishRoutes({
      findCluster: async (id) => clusters.get(id),
      writerOf: () => writer,
      count: async () => undefined,
      now: Date.now,
    }),
  )
  const server = new HttpServer(app)
  const port = await server.listen('127.0.0.1', 0)
  t.onTestFinished(() => server.close())
  return {
    url: `http://127.0.0.1:${port}`,
    environment: { KUBEDOH_TOKEN: token, KUBEDOH_SIGNING_KEY: signingKey },
    manifest: async () => (await writer.state())?.manifest,
  }
}

/** A token that no gateway knows. */
export function otherToken(): string {
  return randomBytes(32).toString('base64url')
}
