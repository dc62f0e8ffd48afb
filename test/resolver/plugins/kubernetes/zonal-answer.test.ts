import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, directive, type Server, serve } from '../../../ask.ts'
import type { FakeClusterOptions } from '../../../fake-cluster.ts'
import { SHOP, soa } from './objects.ts'

const OBJECTS = `${SHOP}
- kind: EndpointSlice
  metadata: {name: db-3, namespace: shop, labels: {kubernetes.io/service-name: db}}
  endpoints:
    - {addresses: [198.51.100.21], hostname: db-7, zone: eu-1a}
    - {addresses: [198.51.100.22], hostname: db-8, zone: corp.example}
  ports: [{name: sql, port: 5432}]
`
const DB = 'db.shop.svc.cluster.local'
const NODATA = ['NOERROR aa rd', soa()]
const ABSENT = ['NXDOMAIN aa rd', soa()]

function serveZonal(options: string[], cluster: Partial<FakeClusterOptions> = {}): Server {
  const line = directive('kubernetes cluster.local', ...options)
  return serve(block(line), { cluster: { objects: OBJECTS, ...cluster } })
}

const addresses = (name: string, ...ends: readonly number[]): string[] => [
  'NOERROR aa rd',
  ...ends.map((end) => `${name}. 5 IN A 198.51.100.${end}`),
]

describe('names of topology zones', () => {
  const cases: { name: string; ask: string; reply: string[] }[] = [
    {
      name: 'have the endpoints of the zone',
      ask: `eu-1a.pin._zone.${DB} A`,
      reply: addresses(`eu-1a.pin._zone.${DB}`, 21),
    },
    {
      name: 'have them with prefer as well',
      ask: `eu-1a.prefer._zone.${DB} A`,
      reply: addresses(`eu-1a.prefer._zone.${DB}`, 21),
    },
    {
      name: 'may have a zone of several labels',
      ask: `corp.example.pin._zone.${DB} A`,
      reply: addresses(`corp.example.pin._zone.${DB}`, 22),
    },
    {
      name: 'have SRV records to the endpoints’ own names',
      ask: `eu-1a.prefer._zone.${DB} SRV`,
      reply: [
        'NOERROR aa rd',
        `eu-1a.prefer._zone.${DB}. 5 IN SRV 0 100 5432 db-7.${DB}.`,
        `additional: db-7.${DB}. 5 IN A 198.51.100.21`,
      ],
    },
    {
      name: 'have no data in another zone, with pin',
      ask: `eu-9.pin._zone.${DB} A`,
      reply: NODATA,
    },
    {
      name: 'have what the Service has in another zone, with prefer',
      ask: `eu-9.prefer._zone.${DB} A`,
      reply: addresses(`eu-9.prefer._zone.${DB}`, 11, 12, 21, 22),
    },
    {
      name: 'take the labels of a port for those of a zone',
      ask: `_sql._tcp.eu-1a.pin._zone.${DB} SRV`,
      reply: NODATA,
    },
    { name: 'have no data of other types', ask: `eu-1a.pin._zone.${DB} TXT`, reply: NODATA },
    {
      name: 'have no data of other types with prefer either',
      ask: `eu-9.prefer._zone.${DB} TXT`,
      reply: NODATA,
    },
    {
      name: 'exist for a headless Service without endpoints',
      ask: 'eu-1a.prefer._zone.idle.shop.svc.cluster.local A',
      reply: NODATA,
    },
    { name: 'are none with another word', ask: `eu-1a.keep._zone.${DB} A`, reply: ABSENT },
    { name: 'are none without a zone', ask: `pin._zone.${DB} A`, reply: ABSENT },
    { name: 'are none without a word', ask: `_zone.${DB} A`, reply: ABSENT },
    {
      name: 'are none of a Service with a cluster IP',
      ask: 'eu-1a.pin._zone.web.shop.svc.cluster.local A',
      reply: ABSENT,
    },
    {
      name: 'are none of a missing Service',
      ask: 'eu-1a.pin._zone.none.shop.svc.cluster.local A',
      reply: ABSENT,
    },
    {
      name: 'are none of Pods',
      ask: 'eu-1a.pin._zone.db.shop.pod.cluster.local A',
      reply: ABSENT,
    },
  ]
  for (const { name, ask, reply } of cases) {
    test(name, async () => {
      const answer = await serveZonal(['zonal']).ask(ask)
      assert.deepEqual(answer.toSorted(), reply.toSorted())
    })
    test(`${name}, also when shards are to be loaded`, async () => {
      const sharded = { shardCount: 16, presence: 'shards-later' } as const
      const answer = await serveZonal(['zonal'], sharded).ask(ask)
      assert.deepEqual(answer.toSorted(), reply.toSorted())
    })
  }

  test('are none without the option', async () => {
    assert.deepEqual(await serveZonal([]).ask(`eu-1a.pin._zone.${DB} A`), ABSENT)
  })

  test('have no data above them by the rules of the RFCs', async () => {
    const server = serveZonal(['zonal', 'answers rfc'])
    for (const name of [`_zone.${DB}`, `pin._zone.${DB}`]) {
      assert.deepEqual(await server.ask(`${name} A`), NODATA)
    }
    assert.deepEqual(
      await server.ask(`eu-1a.prefer._zone.${DB} A`),
      addresses(`eu-1a.prefer._zone.${DB}`, 21),
    )
  })
})
