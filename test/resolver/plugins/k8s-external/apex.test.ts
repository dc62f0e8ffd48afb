import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { denial, serveExternal, soaOf } from './objects.ts'

const ADDRESS = '203.0.113.53'

describe('the apex of a zone outside', () => {
  const cases: { name: string; options?: string[]; ask: string; reply: string[] }[] = [
    {
      name: 'has an SOA record',
      ask: 'ext.test SOA',
      reply: ['NOERROR aa rd', soaOf('ext.test')],
    },
    {
      name: 'has a name server, and its addresses in the additional section',
      ask: 'ext.test NS',
      reply: [
        'NOERROR aa rd',
        'ext.test. 5 IN NS ns1.dns.ext.test.',
        `additional: ns1.dns.ext.test. 5 IN A ${ADDRESS}`,
      ],
    },
    { name: 'has nothing else', ask: 'ext.test A', reply: ['NOERROR aa rd', denial()] },
    {
      name: 'has its own TTL and name for what is below',
      options: ['ttl 60', 'apex edge'],
      ask: 'ext.test TXT',
      reply: ['NOERROR aa rd', denial('ext.test', 60, 'edge')],
    },
    {
      name: 'has a name server with an address',
      ask: 'NS1.dns.ext.test A',
      reply: ['NOERROR aa rd', `NS1.dns.ext.test. 5 IN A ${ADDRESS}`],
    },
    {
      name: 'has a name server without one of the other family',
      ask: 'ns1.dns.ext.test AAAA',
      reply: ['NOERROR aa rd', denial()],
    },
    {
      name: 'has a name above that',
      ask: 'dns.ext.test A',
      reply: ['NOERROR aa rd', denial()],
    },
    {
      name: 'has no other name beside it',
      ask: 'ns2.dns.ext.test A',
      reply: ['NXDOMAIN aa rd', denial()],
    },
    {
      name: 'has none below it',
      ask: 'a.ns1.dns.ext.test A',
      reply: ['NXDOMAIN aa rd', denial()],
    },
    {
      name: 'has an apex of several labels',
      options: ['apex a.b'],
      ask: 'ns1.a.b.ext.test A',
      reply: ['NOERROR aa rd', `ns1.a.b.ext.test. 5 IN A ${ADDRESS}`],
    },
    {
      name: 'is one in reverse zones as well',
      ask: 'in-addr.arpa NS',
      reply: [
        'NOERROR aa rd',
        'in-addr.arpa. 5 IN NS ns1.dns.in-addr.arpa.',
        `additional: ns1.dns.in-addr.arpa. 5 IN A ${ADDRESS}`,
      ],
    },
  ]
  for (const { name, options, ask, reply } of cases) {
    test(name, async () => {
      assert.deepEqual(await serveExternal(options).ask(ask), reply)
    })
  }
})

describe('a transfer of a zone outside', () => {
  test('begins with its SOA record, its name server and the addresses of that', async () => {
    const lines = await serveExternal(['ttl 10']).ask('ext.test AXFR +tcp')
    assert.deepEqual(lines.slice(0, 4), [
      'NOERROR aa rd',
      soaOf('ext.test', 10),
      'ext.test. 10 IN NS ns1.dns.ext.test.',
      'ns1.dns.ext.test. 10 IN A 203.0.113.53',
    ])
    assert.equal(lines.at(-1), soaOf('ext.test', 10))
    assert.ok(lines.includes('web.shop.ext.test. 10 IN A 203.0.113.1'))
    assert.ok(lines.includes('web.shop.ext.test. 5 IN SRV 0 100 80 web.shop.ext.test.'))
  })

  test('is of its zones only, and of no name below', async () => {
    const reply = await serveExternal().ask('shop.ext.test AXFR +tcp')
    assert.equal(reply[0]?.split(' ')[0], 'NOERROR')
    assert.ok(reply.every((line) => !line.includes(' SOA ') || line.startsWith('authority')))
  })
})
