import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, directive, problemsOf, serve } from '../../../ask.ts'
import { expectedFor, NEXT, nextUpstream } from '../../../next-upstream.ts'

const LINES = [
  '192.0.2.1 www.example.org alias.example.org',
  '192.0.2.2 www.example.org',
  '2001:db8::1 www.example.org',
  '192.0.2.9 *.wild.example.org',
  '192.0.2.10 own.wild.example.org',
]

type Case = Readonly<Record<'name' | 'corefile' | 'ask', string>> & {
  readonly reply: readonly string[]
}

describe('hosts', () => {
  const inline = block(directive('hosts none', ...LINES))
  const cases: Case[] = [
    {
      name: 'answers A with all addresses of a name, for an hour',
      corefile: inline,
      ask: 'www.example.org A',
      reply: [
        'NOERROR aa rd',
        'www.example.org. 3600 IN A 192.0.2.1',
        'www.example.org. 3600 IN A 192.0.2.2',
      ],
    },
    {
      name: 'answers AAAA',
      corefile: inline,
      ask: 'www.example.org AAAA',
      reply: ['NOERROR aa rd', 'www.example.org. 3600 IN AAAA 2001:db8::1'],
    },
    {
      name: 'has no data of other types, and no SOA record to say so',
      corefile: inline,
      ask: 'www.example.org MX',
      reply: ['NOERROR aa rd'],
    },
    {
      name: 'has no data of the other family',
      corefile: inline,
      ask: 'alias.example.org AAAA',
      reply: ['NOERROR aa rd'],
    },
    {
      name: 'fails for a name that it does not have',
      corefile: inline,
      ask: 'nosuch.example.org A',
      reply: ['SERVFAIL rd'],
    },
    {
      name: 'fails for a name above one that it has',
      corefile: inline,
      ask: 'example.org A',
      reply: ['SERVFAIL rd'],
    },
    {
      name: 'fails for the root',
      corefile: inline,
      ask: '. A',
      reply: ['SERVFAIL rd'],
    },
    {
      name: 'maps an address back to its names',
      corefile: inline,
      ask: '1.2.0.192.in-addr.arpa PTR',
      reply: [
        'NOERROR aa rd',
        '1.2.0.192.in-addr.arpa. 3600 IN PTR www.example.org.',
        '1.2.0.192.in-addr.arpa. 3600 IN PTR alias.example.org.',
      ],
    },
    {
      name: 'has no other data at an address',
      corefile: inline,
      ask: '1.2.0.192.in-addr.arpa A',
      reply: ['SERVFAIL rd'],
    },
    {
      name: 'answers one label before a wildcard',
      corefile: inline,
      ask: 'x.wild.example.org A',
      reply: ['NOERROR aa rd', 'x.wild.example.org. 3600 IN A 192.0.2.9'],
    },
    {
      name: 'does not answer two labels before a wildcard',
      corefile: inline,
      ask: 'x.y.wild.example.org A',
      reply: ['SERVFAIL rd'],
    },
    {
      name: 'does not answer the name above a wildcard',
      corefile: inline,
      ask: 'wild.example.org A',
      reply: ['SERVFAIL rd'],
    },
    {
      name: 'has the own entries of a name hide the wildcard for all types',
      corefile: inline,
      ask: 'own.wild.example.org AAAA',
      reply: ['NOERROR aa rd'],
    },
    {
      name: 'does not map an address back to a wildcard',
      corefile: inline,
      ask: '9.2.0.192.in-addr.arpa PTR',
      reply: ['SERVFAIL rd'],
    },
  ]
  for (const { name, corefile, ask, reply } of cases) {
    test(name, async () => {
      assert.deepEqual(await serve(corefile).ask(ask), reply)
    })
  }

  test('finds names in any letter case', async () => {
    const [head, record] = await serve(inline).ask('ALIAS.example.ORG A')
    assert.equal(head, 'NOERROR aa rd')
    assert.equal(record?.toLowerCase(), 'alias.example.org. 3600 in a 192.0.2.1')
  })
})

describe('what hosts passes on', () => {
  const forward = 'forward . 192.0.2.53'
  const cases: Case[] = [
    {
      name: 'passes nothing on without fallthrough',
      corefile: block(directive('hosts none', ...LINES), forward),
      ask: 'next.example.org A',
      reply: ['SERVFAIL rd'],
    },
    {
      name: 'passes unknown names on with fallthrough',
      corefile: block(directive('hosts none', ...LINES, 'fallthrough'), forward),
      ask: 'next.example.org A',
      reply: NEXT,
    },
    {
      name: 'keeps a known name of other types with fallthrough',
      corefile: block(directive('hosts none', ...LINES, 'fallthrough'), forward),
      ask: 'www.example.org MX',
      reply: ['NOERROR aa rd'],
    },
    {
      name: 'passes on within the zones of fallthrough',
      corefile: block(
        directive('hosts none', ...LINES, 'fallthrough a.org next.example.org'),
        forward,
      ),
      ask: 'next.example.org A',
      reply: NEXT,
    },
    {
      name: 'passes nothing on outside of them',
      corefile: block(directive('hosts none', ...LINES, 'fallthrough example.net'), forward),
      ask: 'next.example.org A',
      reply: ['SERVFAIL rd'],
    },
    {
      name: 'passes unknown addresses on, also without fallthrough',
      corefile: block(directive('hosts none', ...LINES), forward),
      ask: '80.2.0.192.in-addr.arpa PTR',
      reply: NEXT,
    },
    {
      name: 'passes addresses on with no_reverse',
      corefile: block(directive('hosts none', ...LINES, 'no_reverse'), forward),
      ask: '1.2.0.192.in-addr.arpa PTR',
      reply: NEXT,
    },
    {
      name: 'passes other types on when configured to',
      corefile: block(
        directive('hosts none', ...LINES, 'fallthrough', 'fallthrough_unsupported'),
        forward,
      ),
      ask: 'www.example.org MX',
      reply: NEXT,
    },
    {
      name: 'passes no other types on outside of the zones of fallthrough',
      corefile: block(
        directive('hosts none', ...LINES, 'fallthrough a.org', 'fallthrough_unsupported'),
        forward,
      ),
      ask: 'www.example.org MX',
      reply: ['NOERROR aa rd'],
    },
    {
      name: 'passes no addresses on that it has, whatever is configured',
      corefile: block(
        directive('hosts none', ...LINES, 'fallthrough', 'fallthrough_unsupported'),
        forward,
      ),
      ask: 'alias.example.org AAAA',
      reply: ['NOERROR aa rd'],
    },
    {
      name: 'passes on what is outside of its zones',
      corefile: block('hosts none example.net', forward),
      ask: 'next.example.org A',
      reply: NEXT,
    },
    {
      name: 'maps addresses back, whatever its zones',
      corefile: block(directive('hosts none example.org', ...LINES), forward),
      ask: '2.2.0.192.in-addr.arpa PTR',
      reply: ['NOERROR aa rd', '2.2.0.192.in-addr.arpa. 3600 IN PTR www.example.org.'],
    },
    {
      name: 'passes over lines outside of its zones',
      corefile: block(directive('hosts none example.net', ...LINES), forward),
      ask: '2.2.0.192.in-addr.arpa PTR',
      reply: NEXT,
    },
    {
      name: 'has the zones of the server block',
      corefile: `example.net . {\n ${directive('hosts none', ...LINES)}\n}`,
      ask: 'www.example.org A +port=53',
      reply: [
        'NOERROR aa rd',
        'www.example.org. 3600 IN A 192.0.2.1',
        'www.example.org. 3600 IN A 192.0.2.2',
      ],
    },
  ]
  for (const { name, corefile, ask, reply } of cases) {
    test(name, async () => {
      const got = await serve(corefile, { upstream: nextUpstream }).ask(ask)
      assert.deepEqual(got, expectedFor(ask, reply))
    })
  }
})

describe('options of hosts', () => {
  test('set the TTL', async () => {
    const server = serve(block(directive('hosts none', 'ttl 65535', '192.0.2.1 a.example.org')))
    assert.deepEqual(await server.ask('a.example.org A'), [
      'NOERROR aa rd',
      'a.example.org. 65535 IN A 192.0.2.1',
    ])
  })

  const problems: { name: string; directives: string[]; problem: string }[] = [
    {
      name: 'have a TTL of 1 at least',
      directives: [directive('hosts', 'ttl 0')],
      problem: 'Corefile:3:9: "0" is not a number from 1 to 65535',
    },
    {
      name: 'have a TTL of 65535 at most',
      directives: [directive('hosts', 'ttl 65536')],
      problem: 'Corefile:3:9: "65536" is not a number from 1 to 65535',
    },
    {
      name: 'say how long the TTL is',
      directives: [directive('hosts', 'ttl')],
      problem: 'Corefile:3:5: "ttl" takes 1 argument(s), got 0',
    },
    {
      name: 'have no argument for no_reverse',
      directives: [directive('hosts', 'no_reverse x')],
      problem: 'Corefile:3:5: "no_reverse" takes 0 argument(s), got 1',
    },
    {
      name: 'have a duration for reload',
      directives: [directive('hosts', 'reload 5')],
      problem: 'Corefile:3:12: "5" is not a duration such as 30s, 1m30s or 500ms',
    },
    {
      name: 'have names for zones',
      directives: ['hosts none a..b'],
      problem: 'Corefile:2:14: "a..b" is not a domain name',
    },
    {
      name: 'have lines of hosts before fallthrough, as in CoreDNS',
      directives: [directive('hosts', 'fallthrough', '192.0.2.1 a.example.org')],
      problem: 'Corefile:4:5: "192.0.2.1" comes after "fallthrough"; move hosts lines before it',
    },
    {
      name: 'have fallthrough for fallthrough_unsupported',
      directives: [directive('hosts', 'fallthrough_unsupported')],
      problem: 'Corefile:3:5: "fallthrough_unsupported" needs "fallthrough"',
    },
    {
      name: 'may appear once in a block',
      directives: ['hosts', 'hosts'],
      problem: 'Corefile:3:3: "hosts" appears twice in this server block; remove one',
    },
  ]
  for (const { name, directives, problem } of problems) {
    test(name, () => {
      assert.deepEqual(problemsOf(block(...directives)), [problem])
    })
  }
})
