import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { formatProblem } from '../../../../src/corefile/problem.ts'
import { block, directive, problemsOf, serve } from '../../../ask.ts'
import type { UpstreamScript } from '../../../fake-host.ts'

const SOA = 'example.org. 100 IN SOA ns.example.org. h.example.org. 1 2 3 4 5'
const ZONE: Readonly<Record<string, readonly string[]>> = {
  'v4.example.org. A': ['NOERROR aa ra', 'v4.example.org. 300 IN A 192.0.2.33'],
  'v4.example.org. AAAA': ['NOERROR aa ra', `authority: ${SOA}`],
  'bare.example.org. A': ['NOERROR', 'bare.example.org. 900 IN A 192.0.2.33'],
  'bare.example.org. AAAA': ['NOERROR'],
  'both.example.org. A': ['NOERROR', 'both.example.org. 60 IN A 192.0.2.33'],
  'both.example.org. AAAA': ['NOERROR', 'both.example.org. 60 IN AAAA 2001:db8::1'],
  'alias.example.org. A': [
    'NOERROR tc',
    'alias.example.org. 60 IN CNAME v4.example.org.',
    'v4.example.org. 60 IN A 192.0.2.33',
    'authority: example.org. 60 IN NS ns.example.org.',
    'additional: ns.example.org. 60 IN A 192.0.2.53',
  ],
  'alias.example.org. AAAA': ['NOERROR', 'alias.example.org. 60 IN CNAME v4.example.org.'],
  'none.example.org. A': ['NOERROR', `authority: ${SOA}`],
  'none.example.org. AAAA': ['NOERROR', `authority: ${SOA}`],
  'nosuch.example.org. AAAA': ['NXDOMAIN', `authority: ${SOA}`],
  'broken.example.org. AAAA': ['SERVFAIL'],
  'broken.example.org. A': ['NOERROR', 'broken.example.org. 60 IN A 192.0.2.33'],
}
const upstream: UpstreamScript = ({ question }) => {
  const [name = '', , type] = question.split(' ')
  return ZONE[`${name.toLowerCase()} ${type}`] ?? new Error('nobody is there')
}
const V6 = '+from=2001:db8::7'

function corefile(...options: readonly string[]): string {
  return block(directive('dns64', ...options), 'forward . 192.0.2.53')
}

describe('dns64', () => {
  const cases: { name: string; options?: string[]; ask: string; reply: string[] }[] = [
    {
      name: 'puts IPv4 addresses after the well-known prefix, not longer than the SOA record',
      ask: `v4.example.org AAAA ${V6}`,
      reply: ['NOERROR rd', 'v4.example.org. 100 IN AAAA 64:ff9b::c000:221'],
    },
    {
      name: 'takes ten minutes where no SOA record says how long',
      ask: `bare.example.org AAAA ${V6}`,
      reply: ['NOERROR rd', 'bare.example.org. 600 IN AAAA 64:ff9b::c000:221'],
    },
    {
      name: 'leaves addresses that exist',
      ask: `both.example.org AAAA ${V6}`,
      reply: ['NOERROR rd', 'both.example.org. 60 IN AAAA 2001:db8::1'],
    },
    {
      name: 'replaces these when it translates all',
      options: ['translate_all'],
      ask: `both.example.org AAAA ${V6}`,
      reply: ['NOERROR rd', 'both.example.org. 60 IN AAAA 64:ff9b::c000:221'],
    },
    {
      name: 'keeps CNAMEs, what is in the additional section, and that there is more',
      ask: `alias.example.org AAAA ${V6}`,
      reply: [
        'NOERROR tc rd',
        'alias.example.org. 60 IN CNAME v4.example.org.',
        'v4.example.org. 60 IN AAAA 64:ff9b::c000:221',
        'authority: example.org. 60 IN NS ns.example.org.',
        'additional: ns.example.org. 60 IN A 192.0.2.53',
      ],
    },
    {
      name: 'has nothing to translate where no address is',
      ask: `none.example.org AAAA ${V6}`,
      reply: ['NOERROR rd', `authority: ${SOA}`],
    },
    {
      name: 'believes that a name is not',
      ask: `nosuch.example.org AAAA ${V6}`,
      reply: ['NXDOMAIN rd', `authority: ${SOA}`],
    },
    {
      name: 'does not believe other errors',
      ask: `broken.example.org AAAA ${V6}`,
      reply: ['NOERROR rd', 'broken.example.org. 60 IN AAAA 64:ff9b::c000:221'],
    },
    {
      name: 'fails where there is no answer at all',
      ask: `silent.example.org AAAA ${V6}`,
      reply: ['SERVFAIL rd'],
    },
    {
      name: 'leaves clients over IPv4 alone',
      ask: 'v4.example.org AAAA',
      reply: ['NOERROR aa rd ra', `authority: ${SOA}`],
    },
    {
      name: 'may translate for them as well',
      options: ['allow_ipv4'],
      ask: 'v4.example.org AAAA',
      reply: ['NOERROR rd', 'v4.example.org. 100 IN AAAA 64:ff9b::c000:221'],
    },
    {
      name: 'leaves other types alone',
      ask: `v4.example.org A ${V6}`,
      reply: ['NOERROR aa rd ra', 'v4.example.org. 300 IN A 192.0.2.33'],
    },
  ]
  for (const { name, options = [], ask, reply } of cases) {
    test(name, async () => {
      assert.deepEqual(await serve(corefile(...options), { upstream }).ask(ask), reply)
    })
  }

  // RFC 6052 §2.4.
  const prefixes: readonly [prefix: string, address: string][] = [
    ['2001:db8::/32', '2001:db8:c000:221::'],
    ['2001:db8:100::/40', '2001:db8:1c0:2:21::'],
    ['2001:db8:122::/48', '2001:db8:122:c000:2:2100::'],
    ['2001:db8:122:300::/56', '2001:db8:122:3c0:0:221::'],
    ['2001:db8:122:344::/64', '2001:db8:122:344:c0:2:2100:0'],
    ['2001:db8:122:344::/96', '2001:db8:122:344::c000:221'],
  ]
  for (const [prefix, address] of prefixes) {
    test(`puts 192.0.2.33 after ${prefix}`, async () => {
      const server = serve(corefile(`prefix ${prefix}`), { upstream })
      const lines = await server.ask(`v4.example.org AAAA ${V6}`)
      assert.equal(lines[1], `v4.example.org. 100 IN AAAA ${address}`)
    })
  }

  test('ignores options after a prefix on its own line, as CoreDNS does, and warns', async () => {
    const server = serve(
      block(directive('dns64 64:1337::/96', 'allow_ipv4'), 'forward . 192.0.2.53'),
      { upstream },
    )
    assert.equal((await server.ask('v4.example.org AAAA'))[1], `authority: ${SOA}`)
    const reply = ['NOERROR rd', 'v4.example.org. 100 IN AAAA 64:1337::c000:221']
    assert.deepEqual(await server.ask(`v4.example.org AAAA ${V6}`), reply)
    assert.deepEqual(server.resolver.notices.map(formatProblem), [
      'Corefile:3:5: "allow_ipv4" has no effect after a prefix on the line of "dns64"; ' +
        'write the prefix as an option below it',
    ])
  })

  test('counts what it translates', async () => {
    const server = serve(corefile(), { upstream })
    for (const name of ['v4', 'none', 'both', 'nosuch', 'silent']) {
      await server.ask(`${name}.example.org AAAA ${V6}`)
    }
    assert.match(
      server.host.metrics.format(),
      /^coredns_dns64_requests_translated_total\{server="dns:\/\/:53"\} 2$/m,
    )
  })

  test('asks for names of the cluster again only where they have no IPv6 address', async () => {
    const objects = `
- {kind: Namespace, metadata: {name: shop}}
- kind: Service
  metadata: {name: four, namespace: shop}
  spec: {clusterIP: 10.96.0.1, ports: [{port: 80}]}
- kind: Service
  metadata: {name: six, namespace: shop}
  spec: {clusterIP: 'fd00::1', ports: [{port: 80}]}
`
    const server = serve(block('dns64', 'kubernetes cluster.local'), { cluster: { objects } })
    const isQuick = (question: string): Promise<boolean> => server.isQuick(question)
    assert.equal(await isQuick('four.shop.svc.cluster.local AAAA'), true)
    assert.equal(await isQuick(`four.shop.svc.cluster.local A ${V6}`), true)
    assert.equal(await isQuick(`six.shop.svc.cluster.local AAAA ${V6}`), true)
    assert.equal(await isQuick(`nosuch.shop.svc.cluster.local AAAA ${V6}`), true)
    assert.equal(await isQuick(`four.shop.svc.cluster.local AAAA ${V6}`), false)
    assert.deepEqual(await server.ask(`four.shop.svc.cluster.local AAAA ${V6}`), [
      'NOERROR rd',
      'four.shop.svc.cluster.local. 5 IN AAAA 64:ff9b::a60:1',
    ])
  })

  const problems: { name: string; directive: string; problem: string }[] = [
    {
      name: 'has three options',
      directive: directive('dns64', 'translate'),
      problem: '3:5: "dns64" has no option "translate"; it has prefix, translate_all, allow_ipv4',
    },
    {
      name: 'has one prefix',
      directive: 'dns64 64::/96 64::/96',
      problem: '2:17: "dns64" takes at most 1 argument(s), got "64::/96"',
    },
    {
      name: 'needs a prefix after the word',
      directive: directive('dns64', 'prefix'),
      problem: '3:5: "prefix" takes 1 argument(s), got 0',
    },
    ...['64:ff9b::', '10.0.0.0/8', '64::/24', '64::/104', '64::/95'].map((prefix) => ({
      name: `does not take ${prefix} for a prefix`,
      directive: `dns64 ${prefix}`,
      problem: `2:9: "${prefix}" is not a prefix such as 64:ff9b::/96, of 32, 40, 48 … 96 bits`,
    })),
  ]
  for (const { name, directive: text, problem } of problems) {
    test(name, () => {
      assert.deepEqual(problemsOf(block(text)), [`Corefile:${problem}`])
    })
  }
})
