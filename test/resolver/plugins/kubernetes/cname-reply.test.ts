import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, directive, type Server, serve } from '../../../ask.ts'
import type { FakeClusterOptions } from '../../../fake-cluster.ts'
import type { UpstreamAct } from '../../../fake-host.ts'
import { aliases, soa } from './objects.ts'

const CHAIN = Array.from({ length: 12 }, (_, i): [string, string] => [
  `deep-${i + 1}`,
  `${i === 11 ? 'web' : `deep-${i + 2}`}.shop.svc.cluster.local`,
])
const OBJECTS = `${aliases({
  out: 'www.example.org',
  near: 'web.shop.svc.cluster.local',
  'to-mixed': 'mixed.shop.svc.cluster.local',
  'near-capitals': 'WEB.Shop.svc.Cluster.Local',
  nowhere: 'nosuch.shop.svc.cluster.local',
  self: 'self.shop.svc.cluster.local',
  'below-self': 'x.below-self.shop.svc.cluster.local',
  'circle-a': 'circle-b.shop.svc.cluster.local',
  'circle-b': 'circle-a.shop.svc.cluster.local',
  pod: '192-0-2-77.shop.pod.cluster.local',
  port: 'http.tcp.web.shop.svc.cluster.local',
  address: '192.0.2.1',
  ...Object.fromEntries(CHAIN),
})}
- {kind: Service, metadata: {name: mixed, namespace: shop}, spec: {clusterIP: None}}
- kind: EndpointSlice
  metadata: {name: mixed-1, namespace: shop, labels: {kubernetes.io/service-name: mixed}}
  endpoints: [{addresses: [198.51.100.31], hostname: one}]
  ports: [{name: sql, port: 5432}]
- kind: EndpointSlice
  metadata: {name: mixed-2, namespace: shop, labels: {kubernetes.io/service-name: mixed}}
  endpoints: [{addresses: [www.example.org]}, {addresses: [near.shop.svc.cluster.local]}]
  ports: [{name: sql, port: 5432}]
`
const WWW = 'www.example.org. 60 IN A 192.0.2.80'

/** `NAME.shop.svc.cluster.local`, with what stands behind it. */
function at(name: string, rest: string): string {
  return `${name}.shop.svc.cluster.local${rest}`
}

function serveAliases(
  upstream: UpstreamAct = ['NOERROR ra', WWW],
  cluster: Partial<FakeClusterOptions> = {},
  ...more: readonly string[]
): Server {
  const kubernetes = directive('kubernetes cluster.local', 'pods insecure', ...more)
  return serve(block(kubernetes, 'forward . 192.0.2.53'), {
    cluster: { objects: OBJECTS, ...cluster },
    upstream: () => upstream,
  })
}

describe('names with CNAMEs', () => {
  const web = `${at('web', '.')} 5 IN A 192.0.2.10`
  const nodata = ['NOERROR aa rd', soa()]
  const cases: { name: string; ask: string; reply: string[] }[] = [
    {
      name: 'point out of the cluster',
      ask: at('out', ' A'),
      reply: ['NOERROR aa rd', `${at('out', '.')} 5 IN CNAME www.example.org.`, WWW],
    },
    {
      name: 'point to a Service',
      ask: at('near', ' A'),
      reply: ['NOERROR aa rd', `${at('near', '.')} 5 IN CNAME ${at('web', '.')}`, web],
    },
    {
      name: 'keep the letter case of the query',
      ask: at('NEAR', ' A'),
      reply: ['NOERROR aa rd', `${at('NEAR', '.')} 5 IN CNAME ${at('web', '.')}`, web],
    },
    {
      name: 'point to the name of an address',
      ask: at('pod', ' A'),
      reply: [
        'NOERROR aa rd',
        `${at('pod', '.')} 5 IN CNAME 192-0-2-77.shop.pod.cluster.local.`,
        '192-0-2-77.shop.pod.cluster.local. 5 IN A 192.0.2.77',
      ],
    },
    {
      name: 'point to another spelling of a name',
      ask: at('port', ' A'),
      reply: [
        'NOERROR aa rd',
        `${at('port', '.')} 5 IN CNAME http.tcp.${at('web', '.')}`,
        `http.tcp.${at('web', '.')} 5 IN A 192.0.2.10`,
      ],
    },
    { name: 'have no data of the other family', ask: at('near', ' AAAA'), reply: nodata },
    { name: 'have no data when they point nowhere', ask: at('nowhere', ' A'), reply: nodata },
    { name: 'have no data when they point to themselves', ask: at('self', ' A'), reply: nodata },
    {
      name: 'have no data when they point below themselves',
      ask: at('below-self', ' A'),
      reply: nodata,
    },
    { name: 'have no data in a circle', ask: at('circle-a', ' A'), reply: nodata },
    { name: 'have no SRV records', ask: at('near', ' SRV'), reply: nodata },
    { name: 'have no TXT records', ask: at('out', ' TXT'), reply: nodata },
    { name: 'have no records of ANY type', ask: at('out', ' ANY'), reply: nodata },
    {
      name: 'have their own link',
      ask: at('deep-1', ' CNAME'),
      reply: ['NOERROR aa rd', `${at('deep-1', '.')} 5 IN CNAME ${at('deep-2', '.')}`],
    },
    {
      name: 'have no names below them',
      ask: at('x.near', ' A'),
      reply: ['NXDOMAIN aa rd', soa()],
    },
    {
      name: 'do not point to addresses',
      ask: at('address', ' A'),
      reply: ['NXDOMAIN aa rd', soa()],
    },
    {
      name: 'lead through eleven links',
      ask: at('deep-2', ' A'),
      reply: [
        'NOERROR aa rd',
        ...CHAIN.slice(1).map(([name, to]) => `${at(name, '.')} 5 IN CNAME ${to}.`),
        web,
      ],
    },
    { name: 'do not lead through twelve links', ask: at('deep-1', ' A'), reply: nodata },
    {
      name: 'stay behind the addresses of a name that has both',
      ask: at('mixed', ' A'),
      reply: ['NOERROR aa rd', `${at('mixed', '.')} 5 IN A 198.51.100.31`],
    },
    {
      name: 'stay behind the addresses of a name to which another one points',
      ask: at('to-mixed', ' A'),
      reply: [
        'NOERROR aa rd',
        `${at('to-mixed', '.')} 5 IN CNAME ${at('mixed', '.')}`,
        `${at('mixed', '.')} 5 IN A 198.51.100.31`,
      ],
    },
    {
      name: 'leave the SRV records of a Service alone',
      ask: at('mixed', ' SRV'),
      reply: [
        'NOERROR aa rd',
        `${at('mixed', '.')} 5 IN SRV 0 100 5432 one.${at('mixed', '.')}`,
        `additional: one.${at('mixed', '.')} 5 IN A 198.51.100.31`,
      ],
    },
    {
      name: 'leave the SRV records of a port alone',
      ask: at('_sql._tcp.mixed', ' SRV'),
      reply: [
        'NOERROR aa rd',
        `${at('_sql._tcp.mixed', '.')} 5 IN SRV 0 100 5432 one.${at('mixed', '.')}`,
        `additional: one.${at('mixed', '.')} 5 IN A 198.51.100.31`,
      ],
    },
  ]
  for (const { name, ask, reply } of cases) {
    test(name, async () => {
      assert.deepEqual(await serveAliases().ask(`${ask} +tcp`), reply)
    })
  }

  const byRfc: { name: string; ask: string; reply: string[] }[] = [
    {
      name: 'are beside NXDOMAIN if they point nowhere',
      ask: at('nowhere', ' A'),
      reply: [
        'NXDOMAIN aa rd',
        `${at('nowhere', '.')} 5 IN CNAME nosuch.shop.svc.cluster.local.`,
        soa(),
      ],
    },
    {
      name: 'stay beside NODATA of the other family',
      ask: at('near', ' AAAA'),
      reply: ['NOERROR aa rd', `${at('near', '.')} 5 IN CNAME ${at('web', '.')}`, soa()],
    },
    { name: 'have no data in a circle', ask: at('self', ' A'), reply: nodata },
  ]
  for (const { name, ask, reply } of byRfc) {
    test(`${name}, by the RFCs`, async () => {
      assert.deepEqual(await serveAliases(undefined, {}, 'answers rfc').ask(ask), reply)
    })
  }

  test('are beside SERVFAIL, not NXDOMAIN, before the cluster is read', async () => {
    const server = serveAliases(undefined, { freshness: 'partial' }, 'answers rfc')
    const [code] = await server.ask(at('nowhere', ' A'))
    assert.equal(code, 'SERVFAIL aa rd')
  })

  const WWW6 = 'www.example.org. 60 IN AAAA 2001:db8::80'
  const links = ['www.example.org.', at('near', '.')]
  for (const [rules, followed, all] of [
    ['coredns', links.slice(0, 1), links],
    ['rfc', links.slice(0, 1), links.slice(0, 1)],
  ] as const) {
    test(`lead on where the addresses beside them are of the other family: ${rules}`, async () => {
      const server = serveAliases(['NOERROR ra', WWW6], {}, `answers ${rules}`)
      const own = (rdata: string): string => `${at('mixed', '.')} 5 IN CNAME ${rdata}`
      const ask = async (type: string): Promise<string[]> => server.ask(at('mixed', ` ${type}`))
      assert.deepEqual(await ask('AAAA'), ['NOERROR aa rd', ...followed.map(own), WWW6])
      assert.deepEqual((await ask('CNAME')).slice(0, 1 + all.length), [
        'NOERROR aa rd',
        ...all.map(own),
      ])
    })
  }

  test('point to a Service in other letter case', async () => {
    const reply = await serveAliases().ask(at('near-capitals', ' A'))
    assert.deepEqual(
      reply.map((line) => line.toLowerCase()),
      ['noerror aa rd', `${at('near-capitals', '.')} 5 in cname ${at('web', '.')}`, web].map(
        (line) => line.toLowerCase(),
      ),
    )
  })
})

describe('CNAMEs that point out of the cluster', () => {
  const link = `${at('out', '.')} 5 IN CNAME www.example.org.`
  const theirSoa = 'authority: org. 60 IN SOA a.org. b.org. 1 2 3 4 5'
  const cases: { name: string; upstream: UpstreamAct; reply: string[] }[] = [
    {
      name: 'end where there is no name, with its SOA record',
      upstream: ['NXDOMAIN', theirSoa],
      reply: ['NXDOMAIN aa rd', link, theirSoa],
    },
    {
      name: 'end where there is no name, without an SOA record',
      upstream: ['NXDOMAIN'],
      reply: ['NXDOMAIN aa rd', link],
    },
    {
      name: 'end after further links',
      upstream: ['NXDOMAIN', 'www.example.org. 9 IN CNAME x.org.', theirSoa],
      reply: ['NXDOMAIN aa rd', link, 'www.example.org. 9 IN CNAME x.org.', theirSoa],
    },
    {
      name: 'end where there are no records of the type, with its SOA record',
      upstream: ['NOERROR', theirSoa],
      reply: ['NOERROR aa rd', link, theirSoa],
    },
    {
      name: 'have no SOA record beside the records',
      upstream: ['NOERROR', WWW, theirSoa],
      reply: ['NOERROR aa rd', link, WWW],
    },
    {
      name: 'are alone where a server refers to others',
      upstream: ['NOERROR', 'authority: org. 60 IN NS a.org.'],
      reply: ['NOERROR aa rd', link],
    },
    { name: 'are alone after a refusal', upstream: ['REFUSED'], reply: ['NOERROR aa rd', link] },
    { name: 'are alone after a failure', upstream: ['SERVFAIL'], reply: ['NOERROR aa rd', link] },
    {
      name: 'are alone where nobody knows the rest',
      upstream: new Error('connection refused'),
      reply: ['NOERROR aa rd', link],
    },
    {
      name: 'have no more than the answer of what they point to',
      upstream: ['NOERROR ra ad', WWW, 'additional: a.example.org. 60 IN A 192.0.2.81'],
      reply: ['NOERROR aa rd', link, WWW],
    },
    {
      name: 'say so when the rest is truncated',
      upstream: ['NOERROR tc', WWW],
      reply: ['NOERROR aa tc rd', link, WWW],
    },
  ]
  for (const { name, upstream, reply } of cases) {
    test(name, async () => {
      const ask = at('out', ' A')
      assert.deepEqual(await serveAliases(upstream).ask(ask), reply)
      assert.deepEqual(await serveAliases(upstream, {}, 'answers rfc').ask(ask), reply)
    })
  }

  test('end in another zone of the cluster as in CoreDNS, or by the RFCs', async () => {
    for (const { rules, type, code, hasSoa } of [
      { rules: 'coredns', type: 'A', code: 'NXDOMAIN', hasSoa: true },
      { rules: 'coredns', type: 'AAAA', code: 'NOERROR', hasSoa: false },
      { rules: 'rfc', type: 'A', code: 'NXDOMAIN', hasSoa: true },
      { rules: 'rfc', type: 'AAAA', code: 'NOERROR', hasSoa: true },
    ]) {
      const zones = 'kubernetes cluster.local example.net'
      const server = serve(block(directive(zones, `answers ${rules}`)), {
        cluster: { objects: OBJECTS },
      })
      const name = type === 'A' ? 'nowhere' : 'near'
      const target = type === 'A' ? at('nosuch', '.') : at('web', '.')
      assert.deepEqual(await server.ask(`${name}.shop.svc.example.net ${type}`), [
        `${code} aa rd`,
        `${name}.shop.svc.example.net. 5 IN CNAME ${target}`,
        ...(hasSoa ? [soa()] : []),
      ])
    }
  })

  test('are looked up with the type of the query, and with DO if it has that', async () => {
    const server = serveAliases()
    await server.ask(at('out', ' AAAA +do'))
    assert.deepEqual(
      server.host.asked.map(({ question }) => question),
      ['www.example.org. IN AAAA rd edns=1232 do'],
    )
  })

  test('are answered by another zone of the same directive', async () => {
    const server = serve(block('kubernetes cluster.local example.net'), {
      cluster: { objects: OBJECTS },
    })
    assert.deepEqual(await server.ask('near.shop.svc.example.net A'), [
      'NOERROR aa rd',
      'near.shop.svc.example.net. 5 IN CNAME web.shop.svc.cluster.local.',
      'web.shop.svc.cluster.local. 5 IN A 192.0.2.10',
    ])
  })
})

describe('CNAMEs within a cluster that has another name', () => {
  const pushed = block(directive('kubernetes prod.example.org', 'cluster prod'))
  const link = 'near.shop.svc.prod.example.org. 5 IN CNAME web.shop.svc.prod.example.org.'
  const cases: { name: string; ask: string; reply: string[] }[] = [
    {
      name: 'point below the name of the query',
      ask: 'near.shop.svc.prod.example.org A',
      reply: ['NOERROR aa rd', link, 'web.shop.svc.prod.example.org. 5 IN A 192.0.2.10'],
    },
    {
      name: 'do so when only the link is requested',
      ask: 'near.shop.svc.prod.example.org CNAME',
      reply: ['NOERROR aa rd', link],
    },
    {
      name: 'stay as they are when they point elsewhere',
      ask: 'out.shop.svc.prod.example.org CNAME',
      reply: ['NOERROR aa rd', 'out.shop.svc.prod.example.org. 5 IN CNAME www.example.org.'],
    },
  ]
  for (const { name, ask, reply } of cases) {
    test(name, async () => {
      assert.deepEqual(await serve(pushed, { cluster: { objects: OBJECTS } }).ask(ask), reply)
    })
  }

  test('stay as they are where there is no room for the other name', async () => {
    const zone = [63, 63, 63, 49].map((length) => 'z'.repeat(length)).join('.')
    const objects = aliases({ a: 'web.shop.svc.cluster.local' })
    const server = serve(block(directive(`kubernetes ${zone}`, 'cluster prod')), {
      cluster: { objects },
    })
    assert.deepEqual((await server.ask(`a.shop.svc.${zone} CNAME`)).slice(1), [
      `a.shop.svc.${zone}. 5 IN CNAME web.shop.svc.cluster.local.`,
    ])
  })
})

describe('CNAMEs while shards are loaded', () => {
  const shards = { shardCount: 64 }

  test('wait for each shard that they point to', async () => {
    const server = serveAliases(['NOERROR'], { ...shards, presence: 'shards-later' })
    assert.deepEqual(await server.ask(at('near', ' A')), [
      'NOERROR aa rd',
      `${at('near', '.')} 5 IN CNAME ${at('web', '.')}`,
      `${at('web', '.')} 5 IN A 192.0.2.10`,
    ])
    assert.equal(new Set(server.host.loads).size, 2)
  })

  test('fail when one of them cannot be loaded', async () => {
    const server = serveAliases(['NOERROR'], { ...shards, presence: 'shards-once' })
    assert.deepEqual(await server.ask(at('near', ' A')), ['SERVFAIL rd'])
  })
})
