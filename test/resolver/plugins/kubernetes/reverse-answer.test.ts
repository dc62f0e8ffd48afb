import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { reverseName } from '../../../../src/dns/names/address.ts'
import { formatName } from '../../../../src/dns/names/name.ts'
import { block, directive, serve } from '../../../ask.ts'
import { SHOP, soa } from './objects.ts'

const OBJECTS = `${SHOP}
- {kind: Service, metadata: {name: also, namespace: shop}, spec: {clusterIP: None}}
- kind: EndpointSlice
  metadata: {name: also-1, namespace: shop, labels: {kubernetes.io/service-name: also}}
  endpoints: [{addresses: [198.51.100.11]}, {addresses: [192.0.2.10]}]
- kind: EndpointSlice
  metadata: {name: orphan-1, namespace: shop, labels: {kubernetes.io/service-name: orphan}}
  endpoints: [{addresses: [198.51.100.41]}]
`
const ALL = 'kubernetes cluster.local in-addr.arpa ip6.arpa'
const CLUSTER = { objects: OBJECTS, localAddresses: ['203.0.113.53'] }
const V6 = '1.1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa'

describe('names of addresses', () => {
  const denied = (zone: string): string[] => ['NXDOMAIN aa rd', soa(zone)]
  const cases: { name: string; line?: string; ask: string; reply: string[] }[] = [
    {
      name: 'point from a cluster IP to its Service, though an endpoint has it, too',
      ask: '10.2.0.192.in-addr.arpa PTR',
      reply: ['NOERROR aa rd', '10.2.0.192.in-addr.arpa. 5 IN PTR web.shop.svc.cluster.local.'],
    },
    {
      name: 'point from an endpoint to all Services that have it',
      ask: '11.100.51.198.in-addr.arpa PTR',
      reply: [
        'NOERROR aa rd',
        '11.100.51.198.in-addr.arpa. 5 IN PTR db-0.db.shop.svc.cluster.local.',
        '11.100.51.198.in-addr.arpa. 5 IN PTR 198-51-100-11.also.shop.svc.cluster.local.',
      ],
    },
    {
      name: 'point from IPv6 addresses',
      ask: `${V6} PTR`,
      reply: ['NOERROR aa rd', `${V6}. 5 IN PTR db-0.db.shop.svc.cluster.local.`],
    },
    {
      name: 'point to a Service that does not exist',
      ask: '41.100.51.198.in-addr.arpa PTR',
      reply: [
        'NOERROR aa rd',
        '41.100.51.198.in-addr.arpa. 5 IN PTR 198-51-100-41.orphan.shop.svc.cluster.local.',
      ],
    },
    {
      name: 'are not for an endpoint that is not ready',
      ask: '2.100.51.198.in-addr.arpa PTR',
      reply: denied('in-addr.arpa'),
    },
    {
      name: 'are not for a Pod without a Service',
      line: directive(ALL, 'pods verified'),
      ask: '9.100.51.198.in-addr.arpa PTR',
      reply: denied('in-addr.arpa'),
    },
    {
      name: 'are not for endpoints under noendpoints',
      line: directive(ALL, 'noendpoints'),
      ask: '11.100.51.198.in-addr.arpa PTR',
      reply: denied('in-addr.arpa'),
    },
    {
      name: 'are denied below the zone of a block of addresses',
      line: 'kubernetes cluster.local 192.0.2.0/24',
      ask: '99.2.0.192.in-addr.arpa PTR',
      reply: denied('2.0.192.in-addr.arpa'),
    },
    {
      name: 'point below the first zone that is not a reverse one',
      line: 'kubernetes in-addr.arpa example.org cluster.local',
      ask: '10.2.0.192.in-addr.arpa PTR',
      reply: ['NOERROR aa rd', '10.2.0.192.in-addr.arpa. 5 IN PTR web.shop.svc.example.org.'],
    },
    {
      name: 'have no leading zeros',
      ask: '010.2.0.192.in-addr.arpa PTR',
      reply: denied('in-addr.arpa'),
    },
    {
      name: 'have no number over 255',
      ask: '266.2.0.192.in-addr.arpa PTR',
      reply: denied('in-addr.arpa'),
    },
    { name: 'have no words', ask: 'web.in-addr.arpa PTR', reply: denied('in-addr.arpa') },
    {
      name: 'have the name server of their zone among them',
      ask: 'ns.dns.in-addr.arpa A',
      reply: ['NOERROR aa rd', 'ns.dns.in-addr.arpa. 5 IN A 203.0.113.53'],
    },
    {
      name: 'have the version of the schema among them',
      ask: 'dns-version.ip6.arpa TXT',
      reply: ['NOERROR aa rd', 'dns-version.ip6.arpa. 28800 IN TXT "1.1.0"'],
    },
    {
      name: 'have no data at their apex',
      ask: 'in-addr.arpa A',
      reply: ['NOERROR aa rd', soa('in-addr.arpa')],
    },
    {
      name: 'have an NS record at their apex',
      ask: 'in-addr.arpa NS',
      reply: [
        'NOERROR aa rd',
        'in-addr.arpa. 5 IN NS ns.dns.in-addr.arpa.',
        'additional: ns.dns.in-addr.arpa. 5 IN A 203.0.113.53',
      ],
    },
    {
      name: 'are not among forward names',
      ask: 'web.shop.svc.in-addr.arpa A',
      reply: denied('in-addr.arpa'),
    },
    {
      name: 'are no data of forward names',
      ask: 'web.shop.svc.cluster.local PTR',
      reply: ['NOERROR aa rd', soa()],
    },
  ]
  for (const { name, line = ALL, ask, reply } of cases) {
    test(name, async () => {
      assert.deepEqual(await serve(block(line), { cluster: CLUSTER }).ask(`${ask} +tcp`), reply)
    })
  }

  test('read nibbles in capitals', async () => {
    const reply = await serve(block(ALL), { cluster: CLUSTER }).ask(`${V6.toUpperCase()} PTR`)
    assert.equal(reply.length, 2)
    assert.match(reply[1] ?? '', / PTR db-0\.db\.shop\.svc\.cluster\.local\.$/)
  })

  test('load the shard of their address, and no other', async () => {
    const server = serve(block(ALL), {
      cluster: { ...CLUSTER, shardCount: 16, presence: 'shards-later' },
    })
    const [head] = await server.ask('10.2.0.192.in-addr.arpa PTR')
    assert.equal(head, 'NOERROR aa rd')
    assert.equal(server.host.loads.length, 1)
  })

  test('deny no part of an address by the RFCs while a shard is not loaded', async () => {
    const server = serve(block(directive(ALL, 'answers rfc')), {
      cluster: { ...CLUSTER, shardCount: 16, presence: 'shards-later' },
    })
    assert.equal((await server.ask('0.192.in-addr.arpa A'))[0], 'NOERROR aa rd')
  })

  test('are denied for any address that nobody has', async () => {
    const server = serve(block(ALL), { cluster: CLUSTER })
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 3, maxLength: 3 }), async (tail) => {
        const name = formatName(reverseName(Uint8Array.of(233, ...tail)))
        assert.deepEqual(await server.ask(`${name} PTR`), denied('in-addr.arpa'))
      }),
    )
  })
})
