import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { transferRecords } from '../../../src/cluster/rules/transfer-records.ts'
import { linesOf, type NamingCase, namesOf } from '../naming.ts'

const WEB = `
  - kind: Service
    metadata: { name: web, namespace: shop }
    spec:
      clusterIP: 192.0.2.1
      clusterIPs: [192.0.2.1, 2001:db8::1]
      ports: [{ name: HTTP, port: 80 }, { name: alt, port: 80, protocol: UDP }]`
const DB = `
  - { kind: Service, metadata: { name: db, namespace: shop }, spec: { clusterIP: None } }
  - kind: EndpointSlice
    metadata: { name: db-1, namespace: shop, labels: { kubernetes.io/service-name: db } }
    addressType: IPv4
    ports: [{ name: sql, port: 5432 }, { port: 81 }]
    endpoints:
      - { addresses: [192.0.2.7], hostname: db-0 }
      - { addresses: [192.0.2.8] }
      - { addresses: [192.0.2.9], conditions: { ready: false } }
  - kind: EndpointSlice
    metadata: { name: db-2, namespace: shop, labels: { kubernetes.io/service-name: db } }
    addressType: IPv6
    ports: [{ name: sql, port: 5432 }]
    endpoints: [{ addresses: [2001:db8::7] }]`

describe('a transfer has of', () => {
  const cases: NamingCase[] = [
    {
      name: 'a Service with cluster IPs, each port twice, at full weight, and no endpoints',
      objects: `${WEB}
  - kind: EndpointSlice
    metadata: { name: web-1, namespace: shop, labels: { kubernetes.io/service-name: web } }
    addressType: IPv4
    ports: [{ name: http, port: 80 }]
    endpoints: [{ addresses: [192.0.2.5] }]`,
      lines: `
        web.shop.svc 5 A 192.0.2.1
        web.shop.svc 5 AAAA 2001:db8::1
        web.shop.svc 5 SRV 0 100 80 web.shop.svc
        _http._tcp.web.shop.svc 5 SRV 0 100 80 web.shop.svc
        _alt._udp.web.shop.svc 5 SRV 0 100 80 web.shop.svc`,
    },
    {
      name: 'a Service with a port without a name, only its own name',
      objects: `
        - kind: Service
          metadata: { name: web }
          spec: { clusterIP: 192.0.2.1, ports: [{ port: 80 }] }`,
      lines: `
        web.default.svc 5 A 192.0.2.1
        web.default.svc 5 SRV 0 100 80 web.default.svc`,
    },
    {
      name: 'a headless Service, its ready endpoints, weighed by the slice',
      objects: DB,
      lines: `
        db.shop.svc 5 A 192.0.2.7
        db.shop.svc 5 A 192.0.2.8
        db.shop.svc 5 AAAA 2001:db8::7
        db-0.db.shop.svc 5 A 192.0.2.7
        192-0-2-8.db.shop.svc 5 A 192.0.2.8
        2001-db8--7.db.shop.svc 5 AAAA 2001:db8::7
        _sql._tcp.db.shop.svc 5 SRV 0 50 5432 db-0.db.shop.svc
        _sql._tcp.db.shop.svc 5 SRV 0 50 5432 192-0-2-8.db.shop.svc
        _sql._tcp.db.shop.svc 5 SRV 0 100 5432 2001-db8--7.db.shop.svc`,
    },
    {
      name: 'a headless Service nothing where endpoints have no names',
      objects: DB,
      options: { hasEndpoints: false },
      lines: '',
    },
    {
      name: 'an ExternalName Service a CNAME, unless it is an address',
      objects: `
        - { kind: Service, metadata: { name: a }, spec: { type: ExternalName, externalName: b.test } }
        - { kind: Service, metadata: { name: c }, spec: { type: ExternalName, externalName: 192.0.2.1 } }`,
      lines: 'a.default.svc 5 CNAME b.test.',
    },
    {
      name: 'a namespace that is not served, nothing',
      objects: WEB,
      options: { namespaces: new Set(['other']) },
      lines: '',
    },
    {
      name: 'a ServiceImport the same as of a Service',
      objects: `
        - kind: Namespace
          metadata: { name: shop }
        - kind: ServiceImport
          metadata: { name: web, namespace: shop }
          spec: { type: ClusterSetIP, ips: [192.0.2.1], ports: [{ name: http, port: 80 }] }`,
      options: { tree: { kind: 'multicluster' } },
      lines: `
        web.shop.svc 5 A 192.0.2.1
        web.shop.svc 5 SRV 0 100 80 web.shop.svc
        _http._tcp.web.shop.svc 5 SRV 0 100 80 web.shop.svc`,
    },
  ]
  for (const { name, lines, ...given } of cases) {
    test(name, () => {
      const nameserver = { localAddresses: ['192.0.2.53'], ...given.options }
      const found = namesOf({ ...given, options: nameserver }, transferRecords)
      const wanted = linesOf(`${lines}\n@ 5 NS ns.dns\nns.dns 0 A 192.0.2.53`)
      assert.deepEqual(found, wanted)
    })
  }

  test('ServiceImports what several clusters have together, endpoints by cluster', () => {
    const objects = `
  - { kind: ServiceImport, metadata: { name: far, namespace: shop }, spec: { type: Headless } }
  - kind: EndpointSlice
    metadata:
      name: far-1
      namespace: shop
      labels:
        multicluster.kubernetes.io/service-name: far
        multicluster.kubernetes.io/source-cluster: east
    ports: [{ name: sql, port: 5432 }]
    endpoints: [{ addresses: [198.51.100.1] }]`
    const options = { tree: { kind: 'multicluster' }, hasEndpoints: false } as const
    assert.deepEqual(
      namesOf({ objects, options }, transferRecords),
      linesOf(`
        far.shop.svc 5 A 198.51.100.1
        198-51-100-1.east.far.shop.svc 5 A 198.51.100.1
        _sql._tcp.far.shop.svc 5 SRV 0 100 5432 198-51-100-1.east.far.shop.svc`),
    )
  })

  test('name servers, NS records, and their addresses without a TTL', () => {
    const objects = `${DB}
  - { kind: Service, metadata: { name: dns }, spec: { clusterIP: 192.0.2.10 } }
  - kind: EndpointSlice
    metadata: { name: dns-1, labels: { kubernetes.io/service-name: dns } }
    addressType: IPv4
    endpoints: [{ addresses: [192.0.2.53] }]`
    const options = { localAddresses: ['192.0.2.53'], namespaces: new Set(['default']) }
    assert.deepEqual(
      namesOf({ objects, options }, transferRecords),
      linesOf(`
        @ 5 NS dns.default.svc
        dns.default.svc 0 A 192.0.2.10
        dns.default.svc 5 A 192.0.2.10`),
    )
  })

  test('each port, and objects as they were when it began', () => {
    let count = 0
    namesOf({ objects: WEB }, (cluster, options) => {
      const records = transferRecords(cluster, options)
      cluster.delete('Service', 'shop', 'web')
      count = Array.from(records).length
      return []
    })
    assert.equal(count, 6)
  })
})
