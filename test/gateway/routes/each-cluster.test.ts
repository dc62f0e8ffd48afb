/** `cluster *` at a gateway: zones of all clusters that publish, from one directive. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'vitest'
import type { DirectoryEntry } from '../../../src/gateway/access/cluster-directory.ts'
import { KnownClusters } from '../../../src/gateway/access/known-clusters.ts'
import { visibilityOf } from '../../../src/gateway/access/token.ts'
import { createMemoryTokenStore } from '../../../src/gateway/access/token-store.ts'
import { readGatewayConfig } from '../../../src/gateway/config/config.ts'
import { Gateway } from '../../../src/gateway/routes/gateway.ts'
import { createMemoryStore } from '../../../src/gateway/snapshots/store.ts'
import type { Client, ClientVisibility } from '../../../src/resolver/contract/client.ts'
import { keys } from '../../cluster/follow/memory-gateway.ts'
import { FakeHost } from '../../fake-host.ts'
import { formatReply, parseQuestion } from '../../message-text.ts'
import { expectedFor, NEXT, nextUpstream } from '../../next-upstream.ts'
import { snapshotOf, WEB } from '../publishing.ts'
import { WHOLE_SCOPE } from '../whole-scope.ts'

const { privateKey, publicKeyText: publicKey } = await keys()
const EACH = `. {
  kubernetes *.k8s.test *.k8s.example.org {
    cluster *
  }
  forward . 192.0.2.53
}
`

/** A gateway, and how often the manifest of each cluster was read. */
class Many {
  readonly reads: string[] = []
  readonly gateway: Gateway
  /** The clusters of the directory; `undefined` where it cannot be read. */
  listed: readonly DirectoryEntry[] | undefined = []
  private readonly host: FakeHost

  private constructor(gateway: Gateway, host: FakeHost, reads: string[]) {
    this.gateway = gateway
    this.host = host
    this.reads = reads
  }

  /** Opens a gateway whose directory is `listed`. */
  static async follow(COREFILE: string, ids: readonly string[]): Promise<Many> {
    const list = async (): Promise<readonly DirectoryEntry[]> => {
      return many.listed ?? assert.fail('the directory is away')
    }
    const many = await Many.open(COREFILE, ids, list)
    return many
  }

  /** Replaces the directory, and sends a query once it is due. */
  async list(...ids: readonly string[]): Promise<void> {
    this.listed = ids.map((id) => entryOf(id))
    await this.ask('k8s.test')
    await this.host.advance(1000)
    await this.ask('k8s.test')
  }

  /** The series of a cluster. */
  async series(cluster: string): Promise<string[]> {
    const text = [...(await this.gateway.metrics())].join('')
    return text.split('\n').filter((line) => line.includes(`"${cluster}"`))
  }

  static async open(
    COREFILE: string,
    ids: readonly string[],
    list?: () => Promise<readonly DirectoryEntry[]>,
  ): Promise<Many> {
    const host = new FakeHost({ isGateway: true, upstream: nextUpstream })
    const clusters = ids.map((id) => [id, { publicKey, tokenSha256: 'a'.repeat(64) }])
    const CLUSTERS = JSON.stringify(Object.fromEntries(clusters))
    const config = await readGatewayConfig({ COREFILE, CLUSTERS })
    const reads: string[] = []
    const known = new KnownClusters(config.clusters)
    const gateway = await Gateway.open(config, {
      host,
      originOf: (id) => {
        const stored = storeOf(id, host.now())
        return {
          readManifest: async () => {
            reads.push(id)
            return (await stored).readManifest()
          },
          readShard: async (sha256) => (await stored).readShard(sha256),
        }
      },
      writerOf: () => assert.fail('no write is expected'),
      tokenStore: createMemoryTokenStore(),
      ...(list && {
        directory: { ...NO_CHANGES, clusters: known, store: { ...NO_CHANGES, list } },
      }),
      randomBytes,
      clientOf: () => assert.fail('no request is expected'),
      identitiesOf: () => [],
      fetch: () => Promise.reject(new Error('no request is expected')),
      keepAlive: () => undefined,
    })
    return new Many(gateway, host, reads)
  }

  async pass(durationMs: number): Promise<void> {
    await this.host.advance(durationMs)
  }

  /** Sends a query 0.4 s after the last one, and returns the reply's lines. */
  async ask(name: string, visibility?: ClientVisibility): Promise<string[]> {
    await this.host.advance(400)
    const client: Client = {
      ...{ address: '192.0.2.1', port: 0, transport: 'https' },
      ...(visibility && { visibility }),
    }
    const incoming = this.gateway.read(parseQuestion(`${name} A`).message, client)
    const head = { path: '/dns-query', header: () => undefined }
    const kept: Promise<void>[] = []
    const arrival = { method: 'GET', head } as const
    const reply = await this.gateway.answerFor(incoming, (one) => kept.push(one), arrival)
    await Promise.all(kept)
    return reply === undefined ? [] : formatReply(reply)
  }
}

const NO_CHANGES = {
  add: () => assert.fail('no change is expected'),
  addAll: () => assert.fail('no change is expected'),
  replace: () => assert.fail('no change is expected'),
  remove: () => assert.fail('no change is expected'),
  removeSnapshots: () => assert.fail('no change is expected'),
}

function entryOf(id: string, createdMs = 1): DirectoryEntry {
  return { id, createdMs, keys: [{ publicKey, tokenSha256: 'a'.repeat(64), createdMs }] }
}

/** What a cluster has: an address of its own. */
async function storeOf(
  cluster: string,
  nowMs: number,
): Promise<ReturnType<typeof createMemoryStore>> {
  const store = createMemoryStore()
  const line = WEB.replace('10.96.0.80', `192.0.2.${cluster.length}`)
  const time = new Date(nowMs).toISOString()
  const { signed, shards } = await snapshotOf(privateKey, [line], { cluster, time })
  for (const [sha256, bytes] of shards) await store.writeShard(sha256, bytes, 0)
  await store.writeManifest(1, signed, { generations: new Set() })
  return store
}

describe('cluster *', () => {
  test('answers for each cluster, in each of its zones, as a directive of its own does', async () => {
    const many = await Many.open(EACH, ['prod', 'a'])
    const blocks = ['prod', 'a'].map(
      (id) => `${id}.k8s.test {\n kubernetes ${id}.k8s.test {\n  cluster ${id}\n }\n}\n`,
    )
    const apart = await Many.open(blocks.join(''), ['prod', 'a'])
    for (const id of ['prod', 'a', 'prod']) {
      for (const name of ['web.shop.svc', 'nosuch.shop.svc', 'shop.svc', '']) {
        const whole = `${name}${name === '' ? '' : '.'}${id}.k8s.test`
        assert.deepEqual(await many.ask(whole), await apart.ask(whole), whole)
      }
    }
    const [, record] = await many.ask('web.shop.svc.prod.k8s.example.org')
    assert.equal(record, 'web.shop.svc.prod.k8s.example.org. 5 IN A 192.0.2.4')
    assert.match(`${await many.ask('WEB.shop.svc.A.k8s.test')}`, /192\.0\.2\.1$/)
  })

  test('leaves names of no cluster, and those above, to the next plugin', async () => {
    const many = await Many.open(EACH, ['prod'])
    for (const name of ['web.shop.svc.lab.k8s.test', 'k8s.test', 'web.prod.example.org']) {
      assert.deepEqual(await many.ask(name), expectedFor(name, NEXT))
    }
    assert.deepEqual(many.reads, [])
  })

  test('hides a cluster from clients that do not see it, as if it did not publish', async () => {
    const many = await Many.open(EACH, ['prod', 'lab'])
    const seesLab = visibilityOf({ ...WHOLE_SCOPE, clusters: ['lab'] })
    const ask = (id: string): Promise<string[]> => many.ask(`web.shop.svc.${id}.k8s.test`, seesLab)
    assert.match(`${await ask('lab')}`, /192\.0\.2\.3/)
    await many.ask('web.shop.svc.prod.k8s.test')
    assert.match(`${await ask('none')}`, /192\.0\.2\.80$/)
    assert.match(`${await ask('prod')}`, /192\.0\.2\.80$/)
  })

  test('reads the manifest of the cluster that is asked for, of a thousand', async () => {
    const ids = Array.from({ length: 1000 }, (_, i) => `c${i}`)
    const many = await Many.open(EACH, ids)
    for (let i = 0; i < 5; i++) await many.ask('web.shop.svc.c777.k8s.test')
    assert.deepEqual([...new Set(many.reads)], ['c777'])
    assert.equal(many.gateway.zones.all.length, 2)
    many.gateway.zones.openAll(undefined)
    assert.equal(many.gateway.zones.all.length, 1002)
    assert.equal(new Set(many.reads).size, 1)
  })
})

describe('cluster * and a directory of clusters', () => {
  const web = (id: string): string => `web.shop.svc.${id}.k8s.test`

  test('answers for a cluster once it is listed, and not after it is removed', async () => {
    const many = await Many.follow(EACH, ['prod'])
    assert.deepEqual(await many.ask(web('lab')), expectedFor(web('lab'), NEXT))
    await many.list('lab')
    assert.match(`${await many.ask(web('lab'))}`, /192\.0\.2\.3$/)
    assert.equal((await many.series('lab')).length, 4)
    await many.list()
    assert.deepEqual(await many.ask(web('lab')), expectedFor(web('lab'), NEXT))
    assert.match(`${await many.ask(web('prod'))}`, /192\.0\.2\.4$/)
    assert.deepEqual(
      many.gateway.zones.all.map(({ parts }) => parts[0]?.cluster),
      ['prod', 'prod'],
    )
    assert.deepEqual(
      [[...many.gateway.zones.readers.keys()], await many.series('lab')],
      [['prod'], []],
    )
    await many.list('lab')
    assert.match(`${await many.ask(web('lab'))}`, /192\.0\.2\.3$/)
  })

  test('has the first query wait for the directory, also of a client without a token', async () => {
    const many = await Many.follow(EACH, [])
    many.listed = [entryOf('lab')]
    assert.match(`${await many.ask(web('lab'))}`, /192\.0\.2\.3$/)
  })

  test('fails for an unknown name while the directory was never read, and for no other', async () => {
    const many = await Many.follow(EACH, ['prod'])
    many.listed = undefined
    assert.match(`${await many.ask(web('lab'))}`, /^SERVFAIL/)
    assert.match(`${await many.ask(web('prod'))}`, /192\.0\.2\.4$/)
    assert.deepEqual(await many.ask('www.example.net'), expectedFor('www.example.net', NEXT))
    await many.list('lab')
    many.listed = undefined
    await many.pass(120_000)
    assert.match(`${await many.ask(web('lab'))}`, /192\.0\.2\.3$/)
  })

  test('reads no origin for names that no cluster has', async () => {
    const many = await Many.follow(EACH, ['prod'])
    await many.list('lab')
    for (const id of ['unknown', 'x', 'lab2']) await many.ask(web(id))
    assert.deepEqual(many.reads, [])
  })

  test('opens no cluster of the directory for a directive that names it', async () => {
    const many = await Many.follow(EACH, [])
    await many.list('lab')
    const named = '. {\n kubernetes lab.test {\n  cluster lab\n }\n}\n'
    await assert.rejects(Many.follow(named, ['prod']), /CLUSTERS has no cluster "lab"/)
  })

  test('reads one manifest for queries for one of 5,000 clusters', async () => {
    const many = await Many.follow(EACH, ['prod'])
    await many.list(...Array.from({ length: 5000 }, (_, i) => `c${i}`))
    for (let i = 0; i < 5; i++) await many.ask(web('c4777'))
    assert.deepEqual([...new Set(many.reads)], ['c4777'])
    many.gateway.zones.openAll(undefined)
    assert.equal(many.gateway.zones.readers.size, 501)
  })
})

test('cluster * needs a gateway, and zones with a place for the identifier', async () => {
  const wrong = EACH.replace('*.k8s.test', 'k8s.test')
  await assert.rejects(Many.open(wrong, ['prod']), /needs zones such as \*\.k8s\.example\.org/)
})
