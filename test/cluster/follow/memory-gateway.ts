/**
 * A gateway's publishing, in memory: the routes that a real one has, without a network.
 * @module
 */
import { Hono } from 'hono'
import { errorResponse, HttpError } from '../../../src/gateway/doh/http-error.ts'
import { LocalWriter } from '../../../src/gateway/snapshots/local-writer.ts'
import { createPublishRoutes } from '../../../src/gateway/snapshots/publish-routes.ts'
import { type ClusterStore, createMemoryStore } from '../../../src/gateway/snapshots/store.ts'
import {
  generateKeyPair,
  importPrivateKey,
  importPublicKey,
  type PrivateKey,
  type PublicKey,
  sha256Hex,
} from '../../../src/snapshot/format/signature.ts'

/** The gateway, and what an exporter needs to publish there. */
export type MemoryGateway = {
  readonly fetch: typeof fetch
  readonly store: ClusterStore
  readonly privateKey: PrivateKey
  readonly publicKey: PublicKey
}

/** Makes a gateway that takes the cluster `shop` from who has the token. */
export async function memoryGateway(token: string, now: () => number): Promise<MemoryGateway> {
  const { privateKey, publicKey, publicKeyText } = await keys()
  const tokenSha256 = await sha256Hex(new TextEncoder().encode(token))
  const store = createMemoryStore()
  const writer = new LocalWriter({ cluster: 'shop', publicKey, store, now })
  const app = new Hono()
  app.onError((error) => {
    if (error instanceof HttpError) return errorResponse(error)
    throw error
  })
  const clusters = new Map([
    ['shop', { publicKey, publicKeyTexts: [publicKeyText], tokenSha256s: [tokenSha256] }],
  ])
  app.route(
    '/',
    createPublishRoutes({
      findCluster: async (id) => clusters.get(id),
      writerOf: () => writer,
      count: async () => undefined,
      now,
    }),
  )
  return {
    fetch: async (input, init) => app.request(input, init),
    store,
    privateKey,
    publicKey,
  }
}

/** A new pair of keys, to sign and to check with. */
export async function keys(): Promise<{
  readonly privateKey: PrivateKey
  readonly publicKey: PublicKey
  readonly publicKeyText: string
}> {
  const texts = await generateKeyPair()
  const privateKey = await importPrivateKey(texts.privateKey)
  const publicKey = await importPublicKey(texts.publicKey)
  if (privateKey === undefined || publicKey === undefined) throw new TypeError('No keys')
  return { privateKey, publicKey, publicKeyText: texts.publicKey }
}
