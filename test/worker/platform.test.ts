/** The Worker, KV, R2 and Analytics Engine together. */
import assert from 'node:assert/strict'
import { afterAll, beforeAll, describe, test } from 'vitest'
import {
  createGatewayClient,
  type GatewayClient,
  GatewayError,
} from '../../src/exporter/gateway-client.ts'
import { PUBLISHED_SHARD_BYTES_MAX } from '../../src/gateway/snapshots/publish-routes.ts'
import { sha256Hex } from '../../src/snapshot/format/signature.ts'
import { keys } from '../cluster/follow/memory-gateway.ts'
import { snapshotOf, WEB } from '../gateway/publishing.ts'
import { type Platform, type PlatformWorker, startPlatform } from './platform.ts'

const analytics_engine_datasets = [{ binding: 'ANALYTICS', dataset: 'kubedoh' }]
const KINDS = {
  KV: { kv_namespaces: [{ binding: 'SHARDS_KV', id: 'shards' }], analytics_engine_datasets },
  R2: { r2_buckets: [{ binding: 'SHARDS_R2', bucket_name: 'shards' }] },
}
const NAMES = { KV: 'with-kv', R2: 'with-r2' } as const
const URL_HERE = 'http://gateway.test'
const TOKEN = 'the-token-of-the-exporter'
const COREFILE = '. {\n  errors\n  kubernetes cluster.local {\n    cluster shop\n  }\n}\n'
const { privateKey, publicKeyText } = await keys()

/** A cluster that publishes to a Worker, and asks it. */
class Shop {
  readonly worker: PlatformWorker
  readonly client: GatewayClient
  private generation = 0
  private etag: string | undefined

  constructor(worker: PlatformWorker) {
    this.worker = worker
    const { fetch } = worker
    this.client = createGatewayClient({ url: URL_HERE, cluster: 'shop', token: TOKEN, fetch })
  }

  /** Publishes `web` with an address of its own; resolves with the address. */
  async publish(): Promise<string> {
    const address = `10.96.0.${++this.generation}`
    const { shards, signed } = await snapshotOf(privateKey, [WEB.replace('10.96.0.80', address)], {
      generation: this.generation,
      time: new Date().toISOString(),
    })
    for (const [sha256, bytes] of shards) await this.client.putShard(sha256, bytes)
    const result = await this.client.putManifest(signed.bytes, signed.signature, this.etag)
    this.etag = result.kind === 'stored' ? result.etag : assert.fail(result.kind)
    return address
  }

  /** The addresses of `web`, or what else a name has. */
  async ask(name = 'web.shop.svc.cluster.local', type = 'A'): Promise<string> {
    const response = await this.get(`/resolve?name=${name}&type=${type}`)
    const text = await response.text()
    return [...text.matchAll(/"data": ?"([^"]+)"/g)].map(([, data]) => data).join()
  }

  /** Asks again and again, as clients do; the runner's time limit ends it. */
  async until(address: string): Promise<void> {
    while ((await this.ask()) !== address) await new Promise((resolve) => setTimeout(resolve, 50))
  }

  get(path: string): Promise<Response> {
    return this.worker.fetch(`${URL_HERE}${path}`)
  }

  async counts(): Promise<unknown> {
    return (await this.get('/test/counts')).json()
  }
}

describe('on the platform as wrangler simulates it', () => {
  let platform: Platform | undefined
  beforeAll(async () => {
    const tokenSha256 = await sha256Hex(new TextEncoder().encode(TOKEN))
    const CLUSTERS = JSON.stringify({ shop: { publicKey: publicKeyText, tokenSha256 } })
    const workers = { [NAMES.KV]: KINDS.KV, [NAMES.R2]: KINDS.R2 }
    platform = await startPlatform(workers, { COREFILE, CLUSTERS, PUBLIC: 'true' })
  })
  afterAll(() => platform?.stop())
  const shopOn = (kind: keyof typeof NAMES): Shop =>
    new Shop(platform?.worker(NAMES[kind]) ?? assert.fail('the platform did not start'))

  for (const kind of ['KV', 'R2'] as const) {
    test(`a gateway with ${kind} reads from the first snapshot on, without failed reads`, async () => {
      const shop = shopOn(kind)
      const own = (await shop.worker.blobKeys()).length
      assert.equal(await shop.ask(), '')
      for (let published = 1; published <= 8; published++) {
        const address = await shop.publish()
        if (published % 4 === 0) await shop.until(address)
      }
      assert.deepEqual(await shop.counts(), { reads: 1, misses: 0 })

      const listed = (await shop.worker.shardsOf('shop')).map((hash) => `shards/shop/${hash}`)
      const there = await shop.worker.blobKeys()
      assert.deepEqual(there.filter((key) => key.startsWith('shards/shop/')).sort(), listed.sort())
      // The five newest generations, and the oldest.
      assert.equal(listed.length, 6)
      assert.equal(there.length, own + 6)

      await shop.get('/test/failing/put')
      await assert.rejects(shop.publish(), { name: 'GatewayError', status: 503 })
      await shop.get('/test/failing/delete')
      assert.equal(await shop.ask(), '10.96.0.8')
      const address = await shop.publish()
      await shop.until(address)
      await shop.get('/test/failing/nothing')
      assert.deepEqual(await shop.counts(), { reads: 1, misses: 0 })

      for (const fault of ['flip', 'cut', 'empty', 'hang']) {
        await shop.get(`/test/reading/${fault}`)
        await shop.until(await shop.publish())
      }
      await shop.get('/test/reading/well')
    })
  }

  test('a shard that is too large is refused, and what was served stays', async () => {
    const shop = shopOn('KV')
    const answer = await shop.ask()
    const large = new Uint8Array(PUBLISHED_SHARD_BYTES_MAX + 1)
    const sha256 = await sha256Hex(large)
    const statusOf = async (): Promise<number | undefined> => {
      const error = await shop.client.putShard(sha256, large).catch((reason: unknown) => reason)
      assert.ok(error instanceof GatewayError)
      return error.status
    }
    // workerd responds before it has the body, and closes: the client may fail to write first.
    let status = await statusOf()
    for (let tries = 0; tries < 20 && status === undefined; tries++) status = await statusOf()
    assert.equal(status, 413)
    assert.equal(await shop.ask(), answer)
    assert.deepEqual(await shop.counts(), { reads: 1, misses: 0 })
  })

  test('a point is written for each answer, and no answer waits for one or fails with it', async () => {
    const shop = shopOn('KV')
    const points = async (): Promise<unknown[]> => {
      const all: unknown = await (await shop.get('/test/points')).json()
      return Array.isArray(all) ? all : []
    }
    const before = (await points()).length
    const answer = await shop.ask()
    assert.notEqual(answer, '')
    await shop.ask('none.test', 'TXT')
    const [one, other, ...more] = (await points()).slice(before)
    assert.deepEqual(more, [])
    // As miniflare makes `request.cf` up.
    const place = ['DFW', 'US']
    assert.partialDeepStrictEqual(one, {
      indexes: ['shop'],
      blobs: ['shop', 'NOERROR', 'A', 'JSON', 'fresh', '', '', ...place],
    })
    assert.partialDeepStrictEqual(other, {
      indexes: [''],
      blobs: ['', 'SERVFAIL', 'TXT', 'JSON', '', '', '', ...place],
    })

    await shop.get('/test/failing/writeDataPoint')
    assert.equal(await shop.ask(), answer)
    await shop.get('/test/failing/nothing')
    assert.equal((await points()).length, before + 2)
    assert.deepEqual(await (await shopOn('R2').get('/test/points')).json(), [])
  })
})
