import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { NamingOptions } from '../../../src/cluster/objects/options.ts'
import { linesOf, namesOf } from '../naming.ts'

const ZONE = `
  @ exists
  ns.dns exists
  svc exists
  pod exists
  endpoints exists
  shop.svc exists
  shop.endpoints exists
  dns-version 28800 TXT "1.1.0"`

const service = (spec: string): string =>
  `- { kind: Service, metadata: { name: web, namespace: shop }, spec: { ${spec} } }`
const SLICE = `
- kind: EndpointSlice
  metadata: { name: web-1, namespace: shop, labels: { kubernetes.io/service-name: web } }
  endpoints:
    - { addresses: [172.0.0.1] }
    - { addresses: [172.0.0.2], hostname: web-0 }
    - { addresses: [172.0.0.3], conditions: { ready: false } }
  ports: [{ name: http, port: 8080 }]`

/** FNV-1a of "172.0.0.1" and of "192.0.2.1", as OpenShift's own tests compute them. */
const [ID, IP_ID] = ['172.0.0.1', '192.0.2.1'].map((text) => {
  let hash = 2166136261n
  for (const code of new TextEncoder().encode(text)) {
    hash = ((hash ^ BigInt(code)) * 16777619n) % 4294967296n
  }
  return hash.toString(16)
})

const ENDPOINTS = `
  web.shop.endpoints exists
  web.shop.endpoints 30 A 172.0.0.1
  web.shop.endpoints 30 A 172.0.0.2
  web.shop.endpoints 30 SRV 10 50 8080 ${ID}.web.shop.endpoints
  web.shop.endpoints 30 SRV 10 50 8080 web-0.web.shop.endpoints
  _http._tcp.web.shop.endpoints 30 A 172.0.0.1
  _http._tcp.web.shop.endpoints 30 A 172.0.0.2
  _http._tcp.web.shop.endpoints 30 SRV 10 50 8080 ${ID}.web.shop.endpoints
  _http._tcp.web.shop.endpoints 30 SRV 10 50 8080 web-0.web.shop.endpoints
  ${ID}.web.shop.endpoints 30 A 172.0.0.1
  ${ID}.web.shop.endpoints 30 SRV 10 100 8080 ${ID}.web.shop.endpoints
  web-0.web.shop.endpoints 30 A 172.0.0.2
  web-0.web.shop.endpoints 30 SRV 10 100 8080 web-0.web.shop.endpoints
  _endpoints.web.shop.svc exists
  _endpoints.web.shop.svc 30 A 172.0.0.1
  _endpoints.web.shop.svc 30 A 172.0.0.2
  _endpoints.web.shop.svc 30 SRV 10 50 8080 ${ID}.web.shop.endpoints
  _endpoints.web.shop.svc 30 SRV 10 50 8080 web-0.web.shop.endpoints`

function skydnsOf(objects: string, options: Partial<NamingOptions> = {}): string[] {
  return namesOf({ objects, options: { ttlSeconds: 30, scheme: 'openshift3', ...options } })
}

describe('skydnsNames', () => {
  const cases: {
    name: string
    objects: string
    options?: Partial<NamingOptions>
    lines: string
  }[] = [
    {
      name: 'has the cluster IP at and below a Service, and its endpoints by themselves',
      objects: service('clusterIP: 192.0.2.1, ports: [{ name: http, port: 80 }]') + SLICE,
      lines: `
        web.shop.svc 30 A 192.0.2.1
        web.shop.svc 30 SRV 10 100 80 ${IP_ID}.web.shop.svc
        *.web.shop.svc 30 A 192.0.2.1
        _http._tcp.web.shop.svc 30 A 192.0.2.1
        _http._tcp.web.shop.svc 30 SRV 10 100 80 ${IP_ID}.web.shop.svc
        ${IP_ID}.web.shop.svc 30 A 192.0.2.1
        ${IP_ID}.web.shop.svc 30 SRV 10 100 80 ${IP_ID}.web.shop.svc
        ${ENDPOINTS}
        1.2.0.192.in-addr.arpa. 30 PTR web.shop.svc`,
    },
    {
      name: 'has the endpoints of a headless Service at both',
      objects: service('clusterIP: None') + SLICE,
      lines: `
        web.shop.svc exists
        web.shop.svc 30 A 172.0.0.1
        web.shop.svc 30 A 172.0.0.2
        web.shop.svc 30 SRV 10 50 8080 ${ID}.web.shop.svc
        web.shop.svc 30 SRV 10 50 8080 web-0.web.shop.svc
        _http._tcp.web.shop.svc 30 A 172.0.0.1
        _http._tcp.web.shop.svc 30 A 172.0.0.2
        _http._tcp.web.shop.svc 30 SRV 10 50 8080 ${ID}.web.shop.svc
        _http._tcp.web.shop.svc 30 SRV 10 50 8080 web-0.web.shop.svc
        ${ID}.web.shop.svc 30 A 172.0.0.1
        ${ID}.web.shop.svc 30 SRV 10 100 8080 ${ID}.web.shop.svc
        web-0.web.shop.svc 30 A 172.0.0.2
        web-0.web.shop.svc 30 SRV 10 100 8080 web-0.web.shop.svc
        ${ENDPOINTS}`,
    },
    {
      name: 'has the names of a Service without endpoints',
      objects: service('clusterIP: None'),
      lines: `
        web.shop.svc exists
        web.shop.endpoints exists
        _endpoints.web.shop.svc exists`,
    },
    { name: 'has none of a Service without an address', objects: service(''), lines: '' },
    {
      name: 'has a CNAME for an ExternalName Service',
      objects: service('type: ExternalName, externalName: www.example.org'),
      lines: 'web.shop.svc 30 CNAME www.example.org.',
    },
  ]
  for (const { name, objects, options, lines } of cases) {
    test(name, () => {
      assert.deepEqual(skydnsOf(objects, options), linesOf(`${ZONE}\n${lines}`))
    })
  }
})

describe('openshift.default', () => {
  const api = (name: string, ip: string): string =>
    `- { kind: Service, metadata: { name: ${name} }, spec: { clusterIP: ${ip} } }\n`
  const addressOf = (objects: string): string[] =>
    skydnsOf(objects).filter((line) => line.startsWith('openshift.default.svc '))

  test('is kubernetes.default', () => {
    assert.deepEqual(addressOf(api('kubernetes', '192.0.2.1')), [
      'openshift.default.svc 30 A 192.0.2.1',
    ])
  })

  test('is itself if it exists', () => {
    assert.deepEqual(addressOf(api('kubernetes', '192.0.2.1') + api('openshift', '192.0.2.2')), [
      'openshift.default.svc 30 A 192.0.2.2',
    ])
  })

  test('is not by Kubernetes’ own scheme', () => {
    const options = { scheme: 'kubernetes' } as const
    const lines = skydnsOf(api('kubernetes', '192.0.2.1'), options)
    assert.ok(!lines.some((line) => line.includes('openshift')))
  })
})
