import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, directive, serve } from '../../../ask.ts'
import { APEX, NS, SOA, serveZoneText } from './zones.ts'

const LINES = [
  'www A 192.0.2.1',
  'mail MX 1 www',
  'a CNAME b',
  'b 60 CNAME www',
  'toempty CNAME a.b',
  'x.y.ent A 192.0.2.9',
  'toent CNAME y.ent',
  'dangling CNAME nosuch',
  'loop1 CNAME loop2',
  'loop2 CNAME loop1',
  'self CNAME self',
  'tocut CNAME www.sub',
  'sub NS ns.sub',
  'ns.sub A 192.0.2.2',
  'towild CNAME x.wild',
  '*.wild 77 A 192.0.2.3',
  '*.aliases CNAME mail',
  '*.selfish CNAME x.selfish',
  'out CNAME www.example.net.',
  'toout CNAME out',
  'outsrv CNAME srv.example.net.',
  'apex CNAME @',
  ...Array.from({ length: 12 }, (_, i) => `c${i} CNAME c${i + 1}`),
  'c12 A 192.0.2.12',
]
const FORWARD = 'forward . 192.0.2.53'
const link = (from: string, to: string, ttl = 3600): string =>
  `${from}.example.org. ${ttl} IN CNAME ${to}.example.org.`

type Case = {
  readonly name: string
  readonly ask: string
  readonly upstream?: readonly string[]
  readonly replies: readonly string[]
}

const THEIR_SOA = 'authority: example.net. 5 IN SOA a. b. 1 1 1 1 1'

describe('a CNAME', () => {
  const cases: Case[] = [
    {
      name: 'points to a name within the zone',
      ask: 'a.example.org A',
      replies: [
        'NOERROR aa rd',
        link('a', 'b'),
        link('b', 'www', 60),
        'www.example.org. 3600 IN A 192.0.2.1',
        NS,
      ],
    },
    {
      name: 'is returned when it is requested itself',
      ask: 'a.example.org CNAME',
      replies: ['NOERROR aa rd', link('a', 'b'), NS],
    },
    {
      name: 'has name servers beside it where its end has no records of the type',
      ask: 'b.example.org TXT',
      replies: ['NOERROR aa rd', link('b', 'www', 60), NS],
    },
    {
      name: 'has the SOA record beside it for name servers that are missing',
      ask: 'b.example.org NS',
      replies: ['NOERROR aa rd', link('b', 'www', 60), SOA],
    },
    {
      name: 'has name servers beside it for those of a CNAME of a CNAME',
      ask: 'a.example.org NS',
      replies: ['NOERROR aa rd', link('a', 'b'), link('b', 'www', 60), NS],
    },
    {
      name: 'to a name that does not exist makes one that does not',
      ask: 'dangling.example.org A',
      replies: ['NXDOMAIN aa rd', link('dangling', 'nosuch'), SOA],
    },
    {
      name: 'to a name above others makes one without records',
      ask: 'toent.example.org A',
      replies: ['NOERROR aa rd', link('toent', 'y.ent'), SOA],
    },
    {
      name: 'that makes a loop is returned once',
      ask: 'loop1.example.org A',
      replies: ['NOERROR aa rd', link('loop1', 'loop2'), link('loop2', 'loop1'), NS],
    },
    {
      name: 'to itself is returned once',
      ask: 'self.example.org A',
      replies: ['NOERROR aa rd', link('self', 'self'), NS],
    },
    {
      name: 'that makes a loop fails for name servers',
      ask: 'loop1.example.org NS',
      replies: ['SERVFAIL aa rd', link('loop1', 'loop2'), link('loop2', 'loop1'), NS],
    },
    {
      name: 'that makes a loop by a wildcard fails',
      ask: 'y.selfish.example.org A',
      replies: [
        'SERVFAIL aa rd',
        link('y.selfish', 'x.selfish'),
        link('x.selfish', 'x.selfish'),
        NS,
      ],
    },
    {
      name: 'is followed ten times',
      ask: 'c0.example.org A',
      replies: [
        'NOERROR aa rd',
        ...Array.from({ length: 10 }, (_, i) => link(`c${i}`, `c${i + 1}`)),
        NS,
      ],
    },
    {
      name: 'to a name below a cut points to other servers, with authority',
      ask: 'tocut.example.org A',
      replies: [
        'NOERROR aa rd',
        link('tocut', 'www.sub'),
        'authority: sub.example.org. 3600 IN NS ns.sub.example.org.',
        'additional: ns.sub.example.org. 3600 IN A 192.0.2.2',
      ],
    },
    {
      name: 'points to a wildcard',
      ask: 'towild.example.org A',
      replies: [
        'NOERROR aa rd',
        link('towild', 'x.wild'),
        'x.wild.example.org. 77 IN A 192.0.2.3',
        NS,
      ],
    },
    {
      name: 'is made from a wildcard, and its end has addresses that are in the additional section',
      ask: 'x.aliases.example.org MX',
      replies: [
        'NOERROR aa rd',
        link('x.aliases', 'mail'),
        'mail.example.org. 3600 IN MX 1 www.example.org.',
        NS,
        'additional: www.example.org. 3600 IN A 192.0.2.1',
      ],
    },
    {
      name: 'points to the SOA record of the zone',
      ask: 'apex.example.org SOA',
      replies: [
        'NOERROR aa rd',
        'apex.example.org. 3600 IN CNAME example.org.',
        SOA.replace('authority: ', ''),
        NS,
      ],
    },
    {
      name: 'points out of the zone, through the whole server',
      ask: 'toout.example.org A',
      upstream: ['NOERROR ra', 'www.example.net. 5 IN A 192.0.2.80'],
      replies: [
        'NOERROR aa rd',
        link('toout', 'out'),
        'out.example.org. 3600 IN CNAME www.example.net.',
        'www.example.net. 5 IN A 192.0.2.80',
        NS,
      ],
    },
    {
      name: 'that points out has addresses of this zone that are in the additional section',
      ask: 'outsrv.example.org SRV',
      upstream: ['NOERROR ra', 'srv.example.net. 5 IN SRV 1 2 3 www.example.org.'],
      replies: [
        'NOERROR aa rd',
        'outsrv.example.org. 3600 IN CNAME srv.example.net.',
        'srv.example.net. 5 IN SRV 1 2 3 www.example.org.',
        NS,
        'additional: www.example.org. 3600 IN A 192.0.2.1',
      ],
    },
    {
      name: 'that points out has the SOA record of this zone where nothing exists',
      ask: 'out.example.org AAAA',
      upstream: ['NOERROR ra', THEIR_SOA],
      replies: ['NOERROR aa rd', 'out.example.org. 3600 IN CNAME www.example.net.', SOA],
    },
    {
      name: 'that points out to no name makes one that does not exist',
      ask: 'out.example.org A',
      upstream: ['NXDOMAIN ra'],
      replies: ['NXDOMAIN aa rd', 'out.example.org. 3600 IN CNAME www.example.net.', SOA],
    },
    {
      name: 'that points out to a failure is returned with it (RFC 6604 §3)',
      ask: 'out.example.org A',
      upstream: ['SERVFAIL ra'],
      replies: ['SERVFAIL aa rd', 'out.example.org. 3600 IN CNAME www.example.net.', NS],
    },
    {
      name: 'that points out to a refusal is returned without it',
      ask: 'out.example.org A',
      upstream: ['REFUSED ra'],
      replies: ['NOERROR aa rd', 'out.example.org. 3600 IN CNAME www.example.net.', NS],
    },
  ]
  for (const { name, ask, upstream, replies } of cases) {
    test(name, async () => {
      const server = serveZoneText(LINES, {
        more: [FORWARD],
        upstream: upstream === undefined ? {} : () => upstream,
      })
      assert.deepEqual(await server.ask(ask), replies)
    })
  }
})

describe('a CNAME, with "answers rfc",', () => {
  const out = 'out.example.org. 3600 IN CNAME www.example.net.'
  const cases: { name: string; ask: string; upstream?: string[]; reply: string[] }[] = [
    {
      name: 'to no records of another zone has the SOA record of that (RFC 2308 §2.1)',
      ask: 'out.example.org AAAA',
      upstream: ['NOERROR ra', THEIR_SOA],
      reply: ['NOERROR aa rd', out, THEIR_SOA],
    },
    {
      name: 'to no name of another zone has the SOA record of that',
      ask: 'out.example.org A',
      upstream: ['NXDOMAIN ra', THEIR_SOA],
      reply: ['NXDOMAIN aa rd', out, THEIR_SOA],
    },
    {
      name: 'to a further CNAME and no records has the SOA record of their zone',
      ask: 'out.example.org A',
      upstream: ['NOERROR ra', 'www.example.net. 5 IN CNAME x.example.net.', THEIR_SOA],
      reply: ['NOERROR aa rd', out, 'www.example.net. 5 IN CNAME x.example.net.', THEIR_SOA],
    },
    {
      name: 'to no name of an unknown zone has no SOA record',
      ask: 'out.example.org A',
      upstream: ['NXDOMAIN ra'],
      reply: ['NXDOMAIN aa rd', out],
    },
    {
      name: 'to no name of its own zone has the SOA record of this',
      ask: 'dangling.example.org A',
      reply: ['NXDOMAIN aa rd', link('dangling', 'nosuch'), SOA],
    },
    {
      name: 'to no records of its own zone has the SOA record of this',
      ask: 'a.example.org NAPTR',
      reply: ['NOERROR aa rd', link('a', 'b'), link('b', 'www', 60), SOA],
    },
    {
      name: 'to records of another zone has the name servers of its own',
      ask: 'out.example.org A',
      upstream: ['NOERROR ra', 'www.example.net. 5 IN A 192.0.2.1', THEIR_SOA],
      reply: ['NOERROR aa rd', out, 'www.example.net. 5 IN A 192.0.2.1', NS],
    },
    {
      name: 'to a refusal is alone',
      ask: 'out.example.org A',
      upstream: ['REFUSED ra'],
      reply: ['NOERROR aa rd', out, NS],
    },
  ]
  for (const { name, ask, upstream = [], reply } of cases) {
    test(name, async () => {
      const server = serveZoneText(LINES, {
        head: directive('file db example.org', 'answers rfc'),
        more: [FORWARD],
        upstream: () => upstream,
      })
      assert.deepEqual(await server.ask(ask), reply)
    })
  }
})

describe('a CNAME into the cluster', () => {
  const cluster = {
    objects: `
- {apiVersion: v1, kind: Namespace, metadata: {name: shop}}
- apiVersion: v1
  kind: Service
  metadata: {name: web, namespace: shop}
  spec: {clusterIP: 10.96.0.9, clusterIPs: [10.96.0.9], ports: [{port: 80}]}
`,
  }

  test('has live data, which is never cached', async () => {
    const server = serve(block('kubernetes cluster.local', 'cache', 'file db example.org'), {
      files: { db: `${APEX}web CNAME web.shop.svc.cluster.local.` },
      cluster,
    })
    const replies = [
      'NOERROR aa rd',
      'web.example.org. 5 IN CNAME web.shop.svc.cluster.local.',
      'web.shop.svc.cluster.local. 5 IN A 10.96.0.9',
      NS.replace('3600', '5'),
    ]
    assert.deepEqual(await server.ask('web.example.org A'), replies)
    await server.host.advance(2000)
    assert.deepEqual(await server.ask('web.example.org A'), replies)
  })
})

describe('a CNAME of a signed zone', () => {
  const SIG = '13 2 3600 20300101000000 20200101000000 1 @ AQPS'
  const sig = (owner: string, type: string): string =>
    `${owner} 3600 IN RRSIG ${type} 13 2 3600 20300101000000 20200101000000 1 example.org. AQPS`
  const lines = [
    '*.aliases CNAME b',
    `*.aliases RRSIG CNAME ${SIG}`,
    '*.aliases NSEC @ CNAME NSEC RRSIG',
    'b A 192.0.2.1',
    `b RRSIG A ${SIG}`,
    '@ NSEC *.aliases NS SOA',
  ]

  test('comes with its signatures, and proof that a wildcard was rightly taken', async () => {
    assert.deepEqual(await serveZoneText(lines).ask('x.aliases.example.org A +do'), [
      'NOERROR aa rd',
      link('x.aliases', 'b'),
      sig('x.aliases.example.org.', 'CNAME'),
      'b.example.org. 3600 IN A 192.0.2.1',
      sig('b.example.org.', 'A'),
      NS,
      'authority: *.aliases.example.org. 3600 IN NSEC example.org. CNAME RRSIG NSEC',
      'edns: 1232 do',
    ])
  })
})
