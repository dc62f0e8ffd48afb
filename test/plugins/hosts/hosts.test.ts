import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, directive, problemsOf, serve } from '../../ask.ts'
import { START_MS } from '../../fake-host.ts'
import { expectedFor, NEXT, nextUpstream } from '../../next-upstream.ts'

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

describe('the hosts file', () => {
  const files = { '/etc/hosts': '192.0.2.5 a.example.org\n', 'my.hosts': '192.0.2.6 a.example.org' }
  const cases: { name: string; line: string; addresses: string[] }[] = [
    { name: 'is /etc/hosts', line: 'hosts', addresses: ['192.0.2.5'] },
    { name: 'is the one that is named', line: 'hosts my.hosts', addresses: ['192.0.2.6'] },
    {
      name: 'comes before the lines in the Corefile',
      line: directive('hosts my.hosts', '192.0.2.7 a.example.org'),
      addresses: ['192.0.2.6', '192.0.2.7'],
    },
    {
      name: 'may be missing',
      line: directive('hosts other.hosts', '192.0.2.7 a.example.org'),
      addresses: ['192.0.2.7'],
    },
  ]
  for (const { name, line, addresses } of cases) {
    test(name, async () => {
      assert.deepEqual(await serve(block(line), { files }).ask('a.example.org A'), [
        'NOERROR aa rd',
        ...addresses.map((address) => `a.example.org. 3600 IN A ${address}`),
      ])
    })
  }

  const reloads: { name: string; option: string; afterMs: number; address: string }[] = [
    { name: 'is not read again before 5 s', option: '', afterMs: 4999, address: '192.0.2.5' },
    { name: 'is read again after 5 s', option: '', afterMs: 5000, address: '192.0.2.55' },
    {
      name: 'is read again as often as configured',
      option: 'reload 1s',
      afterMs: 1000,
      address: '192.0.2.55',
    },
    {
      name: 'is read once when configured so',
      option: 'reload 0',
      afterMs: 60_000,
      address: '192.0.2.5',
    },
  ]
  for (const { name, option, afterMs, address } of reloads) {
    test(name, async () => {
      const server = serve(block(directive('hosts', option)), { files })
      server.resolver.start()
      server.host.files.set('/etc/hosts', '192.0.2.55 a.example.org')
      await server.host.advance(afterMs)
      assert.deepEqual(await server.ask('a.example.org A'), [
        'NOERROR aa rd',
        `a.example.org. 3600 IN A ${address}`,
      ])
      server.resolver.stop()
      assert.equal(server.host.timerCount, 0)
    })
  }

  test('is read again and again, and kept while it is away, as CoreDNS does', async () => {
    const server = serve(block('hosts'), { files })
    server.resolver.start()
    server.host.files.delete('/etc/hosts')
    await server.host.advance(5000)
    assert.equal((await server.ask('a.example.org A'))[0], 'NOERROR aa rd')
    server.host.files.set('/etc/hosts', '192.0.2.56 a.example.org')
    await server.host.advance(5000)
    assert.deepEqual(await server.ask('a.example.org A'), [
      'NOERROR aa rd',
      'a.example.org. 3600 IN A 192.0.2.56',
    ])
  })
})

describe('the metrics of hosts', () => {
  test('count addresses of names and names of addresses, and report when the file was read', async () => {
    const files = { table: '192.0.2.1 a.test b.test\n192.0.2.2 *.c.test' }
    const server = serve(block(directive('hosts table', '192.0.2.3 d.test')), { files })
    server.resolver.start()
    const lines = (): string[] =>
      server.host.metrics
        .format()
        .match(/^coredns_hosts_.*$/gm)
        ?.map(String) ?? []
    const entries = 'coredns_hosts_entries{hostsfile="table"}'
    const read = 'coredns_hosts_reload_timestamp_seconds'
    assert.deepEqual(lines(), [`${entries} 7`, `${read} ${START_MS / 1000}`])
    await server.host.advance(5000)
    assert.deepEqual(lines(), [`${entries} 7`, `${read} ${START_MS / 1000}`])
    server.host.files.set('table', '')
    await server.host.advance(5000)
    assert.deepEqual(lines(), [`${entries} 2`, `${read} ${START_MS / 1000 + 10}`])
  })

  test('are absent without a file', () => {
    assert.doesNotMatch(serve(block('hosts none')).host.metrics.format(), /coredns_hosts/)
  })
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
