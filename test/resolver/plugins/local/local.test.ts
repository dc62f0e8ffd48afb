import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, directive, problemsOf, serve } from '../../../ask.ts'

const NEXT = directive('hosts none', '192.0.2.1 localhost.example.org www.example.org')
const RDATA = 'localhost. root.localhost. 1 0 0 0 604800'

describe('local', () => {
  const cases: { name: string; ask: string; reply: string[] }[] = [
    {
      name: 'is 127.0.0.1',
      ask: 'localhost A',
      reply: ['NOERROR rd', 'localhost. 604800 IN A 127.0.0.1'],
    },
    {
      name: 'is ::1, letter case kept',
      ask: 'LocalHost AAAA',
      reply: ['NOERROR rd', 'LocalHost. 604800 IN AAAA ::1'],
    },
    {
      name: 'is so below localhost',
      ask: 'a.b.localhost A',
      reply: ['NOERROR rd', 'a.b.localhost. 604800 IN A 127.0.0.1'],
    },
    {
      name: 'is so where a search list has put something after it',
      ask: 'localhost.example.org A',
      reply: ['NOERROR rd', 'localhost.example.org. 604800 IN A 127.0.0.1'],
    },
    {
      name: 'has no data of other types below localhost, as a record made up says',
      ask: 'a.localhost MX',
      reply: ['NOERROR rd', `authority: a.localhost. 604800 IN SOA ${RDATA}`],
    },
    {
      name: 'has an SOA record',
      ask: 'localhost SOA',
      reply: ['NOERROR rd', `localhost. 604800 IN SOA ${RDATA}`],
    },
    {
      name: 'has a name server',
      ask: '127.in-addr.arpa NS',
      reply: ['NOERROR rd', '127.in-addr.arpa. 604800 IN NS localhost.'],
    },
    {
      name: 'has no address at the apex of a reverse zone',
      ask: '0.in-addr.arpa A',
      reply: ['NOERROR rd', `authority: 0.in-addr.arpa. 604800 IN SOA ${RDATA}`],
    },
    {
      name: 'leads 127.0.0.1 back',
      ask: '1.0.0.127.in-addr.arpa PTR',
      reply: ['NOERROR rd', '1.0.0.127.in-addr.arpa. 604800 IN PTR localhost.'],
    },
    {
      name: 'has no other data there',
      ask: '1.0.0.127.IN-addr.arpa TXT',
      reply: ['NOERROR rd', `authority: 127.IN-addr.arpa. 604800 IN SOA ${RDATA}`],
    },
    {
      name: 'knows no other address of the machine',
      ask: '2.0.0.127.in-addr.arpa PTR',
      reply: ['NXDOMAIN rd', `authority: 127.in-addr.arpa. 604800 IN SOA ${RDATA}`],
    },
    {
      name: 'knows no broadcast address',
      ask: '255.255.255.255.in-addr.arpa PTR',
      reply: ['NXDOMAIN rd', `authority: 255.in-addr.arpa. 604800 IN SOA ${RDATA}`],
    },
    {
      name: 'leaves other names to the next plugin',
      ask: 'www.example.org A',
      reply: ['NOERROR aa rd', 'www.example.org. 3600 IN A 192.0.2.1'],
    },
    {
      name: 'is not taken in by localhost in the midst of a name',
      ask: 'www.localhost.example.org A',
      reply: ['SERVFAIL rd'],
    },
    {
      name: 'is not taken in by longer labels',
      ask: 'localhosts A',
      reply: ['SERVFAIL rd'],
    },
  ]
  for (const ask of [
    'a.localhost A',
    'localhost.cluster.local A',
    '0.in-addr.arpa A',
    '3.0.in-addr.arpa PTR',
    '1.0.0.127.in-addr.arpa PTR',
    '127.in-addr.arpa NS',
    '255.255.in-addr.arpa PTR',
  ]) {
    test(`is not answered by others on the fast path: ${ask}`, async () => {
      const kubernetes = 'kubernetes cluster.local in-addr.arpa localhost'
      const cluster = { objects: '- {kind: Namespace, metadata: {name: shop}}' }
      const beside = await serve(block('local', kubernetes), { cluster }).ask(ask)
      assert.deepEqual(beside, await serve(block('local', NEXT)).ask(ask))
    })
  }

  for (const { name, ask, reply } of cases) {
    test(name, async () => {
      assert.deepEqual(await serve(block('local', NEXT)).ask(ask), reply)
    })
  }

  test('may leave what begins with localhost to the next plugin', async () => {
    const server = serve(block(directive('local', 'localhost_prefix off'), NEXT))
    const reply = ['NOERROR aa rd', 'localhost.example.org. 3600 IN A 192.0.2.1']
    assert.deepEqual(await server.ask('localhost.example.org A'), reply)
    assert.equal((await server.ask('a.localhost A'))[1], 'a.localhost. 604800 IN A 127.0.0.1')
  })

  test('counts what is localhost without being its apex', async () => {
    const server = serve(block('local', NEXT))
    const names = ['localhost', 'a.localhost', 'localhost.a', '1.0.0.127.in-addr.arpa', 'www.a']
    for (const name of names) await server.ask(`${name} A`)
    assert.match(server.host.metrics.format(), /^coredns_local_localhost_requests_total 2$/m)
  })

  test('leaves names of the cluster on the fast path', async () => {
    const corefile = block('local', 'kubernetes cluster.local in-addr.arpa')
    const server = serve(corefile, { cluster: { objects: '[]' } })
    assert.equal(await server.isQuick('nosuch.cluster.local A'), true)
    assert.equal(await server.isQuick('localhost.cluster.local A'), false)
    assert.equal(await server.isQuick('1.2.0.192.in-addr.arpa PTR'), true)
    assert.equal(await server.isQuick('1.2.0.127.in-addr.arpa PTR'), false)
  })

  const problems: { name: string; directives: string[]; problem: string }[] = [
    {
      name: 'takes no argument',
      directives: ['local x'],
      problem: 'Corefile:2:9: "local" takes no arguments, got "x"',
    },
    {
      name: 'has one option',
      directives: [directive('local', 'localhost_suffix on')],
      problem: 'Corefile:3:5: "local" has no option "localhost_suffix"; it has localhost_prefix',
    },
    {
      name: 'has it on or off',
      directives: [directive('local', 'localhost_prefix yes')],
      problem: 'Corefile:3:22: "yes" is not one of on, off',
    },
    {
      name: 'has it one way',
      directives: [directive('local', 'localhost_prefix')],
      problem: 'Corefile:3:5: "localhost_prefix" takes 1 argument(s), got 0',
    },
  ]
  for (const { name, directives, problem } of problems) {
    test(name, () => {
      assert.deepEqual(problemsOf(block(...directives)), [problem])
    })
  }
})
