import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'vitest'
import { collectionsFor } from '../../../src/cluster/api/object-api.ts'
import { SharedWatch } from '../../../src/cluster/api/shared-watch.ts'
import { describeObject } from '../../../src/cluster/objects/objects.ts'
import { FakeClock } from './fake-clock.ts'
import { page, ScriptedApi, value } from './scripted-api.ts'

const COLLECTIONS = collectionsFor({
  tree: {
    kind: 'hosts',
    resources: ['Ingress', 'DNSRecord'],
    router: { kind: 'addresses', addresses: [] },
    hasClusterIPs: false,
  },
  pods: 'disabled',
  hasEndpoints: false,
}).filter(({ kind }) => kind === 'Ingress' || kind === 'DNSRecord')

type Options = { readonly namespace?: string; readonly day?: number; readonly version?: number }

/** An Ingress with hosts, which was created on a day. */
function ingress(name: string, hosts: number, { namespace, day, version }: Options = {}): string {
  const rules = Array.from({ length: hosts }, (_, i) => `{ host: ${name}-${i}.a.test }`)
  const created = `creationTimestamp: 2026-01-0${day ?? 1}T00:00:00Z`
  const meta = `namespace: ${namespace ?? 'shop'}, name: ${name}, resourceVersion: "${version ?? 1}"`
  return `{ metadata: { ${meta}, ${created} }, spec: { rules: [${rules.join(', ')}] } }`
}

class Cluster {
  readonly api: ScriptedApi = new ScriptedApi()
  readonly clock: FakeClock = new FakeClock()
  private readonly lines: string[] = []

  constructor(t: TestContext) {
    const { sleep, elapsed } = this.clock
    const shared = new SharedWatch({
      ...{ api: this.api, sleep, elapsed, random: () => 1 },
      ...{ onWarning: assert.fail, onError: assert.fail },
      hostBounds: { eachMax: 10, wholeMax: 20 },
    })
    for (const collection of COLLECTIONS) {
      const { stop } = shared.follow(collection, {
        sink: {
          set: (object) => {
            const hosts = 'hosts' in object ? object.hosts.length : 0
            const { problem, record } = 'hosts' in object ? object : {}
            const why = problem ?? record?.refusal?.reason ?? ''
            this.lines.push(`${describeObject(object)} ${hosts} ${why}`.trimEnd())
          },
          delete: (kind, namespace, name) => this.lines.push(`no ${kind} ${namespace}/${name}`),
        },
        onChange: () => undefined,
        onClose: () => undefined,
      })
      t.onTestFinished(stop)
    }
  }

  async list(...items: readonly string[]): Promise<void> {
    this.api.answer('ingresses', page('5', `[${items.join(', ')}]`))
    await this.clock.advance(0)
  }

  news(): string[] {
    return this.lines.splice(0)
  }
}

const NO_ROOM = 'its namespace has too many hostnames, and older objects have them'

describe('objects whose namespace has too many hostnames', () => {
  test('have none while older ones have them', async (t) => {
    const cluster = new Cluster(t)
    await cluster.list(ingress('a', 6, { day: 2 }), ingress('b', 6), ingress('c', 4, { day: 3 }))
    assert.deepEqual(cluster.news(), [
      'Ingress shop/a 6',
      'Ingress shop/b 6',
      `Ingress shop/a 0 ${NO_ROOM}`,
      'Ingress shop/c 4',
    ])
  })

  test('are read again when there is room', async (t) => {
    const cluster = new Cluster(t)
    await cluster.list(ingress('a', 6), ingress('b', 6, { day: 2 }))
    cluster.api.watching('ingresses').open()
    cluster.news()
    cluster.api.watching('ingresses').send('DELETED', value(ingress('a', 6)))
    await cluster.clock.advance(1000)
    await cluster.list(ingress('b', 6, { day: 2 }))
    assert.deepEqual(cluster.news(), ['no Ingress shop/a', 'Ingress shop/b 6'])
    assert.deepEqual(
      cluster.api.calls.filter((call) => call.endsWith('ingresses')),
      ['list ingresses', 'list ingresses'],
    )
  })

  test('count together, whatever their kind', async (t) => {
    const cluster = new Cluster(t)
    await cluster.list(ingress('a', 10))
    const meta = 'namespace: shop, name: r, resourceVersion: "1"'
    const spec = '{ zone: a.test, name: r, type: A, values: [192.0.2.1] }'
    const created = 'creationTimestamp: 2026-01-09T00:00:00Z'
    const record = `{ metadata: { ${meta}, ${created} }, spec: ${spec} }`
    cluster.api.answer('dnsrecords', page('5', `[${record}]`))
    await cluster.clock.advance(0)
    assert.deepEqual(cluster.news().slice(1), [
      'DNSRecord shop/r 1',
      'DNSRecord shop/r 0 TooManyHostnames',
    ])
  })

  test('leave those of other namespaces alone', async (t) => {
    const cluster = new Cluster(t)
    const many = Array.from({ length: 20 }, (_, i) => ingress(`m${i}`, 1, { namespace: 'most' }))
    await cluster.list(...many, ingress('a', 9, { day: 9 }))
    const news = cluster.news()
    assert.equal(news.filter((line) => line.endsWith(NO_ROOM)).length, 10)
    assert.ok(news.includes('Ingress shop/a 9'))
  })
})
