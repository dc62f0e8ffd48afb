import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { resolverSteps } from '../../../../src/resolver/chain/create-resolver.ts'
import { block, directive, parseBlocks, problemsOf, serve } from '../../../ask.ts'
import { FakeHost } from '../../../fake-host.ts'

const HOSTS = directive('hosts none', '192.0.2.1 www.example.org www.example.net')
const ANSWER = ['NOERROR aa rd', 'www.example.org. 3600 IN A 192.0.2.1']
const OTHER_ANSWER = ['NOERROR aa rd', 'www.example.net. 3600 IN A 192.0.2.1']
const SERVICE = `
- {kind: Namespace, metadata: {name: shop}}
- kind: Service
  metadata: {name: web, namespace: shop}
  spec: {clusterIP: 10.96.0.1, ports: [{port: 80}]}
`

/** A rule of some lines, and what answers where it lets queries pass. */
function rule(...lines: readonly string[]): string {
  return block(directive('acl', ...lines), HOSTS)
}

describe('acl', () => {
  const cases: { name: string; corefile: string; ask: string; reply: string[] }[] = [
    {
      name: 'lets pass what no rule is about',
      corefile: rule('block net 10.0.0.0/8'),
      ask: 'www.example.org A',
      reply: ANSWER,
    },
    {
      name: 'lets everything pass without a rule',
      corefile: block('acl', HOSTS),
      ask: 'www.example.org A',
      reply: ANSWER,
    },
    {
      name: 'refuses what is blocked, and says that it is',
      corefile: rule('block net 198.51.100.0/24'),
      ask: 'www.example.org A +edns',
      reply: ['REFUSED rd', 'edns: 1232 do', 'ede: 15'],
    },
    {
      name: 'says nothing to a client that has no EDNS',
      corefile: rule('block net 198.51.100.0/24'),
      ask: 'www.example.org A',
      reply: ['REFUSED rd'],
    },
    {
      name: 'empties what is filtered, and says that it does',
      corefile: rule('filter type A'),
      ask: 'www.example.org A +do',
      reply: ['NOERROR rd', 'edns: 1232 do', 'ede: 17'],
    },
    {
      name: 'does not answer what is dropped',
      corefile: rule('drop'),
      ask: 'www.example.org A',
      reply: [],
    },
    {
      name: 'goes by the first line that fits',
      corefile: rule('allow net 198.51.100.7', 'block'),
      ask: 'www.example.org A',
      reply: ANSWER,
    },
    {
      name: 'blocks the rest',
      corefile: rule('allow net 198.51.100.7', 'block'),
      ask: 'www.example.org A +from=198.51.100.8',
      reply: ['REFUSED rd'],
    },
    {
      name: 'goes by types',
      corefile: rule('block type AAAA MX'),
      ask: 'www.example.org MX',
      reply: ['REFUSED rd'],
    },
    {
      name: 'lets other types pass',
      corefile: rule('block type AAAA MX'),
      ask: 'www.example.org A',
      reply: ANSWER,
    },
    {
      name: 'takes ANY for the type of that name',
      corefile: rule('block type ANY'),
      ask: 'www.example.org A',
      reply: ANSWER,
    },
    {
      name: 'takes * for all types and all addresses, whatever is after it',
      corefile: rule('block type * BOGUS net * bogus'),
      ask: 'www.example.org A',
      reply: ['REFUSED rd'],
    },
    {
      name: 'reads types and networks in any order and as often as they come, in any letter case',
      corefile: rule('BLOCK NET 10.0.0.0/8 Type MX net 198.51.100.7 type A'),
      ask: 'www.example.org A',
      reply: ['REFUSED rd'],
    },
    {
      name: 'goes by addresses of IPv6',
      corefile: rule('block net 2001:db8::/32 ::1'),
      ask: 'www.example.org A +from=2001:db8::7',
      reply: ['REFUSED rd'],
    },
    {
      name: 'blocks a client that comes from no address',
      corefile: rule('filter net 10.0.0.0/8'),
      ask: 'www.example.org A +from=nowhere',
      reply: ['REFUSED rd'],
    },
    {
      name: 'is about its zones only',
      corefile: block(directive('acl example.org', 'block'), HOSTS),
      ask: 'www.example.net A',
      reply: OTHER_ANSWER,
    },
    {
      name: 'applies the second rule where the first has no line',
      corefile: block(
        directive('acl example.org', 'block type TXT'),
        directive('acl', 'filter type A'),
        HOSTS,
      ),
      ask: 'www.example.org A',
      reply: ['NOERROR rd'],
    },
    {
      name: 'applies no further rule after one that allows',
      corefile: block(directive('acl example.org', 'allow'), directive('acl', 'block'), HOSTS),
      ask: 'www.example.org A',
      reply: ANSWER,
    },
  ]
  for (const { name, corefile, ask, reply } of cases) {
    test(name, async () => {
      assert.deepEqual(await serve(corefile).ask(ask), reply)
    })
  }

  test('keeps distinguishing clients when there are many', async () => {
    const server = serve(rule('block net 10.0.0.0/16', 'filter net 10.0.0.0/8'))
    for (let i = 0; i < 5000; i++) {
      const ask = `www.example.org A +from=10.${i >> 8}.0.${i & 255}`
      assert.deepEqual(await server.ask(ask), [i < 256 ? 'REFUSED rd' : 'NOERROR rd'])
    }
  })

  test('counts what it does', async () => {
    const server = serve(
      block(
        directive('acl example.org', 'drop type MX', 'filter type TXT', 'block type AAAA'),
        HOSTS,
      ),
    )
    for (const type of ['A', 'MX', 'TXT', 'TXT', 'AAAA'])
      await server.ask(`www.example.org ${type}`)
    const lines = server.host.metrics.format().split('\n')
    assert.deepEqual(
      lines.filter((line) => line.startsWith('coredns_acl_')),
      [
        'coredns_acl_allowed_requests_total{server="dns://:53",view=""} 1',
        'coredns_acl_blocked_requests_total{server="dns://:53",zone="example.org.",view=""} 1',
        'coredns_acl_dropped_requests_total{server="dns://:53",zone="example.org.",view=""} 1',
        'coredns_acl_filtered_requests_total{server="dns://:53",zone="example.org.",view=""} 2',
      ],
    )
  })

  test('leaves allowed queries on the fast path, and counts them', async () => {
    const server = serve(
      block(directive('acl', 'block type SRV net 198.51.100.7'), 'kubernetes cluster.local'),
      { cluster: { objects: SERVICE } },
    )
    assert.equal(await server.isQuick('web.shop.svc.cluster.local A'), true)
    assert.equal(await server.isQuick('web.shop.svc.cluster.local SRV'), false)
    assert.equal(await server.isQuick('web.shop.svc.cluster.local SRV +from=192.0.2.1'), true)
    // `isQuick` asks both ways.
    assert.match(server.host.metrics.format(), /^coredns_acl_allowed_requests_total.* 4$/m)
  })

  test('takes 20,000 networks, on a line each or on one, in steps of their own', async () => {
    const networks = Array.from(
      { length: 20_000 },
      (_, i) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`,
    )
    const lines = networks.map((network) => `block net ${network}`)
    for (const corefile of [rule(...lines), rule(`block net ${networks.join(' ')}`)]) {
      let steps = 0
      const compiling = resolverSteps(parseBlocks(corefile), new FakeHost({ files: { none: '' } }))
      for (let next = compiling.next(); next.done !== true; next = compiling.next()) steps++
      assert.ok(steps >= 20, String(steps))
      const server = serve(corefile, { files: { none: '' } })
      const from = async (address: string): Promise<string | undefined> =>
        (await server.ask(`www.example.org A +from=${address}`))[0]
      assert.deepEqual(
        [await from('10.0.78.31'), await from('10.0.78.32'), await from('2001:db8::1')],
        ['REFUSED rd', 'NOERROR aa rd', 'NOERROR aa rd'],
      )
    }
  })

  const problems: { name: string; lines: string[]; problem: string }[] = [
    {
      name: 'knows four things to do',
      lines: ['forbid'],
      problem: '3:5: "acl" has no option "forbid"; it has allow, block, filter, drop',
    },
    {
      name: 'begins with types or networks',
      lines: ['block 10.0.0.0/8'],
      problem: '3:11: expected "type" or "net", got "10.0.0.0/8"',
    },
    {
      name: 'has types after "type"',
      lines: ['block type net *'],
      problem: '3:11: "type" needs at least one value',
    },
    {
      name: 'has networks after "net"',
      lines: ['block net'],
      problem: '3:11: "net" needs at least one value',
    },
    {
      name: 'knows types in capitals only',
      lines: ['block type a'],
      problem: '3:16: "a" is not a record type such as A or AAAA',
    },
    {
      name: 'knows no types by number',
      lines: ['block type TYPE1'],
      problem: '3:16: "TYPE1" is not a record type such as A or AAAA',
    },
    {
      name: 'knows networks',
      lines: ['block net 10.0.0.0/33'],
      problem: '3:15: "10.0.0.0/33" is not an address or a block such as 10.0.0.0/8',
    },
  ]
  for (const { name, lines, problem } of problems) {
    test(name, () => {
      assert.deepEqual(problemsOf(rule(...lines)), [`Corefile:${problem}`])
    })
  }
})
