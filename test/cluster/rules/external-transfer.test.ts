import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { transferRecords } from '../../../src/cluster/rules/transfer-records.ts'
import { clusterOf, formatEntries, optionsOf } from '../naming.ts'

function transferOf(objects: string, hasEndpoints: boolean): string[] {
  const tree = { kind: 'external', ttlSeconds: 10, hasEndpoints } as const
  const options = optionsOf({ tree })
  const sets = transferRecords(clusterOf(objects, options), options)
  return Array.from(sets).flatMap((set) => formatEntries([set]))
}

const PORTS = 'ports: [{ name: http, port: 80 }, { name: https, port: 443 }]'
const service = (spec: string): string =>
  `- { kind: Service, metadata: { name: web, namespace: shop }, spec: { ${spec} } }`
const SLICE = `
- kind: EndpointSlice
  metadata: { name: web-1, namespace: shop, labels: { kubernetes.io/service-name: web } }
  endpoints: [{ addresses: [198.51.100.1] }]
  ports: [{ name: http, port: 8080 }]`

describe('externalTransfer', () => {
  const cases: { name: string; objects: string; hasEndpoints?: boolean; lines: string[] }[] = [
    {
      name: 'has addresses once for each port, and one SRV record by name',
      objects: service(`externalIPs: [203.0.113.1], ${PORTS}`),
      lines: [
        'web.shop 10 A 203.0.113.1',
        'web.shop 5 SRV 0 100 80 web.shop',
        '_http._tcp.web.shop 5 SRV 0 100 80 web.shop',
        'web.shop 10 A 203.0.113.1',
        '_https._tcp.web.shop 5 SRV 0 100 443 web.shop',
      ],
    },
    {
      name: 'has CNAMEs, and SRV records to what they point to',
      objects: `
- kind: Service
  metadata: { name: web, namespace: shop }
  spec: { ports: [{ port: 80 }] }
  status: { loadBalancer: { ingress: [{ hostname: lb.example.net }] } }`,
      lines: ['web.shop 5 CNAME lb.example.net.', 'web.shop 5 SRV 0 100 80 lb.example.net.'],
    },
    {
      name: 'has endpoints when they are wanted, SRV records twice',
      objects: service('clusterIP: None') + SLICE,
      hasEndpoints: true,
      lines: [
        'web.shop 10 A 198.51.100.1',
        'web.shop 5 SRV 0 100 8080 198-51-100-1.web.shop',
        'web.shop 5 SRV 0 100 8080 198-51-100-1.web.shop',
        '198-51-100-1.web.shop 10 A 198.51.100.1',
        '198-51-100-1.web.shop 5 SRV 0 100 8080 198-51-100-1.web.shop',
        '198-51-100-1.web.shop 5 SRV 0 100 8080 198-51-100-1.web.shop',
        '_http._tcp.web.shop 5 SRV 0 100 8080 198-51-100-1.web.shop',
      ],
    },
    { name: 'has none otherwise', objects: service('clusterIP: None') + SLICE, lines: [] },
    {
      name: 'has no endpoints of Services with a cluster IP',
      objects: service('clusterIP: 192.0.2.1') + SLICE,
      hasEndpoints: true,
      lines: [],
    },
  ]
  for (const { name, objects, hasEndpoints = false, lines } of cases) {
    test(name, () => {
      assert.deepEqual(transferOf(objects, hasEndpoints), lines)
    })
  }
})
