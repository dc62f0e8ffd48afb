/** Which manifests a query has a gateway read again. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'vitest'
import { createMemoryTokenStore } from '../../../src/gateway/access/token-store.ts'
import { readGatewayConfig } from '../../../src/gateway/config/config.ts'
import { Gateway } from '../../../src/gateway/routes/gateway.ts'
import { type ClusterStore, createMemoryStore } from '../../../src/gateway/snapshots/store.ts'
import type { Client } from '../../../src/resolver/contract/client.ts'
import { keys } from '../../cluster/follow/memory-gateway.ts'
import { FakeHost } from '../../fake-host.ts'
import { parseQuestion } from '../../message-text.ts'
import { snapshotOf, WEB } from '../publishing.ts'

const CLIENT: Client = { address: '192.0.2.1', port: 0, transport: 'https' }
const { privateKey, publicKeyText: publicKey } = await keys()
const COREFILE = `c1.test {
  kubernetes {
    cluster c1
  }
}
c2.test {
  rewrite name suffix .c2.test .c3.test
  kubernetes c3.test {
    cluster c3
  }
}
`

/** A gateway of many clusters that counts reads of their manifests. */
class Many {
  readonly host = new FakeHost({ isGateway: true })
  readonly reads = new Map<string, number>()
  readonly gateway: Promise<Gateway>

  constructor(count: number) {
    this.gateway = this.open(count)
  }

  private async open(count: number): Promise<Gateway> {
    const ids = Array.from({ length: count }, (_, i) => `c${i + 1}`)
    const more = ids.slice(3).map((id) => `${id}.test {\n  kubernetes {\n    cluster ${id}\n  }\n}`)
    const clusters = ids.map((id) => [id, { publicKey, tokenSha256: 'a'.repeat(64) }])
    const config = await readGatewayConfig({
      COREFILE: `${COREFILE}${more.join('\n')}\n`,
      CLUSTERS: JSON.stringify(Object.fromEntries(clusters)),
    })
    const stores = new Map<string, ClusterStore>()
    for (const id of ids) stores.set(id, await this.storeOf(id))
    return Gateway.open(config, {
      host: this.host,
      originOf: (id) => {
        const store = stores.get(id) ?? assert.fail(`no cluster ${id}`)
        return {
          readManifest: () => {
            this.reads.set(id, (this.reads.get(id) ?? 0) + 1)
            return store.readManifest()
          },
          readShard: store.readShard,
        }
      },
      writerOf: () => assert.fail('no write is expected'),
      tokenStore: createMemoryTokenStore(),
      randomBytes,
      clientOf: () => CLIENT,
      identitiesOf: () => [],
      fetch: () => Promise.reject(new Error('no request is expected')),
      keepAlive: () => undefined,
    })
  }

  private async storeOf(cluster: string): Promise<ClusterStore> {
    const store = createMemoryStore()
    const time = new Date(this.host.now()).toISOString()
    const { signed, shards } = await snapshotOf(privateKey, [WEB], { cluster, time })
    for (const [sha256, bytes] of shards) await store.writeShard(sha256, bytes, 0)
    await store.writeManifest(1, signed, { generations: new Set() })
    return store
  }

  /** Sends a query 0.4 s after the last one, and returns the response code. */
  async ask(name: string): Promise<number> {
    await this.host.advance(400)
    const gateway = await this.gateway
    const incoming = gateway.read(parseQuestion(`${name} A`).message, CLIENT)
    const head = { path: '/dns-query', header: () => undefined }
    const kept: Promise<void>[] = []
    const arrival = { method: 'GET', head } as const
    const reply = await gateway.answerFor(incoming, (one) => kept.push(one), arrival)
    await Promise.all(kept)
    return (reply?.[3] ?? 15) & 15
  }
}

describe('a query has read again', () => {
  test('the manifest of its own cluster, and none of the other 299', async () => {
    const many = new Many(300)
    for (let i = 0; i < 10; i++) assert.equal(await many.ask('web.shop.svc.c1.test'), 0)
    assert.deepEqual([...many.reads], [['c1', 10]])
  })

  test('the manifest of the cluster that it is rewritten for', async () => {
    const many = new Many(3)
    for (let i = 0; i < 10; i++) assert.equal(await many.ask('web.shop.svc.c2.test'), 0)
    assert.deepEqual([...many.reads], [['c3', 10]])
  })
})

test('the metrics have the ages of now, also of clusters that nobody has queried', async () => {
  const many = new Many(3)
  await many.ask('web.shop.svc.c1.test')
  await many.host.advance(3000)
  const gateway = await many.gateway
  const texts = [...(await gateway.metrics())].join('')
  assert.match(texts, /^kubedoh_snapshot_age_seconds\{cluster="c1"\} 3\.4$/m)
  assert.match(texts, /^kubedoh_snapshot_age_seconds\{cluster="c3"\} 3$/m)
  assert.match(texts, /^kubedoh_gateway_metrics_scope\{scope="process"\} 1$/m)
  assert.deepEqual(Object.fromEntries(many.reads), { c1: 2, c3: 1 })
})

test('the metrics read 64 clusters that nobody has queried, and no more the next time', async () => {
  const many = new Many(80)
  const gateway = await many.gateway
  for (let i = 0; i < 2; i++) {
    await gateway.metrics()
    await many.host.advance(3000)
  }
  assert.equal(many.reads.size, 64)
})
