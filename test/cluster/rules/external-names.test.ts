import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { NamingOptions } from '../../../src/cluster/objects/options.ts'
import { linesOf, namesOf } from '../naming.ts'

const WEB_PORTS = 'ports: [{ name: http, port: 80 }]'

const service = (spec: string, status = ''): string =>
  `- { kind: Service, metadata: { name: web, namespace: shop }, spec: { ${spec} }, status: { ${status} } }`
const SLICE = `
- kind: EndpointSlice
  metadata: { name: web-1, namespace: shop, labels: { kubernetes.io/service-name: web } }
  endpoints: [{ addresses: [198.51.100.1] }]
  ports: [{ name: http, port: 8080 }]`
const FQDN_SLICE = `
- kind: EndpointSlice
  addressType: FQDN
  metadata: { name: web-2, namespace: shop, labels: { kubernetes.io/service-name: web } }
  endpoints: [{ addresses: [www.example.net] }]
  ports: [{ name: http, port: 8080 }]`

describe('externalNames', () => {
  const cases: {
    name: string
    objects: string
    hasEndpoints?: boolean
    options?: Partial<NamingOptions>
    lines: string
  }[] = [
    {
      name: 'point to what people and load balancers say; SRV records have the cluster’s TTL',
      objects: service(
        `type: LoadBalancer, clusterIP: 192.0.2.1, externalIPs: [203.0.113.1], ${WEB_PORTS}`,
        "loadBalancer: { ingress: [{ ip: '2001:db8::1' }] }",
      ),
      lines: `
        web.shop 10 A 203.0.113.1
        web.shop 10 AAAA 2001:db8::1
        web.shop 5 SRV 0 50 80 web.shop
        *.web.shop exists
        _http._tcp.web.shop 10 A 203.0.113.1
        _http._tcp.web.shop 10 AAAA 2001:db8::1
        _http._tcp.web.shop 5 SRV 0 50 80 web.shop
        1.113.0.203.in-addr.arpa. 10 PTR web.shop
        1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa. 10 PTR web.shop`,
    },
    {
      name: 'are CNAMEs of hostnames, which SRV records point to as well',
      objects: service(
        `clusterIP: 192.0.2.1, ${WEB_PORTS}`,
        'loadBalancer: { ingress: [{ hostname: lb.example.net }, {}] }',
      ),
      lines: `
        *.web.shop exists
        web.shop 5 CNAME lb.example.net.
        web.shop 5 SRV 0 100 80 lb.example.net.
        _http._tcp.web.shop 5 CNAME lb.example.net.
        _http._tcp.web.shop 5 SRV 0 100 80 lb.example.net.`,
    },
    {
      name: 'have no SRV records without ports',
      objects: service('externalIPs: [203.0.113.1]'),
      lines: `
        *.web.shop exists
        web.shop 10 A 203.0.113.1
        1.113.0.203.in-addr.arpa. 10 PTR web.shop`,
    },
    {
      name: 'are none for a Service with nothing outside',
      objects: service(`clusterIP: 192.0.2.1, ${WEB_PORTS}`) + SLICE,
      lines: '',
    },
    {
      name: 'are none for a headless Service, unless endpoints are wanted',
      objects: service('clusterIP: None') + SLICE,
      lines: '',
    },
    {
      name: 'point to the endpoints of a headless Service, when these are wanted',
      objects: service('clusterIP: None') + SLICE + FQDN_SLICE,
      hasEndpoints: true,
      lines: `
        web.shop 10 A 198.51.100.1
        web.shop 5 CNAME www.example.net.
        web.shop 5 SRV 0 50 8080 198-51-100-1.web.shop
        web.shop 5 SRV 0 50 8080 www.example.net.
        _http._tcp.web.shop 10 A 198.51.100.1
        _http._tcp.web.shop 5 CNAME www.example.net.
        _http._tcp.web.shop 5 SRV 0 50 8080 198-51-100-1.web.shop
        _http._tcp.web.shop 5 SRV 0 50 8080 www.example.net.
        198-51-100-1.web.shop 10 A 198.51.100.1
        198-51-100-1.web.shop 5 SRV 0 100 8080 198-51-100-1.web.shop
        www-example-net.web.shop 5 CNAME www.example.net.
        www-example-net.web.shop 5 SRV 0 100 8080 www.example.net.`,
    },
    {
      name: 'are those of its endpoints only, for a Service with a cluster IP',
      objects: service(`clusterIP: 192.0.2.1, ${WEB_PORTS}`) + SLICE,
      hasEndpoints: true,
      lines: `
        198-51-100-1.web.shop 10 A 198.51.100.1
        198-51-100-1.web.shop 5 SRV 0 100 8080 198-51-100-1.web.shop`,
    },
    {
      name: 'prefer what is outside to endpoints',
      objects: service('clusterIP: None, externalIPs: [203.0.113.1]') + SLICE,
      hasEndpoints: true,
      lines: `
        *.web.shop exists
        web.shop 10 A 203.0.113.1
        1.113.0.203.in-addr.arpa. 10 PTR web.shop`,
    },
    {
      name: 'have no endpoints where the cluster’s own names have none',
      objects: service('clusterIP: None') + SLICE,
      hasEndpoints: true,
      options: { hasEndpoints: false },
      lines: '',
    },
  ]
  for (const { name, objects, hasEndpoints = false, options, lines } of cases) {
    test(name, () => {
      const tree = { kind: 'external', ttlSeconds: 10, hasEndpoints } as const
      const found = namesOf({ objects, options: { ...options, tree } })
      assert.deepEqual(found, linesOf(`@ exists\nshop exists\n${lines}`))
    })
  }
})

describe('the name server of the zones outside', () => {
  const dns = (spec: string, status = ''): string => `
- { kind: Namespace, metadata: { name: shop } }
${service(spec, status)}${SLICE}`
  const cases: { name: string; objects: string; hasEndpoints?: boolean; lines: string }[] = [
    {
      name: 'is where the Service before it is outside',
      objects: dns('externalIPs: [203.0.113.53]'),
      lines: '@ 10 A 203.0.113.53',
    },
    {
      name: 'is nowhere when that is nowhere',
      objects: dns('clusterIP: 192.0.2.53'),
      lines: '',
    },
    {
      name: 'is itself when the Service is headless and endpoints are wanted',
      objects: dns('clusterIP: None'),
      hasEndpoints: true,
      lines: '@ 10 A 198.51.100.1',
    },
    {
      name: 'is itself without a Service',
      objects: '[]',
      lines: '@ 10 A 198.51.100.1',
    },
  ]
  for (const { name, objects, hasEndpoints = false, lines } of cases) {
    test(name, () => {
      const tree = { kind: 'external', ttlSeconds: 10, hasEndpoints } as const
      const options = { tree, localAddresses: ['198.51.100.1'] }
      const found = namesOf({ objects, options }).filter((line) => line.startsWith('@ 10'))
      assert.deepEqual(found, linesOf(lines))
    })
  }
})
