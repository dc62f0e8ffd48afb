import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { asWordBytes } from '../../../../src/dns/bytes/bytes.ts'
import { nameOf } from '../../../../src/dns/names/name.ts'
import { ReplyWriter } from '../../../../src/dns/wire/reply-writer.ts'
import { writeSoa } from '../../../../src/resolver/plugins/kubernetes/soa.ts'
import { block, directive, serve } from '../../../ask.ts'
import { GENERATION } from '../../../fake-cluster.ts'
import { SHOP, soa } from './objects.ts'
import { queryOf } from './view.ts'

const NUMBERS = `${GENERATION} 7200 1800 86400`

describe('the SOA record', () => {
  const long = [63, 63, 63, 54].map((length) => 'z'.repeat(length)).join('.')
  const cases: { name: string; line: string; ask: string; reply: string[] }[] = [
    {
      name: 'is the answer at the apex',
      line: 'kubernetes cluster.local',
      ask: 'cluster.local SOA',
      reply: ['NOERROR aa rd', soa().replace('authority: ', '')],
    },
    {
      name: 'comes with NODATA',
      line: 'kubernetes cluster.local',
      ask: 'web.shop.svc.cluster.local AAAA',
      reply: ['NOERROR aa rd', soa()],
    },
    {
      name: 'comes with NXDOMAIN',
      line: 'kubernetes cluster.local',
      ask: 'nosuch.shop.svc.cluster.local AAAA',
      reply: ['NXDOMAIN aa rd', soa()],
    },
    {
      name: 'is that of the zone which was queried',
      line: 'kubernetes cluster.local example.org',
      ask: 'nosuch.example.org A',
      reply: ['NXDOMAIN aa rd', soa('example.org')],
    },
    {
      name: 'has the TTL of the zone twice',
      line: directive('kubernetes cluster.local', 'ttl 0'),
      ask: 'nosuch.cluster.local A',
      reply: ['NXDOMAIN aa rd', soa('cluster.local', 0)],
    },
    {
      name: 'has a TTL of 300 at most, and a minimum of more',
      line: directive('kubernetes cluster.local', 'ttl 3600'),
      ask: 'nosuch.cluster.local A',
      reply: ['NXDOMAIN aa rd', soa('cluster.local', 3600)],
    },
    {
      name: 'may be that of the root',
      line: 'kubernetes .',
      ask: 'nosuch A',
      reply: ['NXDOMAIN aa rd', `authority: . 5 IN SOA ns.dns. hostmaster. ${NUMBERS} 5`],
    },
    {
      name: 'is left out where its names are too long',
      line: `kubernetes ${long}`,
      ask: `x.${long} A`,
      reply: ['NXDOMAIN aa rd'],
    },
  ]
  for (const { name, line, ask, reply } of cases) {
    test(name, async () => {
      assert.deepEqual(await serve(block(line), { cluster: { objects: SHOP } }).ask(ask), reply)
    })
  }

  test('is left out of a reply that is full', () => {
    const query = queryOf('a.example.org A')
    const writer = new ReplyWriter()
    const zone = {
      origin: asWordBytes(nameOf('example.org')),
      isReverse: false,
      isMulticluster: false,
      hasWildcards: false,
      hasCache: false,
      hadNsQuery: false,
    }
    const info = { generation: 1, timeMs: 0, ttlSeconds: 5, records: 0, origins: [] }
    writer.begin(query, { bytesMax: 20 })
    writeSoa(writer, query, zone, info)
    const { length } = writer
    assert.ok(writer.isFull)
    writeSoa(writer, query, zone, info)
    assert.equal(writer.length, length)
    assert.equal(length, query.questionEnd)
  })
})
