import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { nameEndpoints } from '../../../src/cluster/rules/named-slices.ts'
import { serviceNames } from '../../../src/cluster/rules/service-names.ts'
import { linesOf, type NamingCase, namesOf, type Rule } from '../naming.ts'

const services: Rule = (cluster, options) =>
  [...cluster.services.values()].flatMap((service) =>
    serviceNames(service, nameEndpoints(cluster.slicesOf(service), service, options), options),
  )

function check(cases: readonly NamingCase[]): void {
  for (const { name, lines, ...given } of cases) {
    test(name, () => {
      assert.deepEqual(namesOf(given, services), linesOf(lines))
    })
  }
}

describe('a Service with a cluster IP', () => {
  check([
    {
      name: 'has an A record for an IPv4 cluster IP',
      objects: '- { kind: Service, metadata: { name: web }, spec: { clusterIP: 192.0.2.1 } }',
      lines: 'web.default.svc 5 A 192.0.2.1',
    },
    {
      name: 'has an AAAA record for an IPv6 cluster IP',
      objects: '- { kind: Service, metadata: { name: web }, spec: { clusterIP: 2001:db8::1 } }',
      lines: 'web.default.svc 5 AAAA 2001:db8::1',
    },
    {
      name: 'has both, and each port once, when it is dual-stack',
      objects: `
        - kind: Service
          metadata: { name: web, namespace: shop }
          spec:
            clusterIP: 192.0.2.1
            clusterIPs: [192.0.2.1, 2001:db8::1]
            ports: [{ name: http, port: 80 }]`,
      lines: `
        web.shop.svc 5 A 192.0.2.1
        web.shop.svc 5 AAAA 2001:db8::1
        web.shop.svc 5 SRV 0 50 80 web.shop.svc
        _http._tcp.web.shop.svc 5 A 192.0.2.1
        _http._tcp.web.shop.svc 5 AAAA 2001:db8::1
        _http._tcp.web.shop.svc 5 SRV 0 50 80 web.shop.svc`,
    },
    {
      name: 'has the TTL that is requested',
      objects: '- { kind: Service, metadata: { name: web }, spec: { clusterIP: 192.0.2.1 } }',
      options: { ttlSeconds: 30 },
      lines: 'web.default.svc 30 A 192.0.2.1',
    },
    {
      name: 'has the names of its ready endpoints below it',
      objects: `
        - kind: Service
          metadata: { name: web }
          spec: { clusterIP: 192.0.2.1, ports: [{ name: http, port: 80 }] }
        - kind: EndpointSlice
          metadata: { name: web-1, labels: { kubernetes.io/service-name: web } }
          endpoints:
            - { addresses: [198.51.100.7], conditions: { ready: true } }
            - { addresses: [198.51.100.8], conditions: { ready: false } }
          ports: [{ name: http, port: 8080 }]`,
      lines: `
        web.default.svc 5 A 192.0.2.1
        web.default.svc 5 SRV 0 100 80 web.default.svc
        _http._tcp.web.default.svc 5 A 192.0.2.1
        _http._tcp.web.default.svc 5 SRV 0 100 80 web.default.svc
        198-51-100-7.web.default.svc 5 A 198.51.100.7
        198-51-100-7.web.default.svc 5 SRV 0 100 8080 198-51-100-7.web.default.svc`,
    },
    {
      name: 'has no names of endpoints when endpoints are not served',
      objects: `
        - { kind: Service, metadata: { name: web }, spec: { clusterIP: 192.0.2.1 } }
        - kind: EndpointSlice
          metadata: { name: web-1, labels: { kubernetes.io/service-name: web } }
          endpoints: [{ addresses: [198.51.100.7] }]`,
      options: { hasEndpoints: false },
      lines: 'web.default.svc 5 A 192.0.2.1',
    },
    {
      name: 'has a name without any endpoint',
      objects: `
        - { kind: Service, metadata: { name: web }, spec: { clusterIP: 192.0.2.1 } }
        - kind: EndpointSlice
          metadata: { name: web-1, labels: { kubernetes.io/service-name: web } }
          endpoints: [{ addresses: [198.51.100.7], conditions: { ready: false } }]`,
      lines: 'web.default.svc 5 A 192.0.2.1',
    },
    {
      name: 'has no name without a ready endpoint when empty Services are ignored',
      objects: `
        - { kind: Service, metadata: { name: web }, spec: { clusterIP: 192.0.2.1 } }
        - kind: EndpointSlice
          metadata: { name: web-1, labels: { kubernetes.io/service-name: web } }
          endpoints: [{ addresses: [198.51.100.7], conditions: { ready: false } }]`,
      options: { ignoresEmptyServices: true },
      lines: '',
    },
    {
      name: 'has its name with a ready endpoint when empty Services are ignored',
      objects: `
        - { kind: Service, metadata: { name: web }, spec: { clusterIP: 192.0.2.1 } }
        - kind: EndpointSlice
          metadata: { name: web-1, labels: { kubernetes.io/service-name: web } }
          endpoints: [{ addresses: [198.51.100.7], conditions: { ready: true } }]`,
      options: { ignoresEmptyServices: true },
      lines: `
        web.default.svc 5 A 192.0.2.1
        198-51-100-7.web.default.svc 5 A 198.51.100.7`,
    },
    {
      name: 'has no record for a cluster IP that is not an address',
      objects: `
        - kind: Service
          metadata: { name: web }
          spec: { clusterIPs: [192.0.2.1, pending], ports: [{ port: 80 }] }`,
      lines: `
        web.default.svc 5 A 192.0.2.1
        web.default.svc 5 SRV 0 100 80 web.default.svc`,
    },
  ])
})

describe('a headless Service', () => {
  const headless = `
    - kind: Service
      metadata: { name: db }
      spec: { clusterIP: None, ports: [{ name: pg, port: 5432 }] }`
  check([
    {
      name: 'has the addresses of its ready endpoints, of which unknown readiness is one',
      objects: `${headless}
    - kind: EndpointSlice
      metadata: { name: db-1, labels: { kubernetes.io/service-name: db } }
      endpoints:
        - { addresses: [192.0.2.1], conditions: { ready: true } }
        - { addresses: [192.0.2.2], conditions: { ready: null } }
        - { addresses: [192.0.2.3] }
        - { addresses: [192.0.2.4], conditions: { ready: false, serving: true } }`,
      lines: `
        db.default.svc 5 A 192.0.2.1
        db.default.svc 5 A 192.0.2.2
        db.default.svc 5 A 192.0.2.3
        192-0-2-1.db.default.svc 5 A 192.0.2.1
        192-0-2-2.db.default.svc 5 A 192.0.2.2
        192-0-2-3.db.default.svc 5 A 192.0.2.3`,
    },
    {
      name: 'has an SRV record for each ready endpoint, with the port of the slice',
      objects: `${headless}
    - kind: EndpointSlice
      metadata: { name: db-1, labels: { kubernetes.io/service-name: db } }
      endpoints:
        - { addresses: [192.0.2.1], hostname: db-0 }
        - { addresses: [192.0.2.2], hostname: db-1 }
      ports: [{ name: pg, port: 15432 }]`,
      lines: `
        db.default.svc 5 A 192.0.2.1
        db.default.svc 5 A 192.0.2.2
        db.default.svc 5 SRV 0 50 15432 db-0.db.default.svc
        db.default.svc 5 SRV 0 50 15432 db-1.db.default.svc
        _pg._tcp.db.default.svc 5 A 192.0.2.1
        _pg._tcp.db.default.svc 5 A 192.0.2.2
        _pg._tcp.db.default.svc 5 SRV 0 50 15432 db-0.db.default.svc
        _pg._tcp.db.default.svc 5 SRV 0 50 15432 db-1.db.default.svc
        db-0.db.default.svc 5 A 192.0.2.1
        db-0.db.default.svc 5 SRV 0 100 15432 db-0.db.default.svc
        db-1.db.default.svc 5 A 192.0.2.2
        db-1.db.default.svc 5 SRV 0 100 15432 db-1.db.default.svc`,
    },
    {
      name: 'adds up its slices, each with its own ports and family',
      objects: `${headless}
    - kind: EndpointSlice
      metadata: { name: db-v4, labels: { kubernetes.io/service-name: db } }
      endpoints: [{ addresses: [192.0.2.1], hostname: db-0 }]
      ports: [{ name: pg, port: 5432 }]
    - kind: EndpointSlice
      metadata: { name: db-v6, labels: { kubernetes.io/service-name: db } }
      endpoints: [{ addresses: [2001:db8::1], hostname: db-0 }]
      ports: [{ name: admin, port: 9000 }]`,
      lines: `
        db.default.svc 5 A 192.0.2.1
        db.default.svc 5 AAAA 2001:db8::1
        db.default.svc 5 SRV 0 50 5432 db-0.db.default.svc
        db.default.svc 5 SRV 0 50 9000 db-0.db.default.svc
        _pg._tcp.db.default.svc 5 A 192.0.2.1
        _pg._tcp.db.default.svc 5 SRV 0 100 5432 db-0.db.default.svc
        _admin._tcp.db.default.svc 5 AAAA 2001:db8::1
        _admin._tcp.db.default.svc 5 SRV 0 100 9000 db-0.db.default.svc
        db-0.db.default.svc 5 A 192.0.2.1
        db-0.db.default.svc 5 AAAA 2001:db8::1
        db-0.db.default.svc 5 SRV 0 50 5432 db-0.db.default.svc
        db-0.db.default.svc 5 SRV 0 50 9000 db-0.db.default.svc`,
    },
    {
      name: 'takes no slice of another Service or another namespace',
      objects: `${headless}
    - kind: EndpointSlice
      metadata: { name: db-1, labels: { kubernetes.io/service-name: other } }
      endpoints: [{ addresses: [192.0.2.1] }]
    - kind: EndpointSlice
      metadata: { name: db-2, namespace: shop, labels: { kubernetes.io/service-name: db } }
      endpoints: [{ addresses: [192.0.2.2] }]
    - kind: EndpointSlice
      metadata: { name: db-3, labels: { kubernetes.io/service-name: db } }
      endpoints: [{ addresses: [192.0.2.3] }]`,
      lines: `
        db.default.svc 5 A 192.0.2.3
        192-0-2-3.db.default.svc 5 A 192.0.2.3`,
    },
    { name: 'has no name without a slice', objects: headless, lines: '' },
    {
      name: 'has no name without a ready endpoint',
      objects: `${headless}
    - kind: EndpointSlice
      metadata: { name: db-1, labels: { kubernetes.io/service-name: db } }
      endpoints: [{ addresses: [192.0.2.1], conditions: { ready: false } }]
      ports: [{ name: pg, port: 5432 }]`,
      lines: '',
    },
    {
      name: 'has no name when endpoints are not served',
      objects: `${headless}
    - kind: EndpointSlice
      metadata: { name: db-1, labels: { kubernetes.io/service-name: db } }
      endpoints: [{ addresses: [192.0.2.1] }]`,
      options: { hasEndpoints: false },
      lines: '',
    },
    {
      name: 'replaces hostnames when its slice lists those',
      objects: `${headless}
    - kind: EndpointSlice
      metadata: { name: db-1, labels: { kubernetes.io/service-name: db } }
      addressType: FQDN
      endpoints: [{ addresses: [db.example.org] }]
      ports: [{ name: pg, port: 5432 }]`,
      lines: `
        db.default.svc 5 CNAME db.example.org.
        _pg._tcp.db.default.svc 5 CNAME db.example.org.
        db-example-org.db.default.svc 5 CNAME db.example.org.`,
    },
  ])
})

describe('an ExternalName Service', () => {
  const cases: { name: string; externalName: string; lines: string }[] = [
    {
      name: 'is a CNAME of its host',
      externalName: 'www.example.org',
      lines: 'ext.default.svc 5 CNAME www.example.org.',
    },
    {
      name: 'keeps the letter case of its host and takes a final dot',
      externalName: 'WWW.Example.org.',
      lines: 'ext.default.svc 5 CNAME WWW.Example.org.',
    },
    { name: 'has no name for an IPv4 address', externalName: '192.0.2.1', lines: '' },
    { name: 'has no name for an IPv6 address', externalName: '"2001:db8::1"', lines: '' },
    { name: 'has no name for what is not a name', externalName: 'a..example.org', lines: '' },
    { name: 'has no name for nothing', externalName: '""', lines: '' },
  ]
  check(
    cases.map(({ externalName, ...rest }) => ({
      ...rest,
      objects: `
        - kind: Service
          metadata: { name: ext }
          spec: { type: ExternalName, externalName: ${externalName} }`,
    })),
  )
  check([
    {
      name: 'has nothing below it, whatever ports and slices exist',
      objects: `
        - kind: Service
          metadata: { name: ext }
          spec:
            type: ExternalName
            externalName: www.example.org
            ports: [{ name: http, port: 80 }]
        - kind: EndpointSlice
          metadata: { name: ext-1, labels: { kubernetes.io/service-name: ext } }
          endpoints: [{ addresses: [192.0.2.1], hostname: a }]`,
      lines: 'ext.default.svc 5 CNAME www.example.org.',
    },
    {
      name: 'has a name though empty Services are ignored and endpoints are not served',
      objects: `
        - kind: Service
          metadata: { name: ext }
          spec: { type: ExternalName, externalName: www.example.org }`,
      options: { ignoresEmptyServices: true, hasEndpoints: false },
      lines: 'ext.default.svc 5 CNAME www.example.org.',
    },
  ])
})

test('a Service that cannot be a name has none', () => {
  const objects = '- { kind: Service, metadata: { name: a.b }, spec: { clusterIP: 192.0.2.1 } }'
  assert.deepEqual(namesOf({ objects }, services), [])
})

/** Names of a zone, those aside that every zone has. */
function zonalOf(some: Pick<NamingCase, 'objects' | 'options'>): string[] {
  const options = { ...some.options, isZonal: true }
  return namesOf({ ...some, options }).filter((line) => line.includes('_zone'))
}

function slice(service: string, endpoints: string): string {
  const labels = `labels: { kubernetes.io/service-name: ${service} }`
  return `
- kind: EndpointSlice
  metadata: { name: ${service}-1, namespace: shop, ${labels} }
  endpoints: [${endpoints}]
  ports: [{ name: sql, port: 5432 }]`
}
const HEADLESS =
  '- { kind: Service, metadata: { name: db, namespace: shop }, spec: { clusterIP: None } }'

describe('zonalNames', () => {
  const cases: { name: string; objects: string; lines: readonly string[] }[] = [
    {
      name: 'has the endpoints of each zone, which may be several labels',
      objects: `${HEADLESS}${slice(
        'db',
        `{ addresses: [192.0.2.1], hostname: a, zone: eu-1a },
         { addresses: [192.0.2.2], hostname: b, zone: Corp.example },
         { addresses: [192.0.2.3], hostname: c }`,
      )}`,
      lines: [
        '_zone.db.shop.svc exists',
        'corp.example.pin._zone.db.shop.svc 5 A 192.0.2.2',
        'corp.example.pin._zone.db.shop.svc 5 SRV 0 100 5432 b.db.shop.svc',
        'eu-1a.pin._zone.db.shop.svc 5 A 192.0.2.1',
        'eu-1a.pin._zone.db.shop.svc 5 SRV 0 100 5432 a.db.shop.svc',
      ],
    },
    {
      name: 'leaves out endpoints that are not ready, and zones that are no name',
      objects: `${HEADLESS}${slice(
        'db',
        `{ addresses: [192.0.2.1], zone: eu-1a, conditions: { ready: false } },
         { addresses: [192.0.2.2], zone: a..b }`,
      )}`,
      lines: ['_zone.db.shop.svc exists'],
    },
    {
      name: 'warns that a headless Service exists, whatever its endpoints',
      objects: HEADLESS,
      lines: ['_zone.db.shop.svc exists'],
    },
    {
      name: 'has none for a Service with a cluster IP',
      objects: `
- { kind: Service, metadata: { name: web, namespace: shop }, spec: { clusterIP: 192.0.2.10 } }
${slice('web', '{ addresses: [192.0.2.1], zone: eu-1a }')}`,
      lines: [],
    },
  ]
  for (const { name, objects, lines } of cases) {
    test(name, () => {
      assert.deepEqual(zonalOf({ objects }), lines)
    })
  }

  test('has none unless the option is set', () => {
    const objects = `${HEADLESS}${slice('db', '{ addresses: [192.0.2.1], zone: eu-1a }')}`
    assert.deepEqual(
      namesOf({ objects }).filter((line) => line.includes('_zone')),
      [],
    )
  })
})
