import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { NamingOptions } from '../../../src/cluster/objects/options.ts'
import { linesOf, namesOf } from '../naming.ts'

const ZONE = `
  @ exists
  ns.dns exists
  svc exists
  pod exists
  shop.svc exists
  dns-version 28800 TXT "1.1.0"`

function slice(cluster: string, address: string): string {
  const labels = [
    'multicluster.kubernetes.io/service-name: web',
    ...(cluster === '' ? [] : [`multicluster.kubernetes.io/source-cluster: ${cluster}`]),
  ]
  return `
- kind: EndpointSlice
  metadata: { name: web-${cluster}, namespace: shop, labels: { ${labels.join(', ')} } }
  endpoints: [{ addresses: [${address}] }]
  ports: [{ name: http, port: 8080 }]`
}

const imported = (spec: string): string =>
  `- { kind: ServiceImport, metadata: { name: web, namespace: shop }, spec: { ${spec} } }`
const PORTS = 'ports: [{ name: http, port: 80 }]'

describe('importNames', () => {
  const cases: {
    name: string
    objects: string
    options?: Partial<NamingOptions>
    lines: string
  }[] = [
    {
      name: 'has the addresses of a ServiceImport, its ports, and its endpoints by cluster',
      objects: `${imported(`ips: [192.0.2.1], ${PORTS}`)}${slice('a', '198.51.100.1')}`,
      lines: `
        web.shop.svc exists
        web.shop.svc 5 A 192.0.2.1
        web.shop.svc 5 SRV 0 100 80 web.shop.svc
        _http._tcp.web.shop.svc 5 A 192.0.2.1
        _http._tcp.web.shop.svc 5 SRV 0 100 80 web.shop.svc
        198-51-100-1.a.web.shop.svc 5 A 198.51.100.1
        198-51-100-1.a.web.shop.svc 5 SRV 0 100 8080 198-51-100-1.a.web.shop.svc`,
    },
    {
      name: 'has the endpoints of a headless one, of all clusters',
      objects: `${imported(`type: Headless, ${PORTS}`)}${slice('a', '198.51.100.1')}${slice('b', '198.51.100.2')}`,
      lines: `
        web.shop.svc 5 A 198.51.100.1
        web.shop.svc 5 A 198.51.100.2
        web.shop.svc 5 SRV 0 50 8080 198-51-100-1.a.web.shop.svc
        web.shop.svc 5 SRV 0 50 8080 198-51-100-2.b.web.shop.svc
        _http._tcp.web.shop.svc 5 A 198.51.100.1
        _http._tcp.web.shop.svc 5 A 198.51.100.2
        _http._tcp.web.shop.svc 5 SRV 0 50 8080 198-51-100-1.a.web.shop.svc
        _http._tcp.web.shop.svc 5 SRV 0 50 8080 198-51-100-2.b.web.shop.svc
        198-51-100-1.a.web.shop.svc 5 A 198.51.100.1
        198-51-100-1.a.web.shop.svc 5 SRV 0 100 8080 198-51-100-1.a.web.shop.svc
        198-51-100-2.b.web.shop.svc 5 A 198.51.100.2
        198-51-100-2.b.web.shop.svc 5 SRV 0 100 8080 198-51-100-2.b.web.shop.svc`,
    },
    {
      name: 'puts endpoints of no cluster right below',
      objects: `${imported('type: Headless')}${slice('', '198.51.100.1')}`,
      lines: `
        web.shop.svc 5 A 198.51.100.1
        web.shop.svc 5 SRV 0 100 8080 198-51-100-1.web.shop.svc
        _http._tcp.web.shop.svc 5 A 198.51.100.1
        _http._tcp.web.shop.svc 5 SRV 0 100 8080 198-51-100-1.web.shop.svc
        198-51-100-1.web.shop.svc 5 A 198.51.100.1
        198-51-100-1.web.shop.svc 5 SRV 0 100 8080 198-51-100-1.web.shop.svc`,
    },
    { name: 'has no name for one without ports', objects: imported('ips: [192.0.2.1]'), lines: '' },
    {
      name: 'has a name for one that has no address yet',
      objects: imported(PORTS),
      lines: 'web.shop.svc exists',
    },
    {
      name: 'leaves out one without endpoints, when these are ignored',
      objects: imported(`ips: [192.0.2.1], ${PORTS}`),
      options: { ignoresEmptyServices: true },
      lines: '',
    },
    {
      name: 'knows nothing of Services',
      objects: `
- { kind: Namespace, metadata: { name: shop } }
- { kind: Service, metadata: { name: web, namespace: shop }, spec: { clusterIP: 192.0.2.1 } }`,
      lines: '',
    },
  ]
  for (const { name, objects, options, lines } of cases) {
    test(name, () => {
      const tree = { kind: 'multicluster' } as const
      const found = namesOf({ objects, options: { ...options, tree } })
      assert.deepEqual(found, linesOf(`${ZONE}\n${lines}`))
    })
  }

  test('has the cluster’s own name servers', () => {
    const objects = `
- { kind: Namespace, metadata: { name: shop } }
- { kind: Service, metadata: { name: dns, namespace: shop }, spec: { clusterIP: 192.0.2.53 } }
- kind: EndpointSlice
  metadata: { name: dns-1, namespace: shop, labels: { kubernetes.io/service-name: dns } }
  endpoints: [{ addresses: [198.51.100.53] }]`
    const tree = { kind: 'multicluster' } as const
    const found = namesOf({ objects, options: { tree, localAddresses: ['198.51.100.53'] } })
    assert.deepEqual(
      found,
      linesOf(`${ZONE}
        @ 5 NS dns.shop.svc
        ns.dns 5 A 192.0.2.53
        dns.shop.svc 5 A 192.0.2.53 ; glue`),
    )
  })
})

describe('exportNames', () => {
  const NAMESPACE = '- { kind: Namespace, metadata: { name: shop } }'
  const SERVICE = `
- kind: Service
  metadata: { name: web, namespace: shop }
  spec: { clusterIP: 192.0.2.1, ports: [{ name: http, port: 80 }] }`
  const SLICE = `
- kind: EndpointSlice
  metadata: { name: web-1, namespace: shop, labels: { kubernetes.io/service-name: web } }
  endpoints: [{ addresses: [198.51.100.1] }]
  ports: [{ name: http, port: 8080 }]`
  const EXPORT = `
- { kind: ServiceExport, metadata: { name: web, namespace: shop } }`
  const NAMES = `
    web.shop.svc 5 A 198.51.100.1
    web.shop.svc 5 SRV 0 100 8080 198-51-100-1.prod.web.shop.svc
    _http._tcp.web.shop.svc 5 A 198.51.100.1
    _http._tcp.web.shop.svc 5 SRV 0 100 8080 198-51-100-1.prod.web.shop.svc
    198-51-100-1.prod.web.shop.svc 5 A 198.51.100.1
    198-51-100-1.prod.web.shop.svc 5 SRV 0 100 8080 198-51-100-1.prod.web.shop.svc`
  const cases = [
    { name: 'has endpoints below their cluster', objects: SERVICE + SLICE + EXPORT, lines: NAMES },
    { name: 'has nothing that is not exported', objects: SERVICE + SLICE, lines: '' },
    { name: 'has nothing that is exported and missing', objects: SLICE + EXPORT, lines: '' },
    { name: 'has nothing of one without endpoints', objects: SERVICE + EXPORT, lines: '' },
    {
      name: 'has nothing of a CNAME',
      objects: `${SERVICE.replace('clusterIP: 192.0.2.1', 'type: ExternalName, externalName: a.test')}${SLICE}${EXPORT}`,
      lines: '',
    },
  ]
  for (const { name, objects, lines } of cases) {
    test(name, () => {
      const options = { tree: { kind: 'exports', cluster: 'prod' } } as const
      assert.deepEqual(
        namesOf({ objects: NAMESPACE + objects, options }),
        linesOf(`${ZONE}\n${lines}`),
      )
    })
  }
})
