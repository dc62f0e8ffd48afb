import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { visibilityOf } from '../../../../src/gateway/access/token.ts'
import { createResolver } from '../../../../src/resolver/chain/create-resolver.ts'
import { explainMessage } from '../../../../src/resolver/chain/explain.ts'
import type { ClientVisibility } from '../../../../src/resolver/contract/client.ts'
import { block, directive, parseBlocks, Server } from '../../../ask.ts'
import { type FakeClusterOptions, openFakeCluster } from '../../../fake-cluster.ts'
import { FakeHost } from '../../../fake-host.ts'
import { formatReply, parseQuestion } from '../../../message-text.ts'
import { expectedFor, NEXT, nextUpstream } from '../../../next-upstream.ts'
import { soa } from './objects.ts'

const NAMESPACES = `
- { kind: Namespace, metadata: { name: shop } }
- { kind: Namespace, metadata: { name: blog } }`
const PORTS = 'ports: [{ name: http, port: 80 }]'

function imported(name: string, spec: string): string {
  return `
- { kind: ServiceImport, metadata: { name: ${name}, namespace: shop }, spec: { ${spec}, ${PORTS} } }`
}

/** A Service with one endpoint, which is exported. */
function exported(name: string, endpoint: string, namespace = 'shop'): string {
  return `
- { kind: ServiceExport, metadata: { name: ${name}, namespace: ${namespace} } }
- { kind: Service, metadata: { name: ${name}, namespace: ${namespace} }, spec: { clusterIP: 192.0.2.99, ${PORTS} } }
- kind: EndpointSlice
  metadata: { name: ${name}-1, namespace: ${namespace}, labels: { kubernetes.io/service-name: ${name} } }
  endpoints: [{ addresses: [${endpoint}] }]
  ports: [{ name: http, port: 8080 }]`
}

/** A ServiceImport of endpoints, with one. */
function headless(name: string, endpoint: string, cluster: string): string {
  const labels = `{ multicluster.kubernetes.io/service-name: ${name}, multicluster.kubernetes.io/source-cluster: ${cluster} }`
  return `
- { kind: ServiceImport, metadata: { name: ${name}, namespace: shop }, spec: { type: Headless, ${PORTS} } }
- kind: EndpointSlice
  metadata: { name: ${name}-1, namespace: shop, labels: ${labels} }
  endpoints: [{ addresses: [${endpoint}] }]
  ports: [{ name: http, port: 8080 }]`
}

const ONE = [
  NAMESPACES,
  imported('web', 'ips: [192.0.2.1]'),
  exported('web', '198.51.100.1'),
  exported('api', '198.51.100.2'),
  exported('post', '198.51.100.3', 'blog'),
  imported('split', 'ips: [192.0.2.5]'),
  headless('mixed', '198.51.100.9', 'one'),
  headless('both', '198.51.100.11', 'one'),
].join('')
const TWO = [
  NAMESPACES,
  imported('web', 'ips: [192.0.2.2]'),
  exported('api', '203.0.113.2'),
  exported('cron', '203.0.113.3'),
  imported('split', 'ips: [192.0.2.6]').replace('port: 80', 'port: 81'),
  imported('mixed', 'ips: [192.0.2.7]'),
  headless('both', '203.0.113.11', 'two'),
].join('')

type Fakes = Readonly<Record<string, Partial<FakeClusterOptions>>>

/** A server of two clusters, which are as they should be unless something else is said of one. */
function serveMerged(fakes: Fakes = {}, ...options: readonly string[]): Server {
  const host = new FakeHost({ upstream: nextUpstream })
  const objects: Readonly<Record<string, string>> = { one: ONE, two: TWO }
  const line = directive('kubernetes clusterset.local', 'cluster one two', ...options)
  const blocks = parseBlocks(block(line, 'forward . 192.0.2.53'))
  const resolver = createResolver(blocks, {
    ...host,
    metrics: host.metrics,
    random16: () => 0,
    openCluster: (asked, tree) => {
      const { cluster = '' } = asked
      const fake = { objects: objects[cluster] ?? '', ...fakes[cluster], ...(tree && { tree }) }
      return openFakeCluster(fake, asked, [])
    },
  })
  return new Server(resolver, host)
}

const ZONE = 'shop.svc.clusterset.local'
const OK = 'NOERROR aa rd'

describe('names that clusters have together', () => {
  const cases: { name: string; ask: string; reply: readonly string[] }[] = [
    {
      name: 'are what ServiceImports say, where there is one',
      ask: `web.${ZONE} A`,
      reply: [OK, `web.${ZONE}. 5 IN A 192.0.2.1`],
    },
    {
      name: 'have no endpoints then that only an export has',
      ask: `198-51-100-1.one.web.${ZONE} A`,
      reply: ['NXDOMAIN aa rd', soa('clusterset.local')],
    },
    {
      name: 'are by an address of its own, where another has endpoints',
      ask: `mixed.${ZONE} A`,
      reply: [OK, `mixed.${ZONE}. 5 IN A 192.0.2.7`],
    },
    {
      name: 'have no endpoints then',
      ask: `198-51-100-9.one.mixed.${ZONE} A`,
      reply: ['NXDOMAIN aa rd', soa('clusterset.local')],
    },
    {
      name: 'have the ports of that address',
      ask: `mixed.${ZONE} SRV`,
      reply: [
        OK,
        `mixed.${ZONE}. 5 IN SRV 0 100 80 mixed.${ZONE}.`,
        `additional: mixed.${ZONE}. 5 IN A 192.0.2.7`,
      ],
    },
    {
      name: 'are the first cluster’s, where both have an address',
      ask: `split.${ZONE} A`,
      reply: [OK, `split.${ZONE}. 5 IN A 192.0.2.5`],
    },
    {
      name: 'are the endpoints of all, where ServiceImports say no more',
      ask: `both.${ZONE} A`,
      reply: [OK, `both.${ZONE}. 5 IN A 198.51.100.11`, `both.${ZONE}. 5 IN A 203.0.113.11`],
    },
    {
      name: 'are else the endpoints of all that export them',
      ask: `api.${ZONE} A`,
      reply: [OK, `api.${ZONE}. 5 IN A 198.51.100.2`, `api.${ZONE}. 5 IN A 203.0.113.2`],
    },
    {
      name: 'have endpoints by their cluster',
      ask: `203-0-113-2.two.api.${ZONE} A`,
      reply: [OK, `203-0-113-2.two.api.${ZONE}. 5 IN A 203.0.113.2`],
    },
    {
      name: 'may be one cluster’s only',
      ask: `cron.${ZONE} A`,
      reply: [OK, `cron.${ZONE}. 5 IN A 203.0.113.3`],
    },
    {
      name: 'have ports, of all of them',
      ask: `_http._tcp.api.${ZONE} SRV`,
      reply: [
        OK,
        `_http._tcp.api.${ZONE}. 5 IN SRV 0 100 8080 198-51-100-2.one.api.${ZONE}.`,
        `_http._tcp.api.${ZONE}. 5 IN SRV 0 100 8080 203-0-113-2.two.api.${ZONE}.`,
        `additional: 198-51-100-2.one.api.${ZONE}. 5 IN A 198.51.100.2`,
        `additional: 203-0-113-2.two.api.${ZONE}. 5 IN A 203.0.113.2`,
      ],
    },
    {
      name: 'may be there without data',
      ask: `web.${ZONE} AAAA`,
      reply: [OK, soa('clusterset.local')],
    },
    {
      name: 'are missing when no cluster has them',
      ask: `nosuch.${ZONE} A`,
      reply: ['NXDOMAIN aa rd', soa('clusterset.local')],
    },
    { name: 'are no transfer', ask: 'clusterset.local AXFR +tcp', reply: ['REFUSED rd'] },
    {
      name: 'leave other names to the next plugin',
      ask: 'www.example.org A',
      reply: NEXT,
    },
  ]
  for (const { name, ask, reply } of cases) {
    test(name, async () => {
      const found = await serveMerged().ask(ask)
      assert.deepEqual(found.sort(), [...expectedFor(ask, reply)].sort())
    })
  }

  test('have one SOA record', async () => {
    const [head, record = '', ...more] = await serveMerged().ask('clusterset.local SOA')
    assert.deepEqual([head, more], [OK, []])
    assert.match(record, /^clusterset\.local\. 5 IN SOA ns\.dns\.clusterset\.local\. /)
  })

  test('fall through where that is said', async () => {
    const server = serveMerged({}, 'fallthrough')
    const nosuch = `nosuch.${ZONE} A`
    assert.deepEqual(await server.ask(nosuch), expectedFor(nosuch, NEXT))
  })

  test('are the same when shards come later', async () => {
    const later = { presence: 'shards-later', shardCount: 4 } as const
    const server = serveMerged({ one: later, two: later })
    assert.equal((await server.ask(`api.${ZONE} A`)).length, 3)
    assert.equal((await server.ask(`nosuch.${ZONE} A`))[0], 'NXDOMAIN aa rd')
  })

  test('are counted where clusters contradict each other', async () => {
    const server = serveMerged()
    await server.ask(`_http._tcp.split.${ZONE} SRV`)
    await server.ask(`mixed.${ZONE} A`)
    for (const name of ['web', 'both', 'api']) await server.ask(`${name}.${ZONE} A`)
    const metrics = server.host.metrics.format()
    for (const conflict of ['ports', 'type']) {
      const line = `kubedoh_multicluster_conflicts_total{cluster="one two",conflict="${conflict}"} 1\n`
      assert.ok(metrics.includes(line), metrics)
    }
  })
})

describe('a cluster that is old', () => {
  const NOT_ALL = 'SERVFAIL'
  const cases: {
    name: string
    freshness: NonNullable<FakeClusterOptions['freshness']>
    presence?: NonNullable<FakeClusterOptions['presence']>
    stale: 'union' | 'keep' | 'fail'
    ask: string
    /** Addresses, or the response code. */
    reply: readonly string[]
    isStale?: boolean
  }[] = [
    {
      name: 'has no part',
      freshness: 'stale',
      stale: 'union',
      ask: 'api',
      reply: ['198.51.100.2'],
    },
    {
      name: 'answers names that no other cluster has',
      freshness: 'stale',
      stale: 'union',
      ask: 'cron',
      reply: ['203.0.113.3'],
      isStale: true,
    },
    {
      name: 'has its part',
      freshness: 'stale',
      stale: 'keep',
      ask: 'api',
      reply: ['198.51.100.2', '203.0.113.2'],
      isStale: true,
    },
    {
      name: 'leaves the rest',
      freshness: 'expired',
      stale: 'union',
      ask: 'api',
      reply: ['198.51.100.2'],
    },
    {
      name: 'may have the name',
      freshness: 'expired',
      stale: 'union',
      ask: 'cron',
      reply: [NOT_ALL],
    },
    {
      name: 'may have any name',
      freshness: 'expired',
      stale: 'keep',
      ask: 'nosuch',
      reply: [NOT_ALL],
    },
    { name: 'is waited for', freshness: 'expired', stale: 'fail', ask: 'api', reply: [NOT_ALL] },
    {
      name: 'has its part before it is too old',
      freshness: 'stale',
      stale: 'fail',
      ask: 'api',
      reply: ['198.51.100.2', '203.0.113.2'],
      isStale: true,
    },
    {
      name: 'was never there, and leaves the rest',
      freshness: 'expired',
      presence: 'never',
      stale: 'union',
      ask: 'api',
      reply: ['198.51.100.2'],
    },
    {
      name: 'lacks a shard, and leaves the rest',
      freshness: 'fresh',
      presence: 'shards-never',
      stale: 'union',
      ask: 'api',
      reply: ['198.51.100.2'],
    },
    {
      name: 'lacks a shard that may have the name',
      freshness: 'fresh',
      presence: 'shards-never',
      stale: 'union',
      ask: 'cron',
      reply: [NOT_ALL],
    },
  ]
  for (const { name, freshness, presence, stale, ask, reply, isStale = false } of cases) {
    test(`${name} (${stale})`, async () => {
      const two = { freshness, ...(presence && { presence }) }
      const server = serveMerged({ two }, `stale ${stale}`)
      const [head = '', ...lines] = await server.ask(`${ask}.${ZONE} A +edns`)
      const addresses = lines.flatMap((line) => / IN A (\S+)/.exec(line)?.[1] ?? [])
      assert.deepEqual(addresses.length > 0 ? addresses : [head.split(' ')[0]], reply)
      assert.equal(lines.includes('ede: 3'), isStale, lines.join('\n'))
    })
  }

  for (const [stale, address] of [
    ['union', '192.0.2.6'],
    ['keep', '192.0.2.5'],
    ['fail', '192.0.2.5'],
  ] as const) {
    test(`has its address counted first, or not (${stale})`, async () => {
      const server = serveMerged({ one: { freshness: 'stale' } }, `stale ${stale}`)
      const [, answer] = await server.ask(`split.${ZONE} A`)
      assert.equal(answer, `split.${ZONE}. 5 IN A ${address}`)
    })
  }

  test('has nobody answer in its place, where it is waited for', async () => {
    const one = { presence: 'shards-never' } as const
    assert.equal(
      (await serveMerged({ one }, 'stale fail').ask(`split.${ZONE} A`))[0],
      'SERVFAIL rd',
    )
    const [, answer] = await serveMerged({ one }, 'stale union').ask(`split.${ZONE} A`)
    assert.equal(answer, `split.${ZONE}. 5 IN A 192.0.2.6`)
  })

  test('is all there is, when all are', async () => {
    const server = serveMerged({ one: { freshness: 'stale' }, two: { freshness: 'stale' } })
    assert.equal((await server.ask(`api.${ZONE} A`)).length, 3)
    const gone = serveMerged({ one: { presence: 'never' }, two: { presence: 'never' } })
    assert.equal((await gone.ask(`api.${ZONE} A`))[0], 'SERVFAIL rd')
  })
})

describe('a view of names that clusters have together', () => {
  const scope = { clusters: ['*'], origins: ['*'], namespaces: ['*'], recurse: true }
  const ask = async (name: string, view: ClientVisibility): Promise<string[]> => {
    const client = { address: '192.0.2.9', port: 1, transport: 'https', visibility: view } as const
    const reply = await serveMerged().answer(parseQuestion(`${name} A`).message, client)
    return reply === undefined ? [] : formatReply(reply)
  }

  test('has the part of the clusters that it sees', async () => {
    const view = visibilityOf({ ...scope, clusters: ['one'] })
    assert.deepEqual(await ask(`api.${ZONE}`, view), [OK, `api.${ZONE}. 5 IN A 198.51.100.2`])
    assert.equal((await ask(`cron.${ZONE}`, view))[0], 'NXDOMAIN aa rd')
  })

  test('has the part of the namespaces that it sees', async () => {
    const view = visibilityOf({ ...scope, namespaces: ['blog'] })
    assert.equal((await ask('post.blog.svc.clusterset.local', view))[0], OK)
    const hidden = await ask(`api.${ZONE}`, view)
    assert.deepEqual(hidden, ['NXDOMAIN aa rd', soa('clusterset.local')])
  })

  test('goes on to the next plugin where it sees none of the clusters', async () => {
    const view = visibilityOf({ ...scope, clusters: ['three'] })
    assert.equal((await ask(`api.${ZONE}`, view))[0], 'NOERROR rd ra')
  })
})

describe('the reason of a name of several clusters', () => {
  const namespaceOnly = '- { kind: Namespace, metadata: { name: blog } }'
  const cases: { name: string; ask: string; code: string; text: RegExp }[] = [
    {
      name: 'is that of the cluster that has most of the name',
      ask: `a.b.api.${ZONE}`,
      code: 'too_many_labels',
      text: /below Service shop\/api$/,
    },
    {
      name: 'does not speak of Pods, which are not shared',
      ask: '10-0-0-1.shop.pod.clusterset.local',
      code: 'no_branch',
      text: /^names of objects end in svc\.clusterset\.local\.$/,
    },
  ]
  for (const { name, ask, code, text } of cases) {
    test(name, async () => {
      const { resolver } = serveMerged({ one: { objects: namespaceOnly } })
      const { message } = parseQuestion(`${ask} A`)
      const client = { address: '192.0.2.1', port: 1, transport: 'udp' } as const
      const { reason } = (await explainMessage(resolver, message, client)) ?? {}
      assert.deepEqual(reason?.code, code)
      assert.match(reason?.text ?? '', text)
    })
  }
})
