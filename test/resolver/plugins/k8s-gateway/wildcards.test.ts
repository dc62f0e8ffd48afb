import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { denial, serveGateway } from './objects.ts'

const RESOURCES =
  'resources HTTPRoute TLSRoute Gateway Ingress DNSEndpoint Route VirtualServer Service'

const endpoint = (name: string, ip: string, namespace = 'shop'): string => `
- kind: DNSEndpoint
  metadata: {name: "${name.replace(/[^a-z0-9]+/g, '-')}", namespace: ${namespace}}
  spec: {endpoints: [{dnsName: "${name}", recordType: A, targets: [${ip}]}]}`
const route = (name: string, kind = 'HTTPRoute'): string => `
- kind: ${kind}
  metadata: {name: "${name.replace(/[^a-z0-9]+/g, '-')}", namespace: infra}
  spec: {hostnames: ["${name}"], parentRefs: [{name: public}]}`
const ingress = (name: string, ip: string, namespace = 'shop'): string => `
- kind: Ingress
  metadata: {name: "${name.replace(/[^a-z0-9]+/g, '-')}", namespace: ${namespace}}
  spec: {rules: [{host: "${name}"}]}
  status: {loadBalancer: {ingress: [{ip: ${ip}}]}}`
const GATEWAY = `
- kind: Gateway
  metadata: {name: public, namespace: infra}
  spec: {listeners: [{name: all, hostname: '*.listener.gw.test', port: 80, protocol: HTTP}]}
  status: {addresses: [{type: IPAddress, value: 203.0.113.7}]}`

type Case = {
  readonly name: string
  readonly objects: string
  readonly options?: readonly string[]
  /** `NAME ADDRESS`, `NAME nodata` or `NAME nxdomain`. */
  readonly answers: readonly string[]
}

async function answersOf({ objects, options = [], answers }: Case): Promise<string[]> {
  const server = serveGateway([RESOURCES, ...options], { objects })
  return Promise.all(
    answers.map(async (line) => {
      const [name = ''] = line.split(' ')
      const [head, ...rest] = await server.ask(`${name} A`)
      const addresses = rest.flatMap((one) => / IN A (\S+)$/.exec(one)?.[1] ?? [])
      if (addresses.length > 0) return `${name} ${addresses.join()}`
      return `${name} ${head?.startsWith('NXDOMAIN') === true ? 'nxdomain' : 'nodata'}`
    }),
  )
}

describe('a wildcard', () => {
  const cases: Case[] = [
    {
      name: 'of an Ingress stands for one label',
      objects: ingress('*.i.gw.test', '203.0.113.1'),
      answers: ['x.i.gw.test 203.0.113.1', 'y.x.i.gw.test nxdomain'],
    },
    {
      name: 'of a DNSEndpoint stands for several labels',
      objects: endpoint('*.e.gw.test', '203.0.113.2'),
      answers: ['x.e.gw.test 203.0.113.2', 'z.y.x.e.gw.test 203.0.113.2', 'gw.test nodata'],
    },
    {
      name: 'of a route stands for several labels',
      objects: GATEWAY + route('*.r.gw.test'),
      answers: ['x.r.gw.test 203.0.113.7', 'y.x.r.gw.test 203.0.113.7', 'r.gw.test nodata'],
    },
    {
      name: 'of a listener stands for several labels',
      objects: GATEWAY,
      answers: ['x.listener.gw.test 203.0.113.7', 'y.x.listener.gw.test 203.0.113.7'],
    },
    {
      name: 'of an OpenShift Route stands for one label',
      objects: `
- kind: Route
  metadata: {name: r, namespace: shop}
  spec: {host: '*.o.gw.test'}
  status: {ingress: [{routerCanonicalHostname: 203.0.113.8, conditions: [{type: Admitted, status: 'True'}]}]}`,
      answers: ['x.o.gw.test 203.0.113.8', 'y.x.o.gw.test nxdomain'],
    },
    {
      name: 'of a VirtualServer stands for several labels, as in nginx',
      objects: `
- kind: VirtualServer
  metadata: {name: v, namespace: shop}
  spec: {host: '*.v.gw.test'}
  status: {externalEndpoints: [{ip: 203.0.113.9}]}`,
      answers: ['x.v.gw.test 203.0.113.9', 'y.x.v.gw.test 203.0.113.9'],
    },
    {
      name: 'of an annotation is one of a zone, also at an Ingress',
      options: ['annotations'],
      objects: `
- kind: Ingress
  metadata:
    name: a
    namespace: shop
    annotations: {external-dns.alpha.kubernetes.io/hostname: '*.a.gw.test'}
  spec: {rules: [{host: '*.i.gw.test'}]}
  status: {loadBalancer: {ingress: [{ip: 203.0.113.1}]}}`,
      answers: ['y.x.a.gw.test 203.0.113.1', 'y.x.i.gw.test nxdomain'],
    },
    {
      name: 'of a zone stands for no name that exists, nor for names below one (RFC 4592 §2.2.1)',
      objects:
        endpoint('*.e.gw.test', '203.0.113.2') +
        endpoint('host.e.gw.test', '203.0.113.3') +
        endpoint('a.b.c.e.gw.test', '203.0.113.4'),
      answers: [
        'host.e.gw.test 203.0.113.3',
        'x.host.e.gw.test nxdomain',
        'c.e.gw.test nodata',
        'b.c.e.gw.test nodata',
        'x.c.e.gw.test nxdomain',
        'x.a.b.c.e.gw.test nxdomain',
        'x.other.e.gw.test 203.0.113.2',
      ],
    },
    {
      name: 'of a route stands for names below others, which the Gateway routes alike',
      objects: GATEWAY + route('*.r.gw.test') + route('host.r.gw.test') + route('a.b.r.gw.test'),
      answers: [
        'x.host.r.gw.test 203.0.113.7',
        'b.r.gw.test 203.0.113.7',
        'x.b.r.gw.test 203.0.113.7',
      ],
    },
    {
      name: 'that is closer wins',
      objects:
        GATEWAY +
        route('*.r.gw.test') +
        endpoint('*.in.r.gw.test', '203.0.113.4') +
        ingress('*.one.r.gw.test', '203.0.113.5'),
      answers: [
        'x.in.r.gw.test 203.0.113.4',
        'y.x.in.r.gw.test 203.0.113.4',
        'x.one.r.gw.test 203.0.113.5',
        'y.x.one.r.gw.test 203.0.113.7',
      ],
    },
    {
      name: 'below the zone stands for any name in it, and for the apex as in k8s_gateway',
      objects: endpoint('*.gw.test', '203.0.113.2'),
      answers: ['gw.test 203.0.113.2', 'c.b.a.gw.test 203.0.113.2', 'a.b.test nxdomain'],
    },
    {
      name: 'may be asked for as it is',
      objects: endpoint('*.e.gw.test', '203.0.113.2') + GATEWAY + route('*.r.gw.test'),
      answers: ['*.e.gw.test 203.0.113.2', 'x.*.e.gw.test nxdomain', '*.r.gw.test 203.0.113.7'],
    },
  ]
  for (const one of cases) {
    test(one.name, async () => assert.deepEqual(await answersOf(one), one.answers))
  }
})

describe('a name above hostnames', () => {
  const cases: Case[] = [
    {
      name: 'exists',
      objects: endpoint('deep.a.b.gw.test', '203.0.113.2') + ingress('*.w.gw.test', '203.0.113.1'),
      answers: [
        'a.b.gw.test nodata',
        'b.gw.test nodata',
        'w.gw.test nodata',
        'x.b.gw.test nxdomain',
        'c.gw.test nxdomain',
      ],
    },
    {
      name: 'does not exist above a hostname that points nowhere',
      objects:
        '- {kind: Ingress, metadata: {name: x, namespace: shop}, spec: {rules: [{host: a.b.gw.test}]}}',
      answers: ['a.b.gw.test nxdomain', 'b.gw.test nxdomain'],
    },
    {
      name: 'does not exist because of a hostname once more below the zone',
      objects: ingress('a.b.gw.test', '203.0.113.1'),
      answers: [
        'a.b.gw.test.gw.test 203.0.113.1',
        'gw.test.gw.test nxdomain',
        'test.b.test nxdomain',
      ],
    },
    {
      name: 'is a namespace that Services are in',
      objects: `
- kind: Service
  metadata: {name: web, namespace: shop}
  spec: {type: LoadBalancer}
  status: {loadBalancer: {ingress: [{ip: 203.0.113.4}]}}`,
      answers: ['web.shop.gw.test 203.0.113.4', 'shop.gw.test nodata', 'shop.b.test nodata'],
    },
  ]
  for (const one of cases) {
    test(one.name, async () => assert.deepEqual(await answersOf(one), one.answers))
  }

  test('has the SOA record of the zone for every type', async () => {
    const server = serveGateway([RESOURCES], { objects: endpoint('a.b.gw.test', '203.0.113.2') })
    for (const type of ['A', 'AAAA', 'TXT', 'SOA', 'NS', 'ANY', 'TYPE65283']) {
      assert.deepEqual(await server.ask(`b.gw.test ${type}`), ['NOERROR aa rd', denial()])
    }
  })

  test('is passed on where missing names are', async () => {
    const objects = endpoint('a.b.gw.test', '203.0.113.2')
    const server = serveGateway([RESOURCES, 'fallthrough'], { objects })
    assert.deepEqual(await server.ask('b.gw.test A'), ['NXDOMAIN aa rd ra'])
  })
})
