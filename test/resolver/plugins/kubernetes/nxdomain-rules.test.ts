import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, directive, type Server, serve } from '../../../ask.ts'
import { SHOP } from './objects.ts'

const ZONES = 'cluster.local in-addr.arpa ip6.arpa'
const DOTTED = `${SHOP}
- kind: EndpointSlice
  metadata: {name: db-3, namespace: shop, labels: {kubernetes.io/service-name: db}}
  endpoints: [{addresses: [198.51.100.13], targetRef: {name: a.b}}]
`

function serveRules(rules: string, options: readonly string[]): Server {
  const line = directive(`kubernetes ${ZONES}`, `answers ${rules}`, ...options)
  return serve(block(line), {
    cluster: { objects: DOTTED, localAddresses: ['203.0.113.53'] },
  })
}

type Case = {
  readonly name: string
  readonly ask: string
  readonly options?: readonly string[]
  /** Replies by either rules, less the authority section. */
  readonly coredns: readonly string[]
  readonly rfc: readonly string[]
}

const NODATA = ['NOERROR aa rd']
const NXDOMAIN = ['NXDOMAIN aa rd']
const NS = [
  'NOERROR aa rd',
  'CLUSTER.local. 5 IN NS ns.dns.CLUSTER.local.',
  'additional: ns.dns.CLUSTER.local. 5 IN A 203.0.113.53',
]
const LONG = '1.1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa'
const POINTER = ['NOERROR aa rd', `c.b.a.${LONG}. 5 IN PTR db-0.db.shop.svc.cluster.local.`]
const INSECURE = ['pods insecure']
const VERIFIED = ['pods verified']
const POD = '198-51-100-1.shop.pod.cluster.local'
const POD_SERVICE = [
  'NOERROR aa rd',
  `${POD}. 5 IN SRV 0 100 0 ${POD}.`,
  `additional: ${POD}. 5 IN A 198.51.100.1`,
]

/** One row or more for each row of the table in the source. */
const CASES: readonly Case[] = [
  {
    name: 'SOA at a name that is not',
    ask: 'nosuch.shop.svc.cluster.local SOA',
    coredns: NODATA,
    rfc: NXDOMAIN,
  },
  {
    name: 'SOA at a name that is',
    ask: 'web.shop.svc.cluster.local SOA',
    coredns: NODATA,
    rfc: NODATA,
  },
  { name: 'TXT at the apex', ask: 'cluster.local TXT', coredns: NXDOMAIN, rfc: NODATA },
  { name: 'TXT at svc', ask: 'svc.cluster.local TXT', coredns: NXDOMAIN, rfc: NODATA },
  { name: 'TXT at pod', ask: 'pod.cluster.local TXT', coredns: NXDOMAIN, rfc: NODATA },
  { name: 'TXT at a namespace', ask: 'shop.svc.cluster.local TXT', coredns: NXDOMAIN, rfc: NODATA },
  {
    name: 'TXT at the Pods of a namespace',
    ask: 'shop.pod.cluster.local TXT',
    options: INSECURE,
    coredns: NXDOMAIN,
    rfc: NODATA,
  },
  { name: 'TXT at ns.dns', ask: 'ns.dns.cluster.local TXT', coredns: NXDOMAIN, rfc: NODATA },
  { name: 'TXT at a Service', ask: 'web.shop.svc.cluster.local TXT', coredns: NODATA, rfc: NODATA },
  { name: 'PTR at ns.dns', ask: 'ns.dns.cluster.local PTR', coredns: NXDOMAIN, rfc: NODATA },
  { name: 'MX at ns.dns', ask: 'ns.dns.cluster.local MX', coredns: NODATA, rfc: NODATA },
  { name: 'A at dns-version', ask: 'dns-version.cluster.local A', coredns: NXDOMAIN, rfc: NODATA },
  {
    name: 'a name above ports',
    ask: '_tcp.web.shop.svc.cluster.local A',
    coredns: NXDOMAIN,
    rfc: NODATA,
  },
  {
    name: 'a name above ports, spelled without underscore',
    ask: 'tcp.web.shop.svc.cluster.local A',
    coredns: NXDOMAIN,
    rfc: NODATA,
  },
  { name: 'a name above ns.dns', ask: 'dns.cluster.local A', coredns: NXDOMAIN, rfc: NODATA },
  {
    name: 'two labels before a Service that are no port',
    ask: 'a.b.db.shop.svc.cluster.local A',
    options: ['endpoint_pod_names'],
    coredns: NXDOMAIN,
    rfc: ['NOERROR aa rd', 'a.b.db.shop.svc.cluster.local. 5 IN A 198.51.100.13'],
  },
  { name: 'NS at the apex, in capitals', ask: 'CLUSTER.local NS', coredns: NODATA, rfc: NS },
  {
    name: 'A at an address',
    ask: '10.2.0.192.in-addr.arpa A',
    coredns: NXDOMAIN,
    rfc: NODATA,
  },
  {
    name: 'a part of an address',
    ask: '0.192.in-addr.arpa PTR',
    coredns: NXDOMAIN,
    rfc: NODATA,
  },
  {
    name: 'a part that no address begins with',
    ask: '1.192.in-addr.arpa PTR',
    coredns: NXDOMAIN,
    rfc: NODATA,
  },
  {
    name: 'three labels before an IPv6 address',
    ask: `c.b.a.${LONG} PTR`,
    coredns: POINTER,
    rfc: NXDOMAIN,
  },
  {
    name: 'four labels before an IPv6 address',
    ask: `d.c.b.a.${LONG} PTR`,
    coredns: NXDOMAIN,
    rfc: NXDOMAIN,
  },
  {
    name: 'a label before an IPv4 address',
    ask: 'a.10.2.0.192.in-addr.arpa PTR',
    coredns: NXDOMAIN,
    rfc: NXDOMAIN,
  },
  {
    name: 'SRV at the name of an address',
    ask: `${POD} SRV`,
    options: INSECURE,
    coredns: POD_SERVICE,
    rfc: NODATA,
  },
  {
    name: 'SRV at the name of a Pod',
    ask: `${POD} SRV`,
    options: VERIFIED,
    coredns: POD_SERVICE,
    rfc: NODATA,
  },
]

for (const rules of ['coredns', 'rfc'] as const) {
  describe(`answers ${rules}`, () => {
    for (const { name, ask, options = [], [rules]: wanted } of CASES) {
      test(`for ${name}`, async () => {
        const reply = await serveRules(rules, options).ask(ask)
        assert.deepEqual(
          reply.filter((line) => !line.startsWith('authority: ')),
          wanted,
        )
      })
    }
  })
}

describe('NS records in capitals', () => {
  const cases: {
    name: string
    more: readonly string[]
    asked: readonly string[]
    count: number
  }[] = [
    { name: 'are none', more: [], asked: ['cluster.local NS'], count: 0 },
    { name: 'are none of a cache that has none', more: ['cache'], asked: [], count: 0 },
    { name: 'are in a cache', more: ['cache'], asked: ['cluster.local NS'], count: 1 },
    { name: "are the zone's own", more: ['cache'], asked: ['in-addr.arpa NS'], count: 0 },
  ]
  for (const { name, more, asked, count } of cases) {
    test(name, async () => {
      const corefile = block('kubernetes cluster.local in-addr.arpa', ...more)
      const cluster = { objects: SHOP, localAddresses: ['203.0.113.53'] }
      const server = serve(corefile, { cluster })
      for (const question of asked) await server.ask(question)
      const reply = await server.ask('CLUSTER.local NS')
      assert.equal(reply.filter((line) => line.includes(' IN NS ')).length, count)
    })
  }
})

describe('answers', () => {
  test('are those of CoreDNS when nothing is said', async () => {
    const server = serve(block('kubernetes cluster.local'), { cluster: { objects: SHOP } })
    assert.equal((await server.ask('cluster.local TXT'))[0], 'NXDOMAIN aa rd')
  })
})
