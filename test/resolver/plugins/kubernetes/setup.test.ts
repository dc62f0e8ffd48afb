import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, directive, problemsOf, type Server, serve } from '../../../ask.ts'
import type { FakeClusterOptions } from '../../../fake-cluster.ts'
import { expectedFor, NEXT, nextUpstream } from '../../../next-upstream.ts'
import { aliases, soa } from './objects.ts'

const OBJECTS = aliases({ out: 'www.example.org', near: 'nosuch.shop.svc.cluster.local' })
const WEB = ['NOERROR aa rd', 'web.shop.svc.cluster.local. 5 IN A 192.0.2.10']

function serveCluster(
  kubernetes: string,
  cluster: Partial<FakeClusterOptions> = {},
  plugins: readonly string[] = ['ready', 'errors', 'forward . 192.0.2.53'],
): Server {
  return serve(block(...plugins, kubernetes), {
    cluster: { objects: OBJECTS, ...cluster },
    upstream: nextUpstream,
  })
}

describe('what kubernetes passes on', () => {
  const cases: { name: string; line: string; ask: string; reply: readonly string[] }[] = [
    {
      name: 'is what is outside of its zones',
      line: 'kubernetes cluster.local',
      ask: 'www.example.org A',
      reply: NEXT,
    },
    {
      name: 'is no unknown name without fallthrough',
      line: 'kubernetes cluster.local',
      ask: 'nosuch.cluster.local A',
      reply: ['NXDOMAIN aa rd', soa()],
    },
    {
      name: 'is every unknown name with fallthrough',
      line: directive('kubernetes cluster.local', 'fallthrough'),
      ask: 'nosuch.cluster.local A',
      reply: NEXT,
    },
    {
      name: 'is no known name of another type',
      line: directive('kubernetes cluster.local', 'fallthrough'),
      ask: 'web.shop.svc.cluster.local AAAA',
      reply: ['NOERROR aa rd', soa()],
    },
    {
      name: 'is no CNAME that points nowhere',
      line: directive('kubernetes cluster.local', 'fallthrough'),
      ask: 'near.shop.svc.cluster.local A',
      reply: ['NOERROR aa rd', soa()],
    },
    {
      name: 'is what is unknown in the zones of fallthrough',
      line: directive('kubernetes cluster.local in-addr.arpa', 'fallthrough in-addr.arpa'),
      ask: '99.2.0.192.in-addr.arpa PTR',
      reply: NEXT,
    },
    {
      name: 'is not what is unknown elsewhere',
      line: directive('kubernetes cluster.local in-addr.arpa', 'fallthrough in-addr.arpa'),
      ask: 'nosuch.cluster.local A',
      reply: ['NXDOMAIN aa rd', soa()],
    },
    {
      name: 'is no transfer',
      line: directive('kubernetes cluster.local', 'fallthrough'),
      ask: 'cluster.local AXFR +tcp',
      reply: ['REFUSED rd'],
    },
    {
      name: 'is no part of a transfer',
      line: directive('kubernetes cluster.local', 'fallthrough'),
      ask: 'nosuch.cluster.local IXFR',
      reply: ['REFUSED rd'],
    },
    {
      name: 'is no other class, whose names are those of IN',
      line: 'kubernetes cluster.local',
      ask: 'web.shop.svc.cluster.local HS A',
      reply: WEB,
    },
  ]
  for (const { name, line, ask, reply } of cases) {
    test(name, async () => {
      assert.deepEqual(await serveCluster(line).ask(ask), expectedFor(ask, reply))
    })
  }

  test('is everything outside of the zones of the server block when it names none', async () => {
    const server = serve('example.org cluster.local {\n kubernetes\n}', {
      cluster: { objects: OBJECTS },
    })
    assert.deepEqual(await server.ask('web.shop.svc.cluster.local A'), WEB)
    assert.deepEqual(await server.ask('web.shop.svc.example.org A'), [
      'NOERROR aa rd',
      'web.shop.svc.example.org. 5 IN A 192.0.2.10',
    ])
  })
})

describe('several zones', () => {
  const zones = 'kubernetes cluster.local k8s.example.org in-addr.arpa'
  const cases: { name: string; ask: string; reply: string[] }[] = [
    {
      name: 'have their own names in SRV records',
      ask: '_http._tcp.web.shop.svc.k8s.example.org SRV',
      reply: [
        'NOERROR aa rd',
        '_http._tcp.web.shop.svc.k8s.example.org. 5 IN SRV 0 100 80 web.shop.svc.k8s.example.org.',
        'additional: web.shop.svc.k8s.example.org. 5 IN A 192.0.2.10',
      ],
    },
    {
      name: 'have their own name servers',
      ask: 'k8s.example.org NS',
      reply: [
        'NOERROR aa rd',
        'k8s.example.org. 5 IN NS ns.dns.k8s.example.org.',
        'additional: ns.dns.k8s.example.org. 5 IN A 203.0.113.53',
      ],
    },
    {
      name: 'have their own SOA records',
      ask: 'nosuch.k8s.example.org A',
      reply: ['NXDOMAIN aa rd', soa('k8s.example.org')],
    },
    {
      name: 'share what addresses point to, in the first',
      ask: '10.2.0.192.in-addr.arpa PTR',
      reply: ['NOERROR aa rd', '10.2.0.192.in-addr.arpa. 5 IN PTR web.shop.svc.cluster.local.'],
    },
  ]
  for (const { name, ask, reply } of cases) {
    test(name, async () => {
      const server = serveCluster(zones, { localAddresses: ['203.0.113.53'] })
      assert.deepEqual(await server.ask(ask), reply)
    })
  }
})

describe('snapshots that are missing or old', () => {
  const ask = 'web.shop.svc.cluster.local A +edns'
  const line = 'kubernetes cluster.local'
  const edns = 'edns: 1232'
  const cases: { name: string; cluster: Partial<FakeClusterOptions>; reply: string[] }[] = [
    {
      name: 'are waited for',
      cluster: { presence: 'later' },
      reply: [...WEB, edns],
    },
    {
      name: 'fail as not ready when they are unavailable',
      cluster: { presence: 'never' },
      reply: ['SERVFAIL rd', edns, 'ede: 14 no snapshot yet'],
    },
    {
      name: 'fail as not ready when they are too old',
      cluster: { freshness: 'expired' },
      reply: ['SERVFAIL rd', edns, 'ede: 14 the newest snapshot is too old'],
    },
    {
      name: 'answer with a remark when they are old',
      cluster: { freshness: 'stale' },
      reply: [...WEB, edns, 'ede: 3'],
    },
    {
      name: 'answer with what they have when not all has been read',
      cluster: { freshness: 'partial' },
      reply: [...WEB, edns],
    },
    {
      name: 'are waited for, shard by shard',
      cluster: { presence: 'shards-later', shardCount: 8 },
      reply: [...WEB, edns],
    },
    {
      name: 'fail when a shard is unavailable',
      cluster: { presence: 'shards-never', shardCount: 8 },
      reply: ['SERVFAIL rd', edns],
    },
  ]
  for (const { name, cluster, reply } of cases) {
    test(name, async () => {
      assert.deepEqual(await serveCluster(line, cluster).ask(ask), reply)
    })
  }

  const stale: { name: string; ask: string; reply: readonly string[] }[] = [
    {
      name: 'make a remark on negative responses',
      ask: 'nosuch.shop.svc.cluster.local A +edns',
      reply: ['NXDOMAIN aa rd', soa(), edns, 'ede: 3'],
    },
    {
      name: 'make a remark on what CNAMEs point to',
      ask: 'out.shop.svc.cluster.local A +edns',
      reply: [
        'NOERROR aa rd',
        'out.shop.svc.cluster.local. 5 IN CNAME www.example.org.',
        'www.example.org. 60 IN A 192.0.2.80',
        edns,
        'ede: 3',
      ],
    },
    {
      name: 'make no remark to a client that does not understand it',
      ask: 'web.shop.svc.cluster.local A',
      reply: WEB,
    },
    {
      name: 'make no remark on what others answer',
      ask: 'nosuch.in-addr.arpa PTR +edns',
      reply: ['NOERROR rd ra', 'nosuch.in-addr.arpa. 60 IN A 192.0.2.80', edns],
    },
    {
      name: 'make no remark on failures',
      ask: 'cluster.local AXFR +tcp +edns',
      reply: ['REFUSED rd', edns],
    },
  ]
  for (const { name, ask: question, reply } of stale) {
    test(`${name} when they are old`, async () => {
      const zones = directive('kubernetes cluster.local in-addr.arpa', 'fallthrough in-addr.arpa')
      assert.deepEqual(await serveCluster(zones, { freshness: 'stale' }).ask(question), reply)
    })
  }

  test('give no negative response before the cluster is read completely', async () => {
    const server = serveCluster(line, { freshness: 'partial' })
    const nosuch = 'nosuch.shop.svc.cluster.local A'
    assert.deepEqual(await server.ask(nosuch), ['SERVFAIL aa rd', soa()])
    const expected = ['SERVFAIL aa rd', soa(), edns, 'ede: 14 the cluster is not read yet']
    assert.deepEqual(await server.ask(`${nosuch} +edns`), expected)
    assert.deepEqual(await server.ask('web.shop.svc.cluster.local AAAA'), ['NOERROR aa rd', soa()])
    assert.deepEqual(server.resolver.notReady(), ['kubernetes'])
  })

  test('pass unknown names on as ever while not all has been read', async () => {
    const through = directive(line, 'fallthrough')
    const server = serveCluster(through, { freshness: 'partial' })
    const nosuch = 'nosuch.cluster.local A'
    assert.deepEqual(await server.ask(nosuch), expectedFor(nosuch, NEXT))
  })

  test('have their reasons logged', async () => {
    for (const [presence, reason] of [
      ['never', 'no snapshot yet'],
      ['shards-never', 'a shard of the snapshot is unavailable'],
    ] as const) {
      const server = serveCluster(line, { presence })
      await server.ask(ask)
      assert.deepEqual(
        server.host.events.map(({ message }) => message),
        [reason],
      )
    }
  })

  test('make the plugin ready as soon as there is one', async () => {
    const server = serveCluster(line, { presence: 'later' })
    assert.deepEqual(server.resolver.notReady(), ['kubernetes'])
    await server.ask(ask)
    assert.deepEqual(server.resolver.notReady(), [])
  })

  test('are not loaded for names outside of the zones', async () => {
    const server = serveCluster(line, { presence: 'never' })
    const outside = 'www.example.org A'
    assert.deepEqual(await server.ask(outside), expectedFor(outside, NEXT))
    assert.deepEqual(server.host.loads, [])
  })
})

describe('what is wrong with kubernetes', () => {
  const cases: { name: string; directives: string[]; problem: string }[] = [
    {
      name: 'is that it appears twice',
      directives: ['kubernetes cluster.local', 'kubernetes example.org'],
      problem: 'Corefile:3:3: "kubernetes" appears twice in this server block; remove one',
    },
    {
      name: 'is an option that it does not have',
      directives: [directive('kubernetes cluster.local', 'fallthru')],
      problem: 'Corefile:3:5: "kubernetes" has no option "fallthru"; it has ',
    },
    {
      name: 'is that it has reverse zones only',
      directives: ['kubernetes in-addr.arpa'],
      problem: 'Corefile:2:3: "kubernetes" needs a zone that is not a reverse zone',
    },
    {
      name: 'are rules that nobody has',
      directives: [directive('kubernetes cluster.local', 'answers bind')],
      problem: 'Corefile:3:13: "bind" is not one of coredns, rfc',
    },
  ]
  for (const { name, directives, problem } of cases) {
    test(name, () => {
      const problems = problemsOf(block(...directives), { cluster: { objects: OBJECTS } })
      assert.equal(problems.length, 1)
      assert.ok(problems[0]?.startsWith(problem), problems.join())
    })
  }
})
