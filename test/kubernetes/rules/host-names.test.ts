import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { EndpointSlice, Service } from '../../../src/kubernetes/objects/objects.ts'
import {
  absoluteNames,
  hostRecords,
  nameProblems,
  saidNames,
  serviceTargets,
} from '../../../src/kubernetes/rules/host-names.ts'
import { claimOf, formatHosts, objectsOf } from '../naming.ts'

function serviceOf(metadata: string, spec = 'type: LoadBalancer', status = ''): Service {
  const [object] = objectsOf(
    `[{ kind: Service, metadata: { name: web, namespace: shop, ${metadata} }, spec: { ${spec} },
      status: { ${status} } }]`,
  )
  assert.ok(object?.kind === 'Service')
  return object
}

const annotated = (annotations: string): string => `annotations: { ${annotations} }`
const ALPHA = 'external-dns.alpha.kubernetes.io/hostname'
const BETA = 'external-dns.kubernetes.io/hostname'

describe('saidNames', () => {
  const services: { name: string; metadata: string; spec?: string; names: readonly string[] }[] = [
    { name: 'those of a balanced Service', metadata: '', names: ['web.shop'] },
    { name: 'none of another Service', metadata: '', spec: 'externalIPs: [192.0.2.1]', names: [] },
    {
      name: 'those of a Service that requests its endpoints',
      metadata: annotated("k8s-gateway.dns/resolve-endpoints: 'true'"),
      spec: 'clusterIP: None',
      names: ['web.shop'],
    },
    {
      name: 'those of an annotation in their place, in lower case',
      metadata: annotated(`${ALPHA}: 'A.test, *.b.test'`),
      names: ['a.test', '*.b.test'],
    },
    {
      name: 'those of the annotation that external-dns has since 0.22',
      metadata: annotated(`${BETA}: a.test`),
      names: ['a.test'],
    },
    {
      name: 'those of CoreDNS’s annotation before all others',
      metadata: annotated(`${BETA}: c.test, ${ALPHA}: b.test, coredns.io/hostname: a.test`),
      names: ['a.test'],
    },
    {
      name: 'none that is no hostname, nor the one that it would replace',
      metadata: annotated(`coredns.io/hostname: '-a.test,a_b.test,*,a..b'`),
      names: [],
    },
  ]
  for (const { name, metadata, spec, names } of services) {
    test(`lists ${name}`, () => {
      assert.deepEqual(saidNames(serviceOf(metadata, spec)), names)
    })
  }

  test('lists the hosts of Ingresses and the hostnames of Nodes', () => {
    const [ingress, node] = objectsOf(`
      - { kind: Ingress, metadata: { name: a, namespace: b }, spec: { rules: [{ host: A.test }] } }
      - { kind: Node, metadata: { name: n },
          status: { addresses: [{ type: Hostname, address: Node-1 }] } }`)
    assert.ok(ingress?.kind === 'Ingress' && node?.kind === 'Node')
    assert.deepEqual([saidNames(ingress), saidNames(node)], [['a.test'], ['node-1']])
  })
})

describe('nameProblems', () => {
  test('returns the invalid names of a Service', () => {
    assert.deepEqual(nameProblems(serviceOf(annotated("coredns.io/hostname: 'a.test,b_.test'"))), [
      'Service shop/web: "b_.test" is not a hostname',
    ])
  })

  test('lets other objects have any name that DNS has', () => {
    const host = (name: string): string =>
      `- { kind: Ingress, metadata: { name: a, namespace: b }, spec: { rules: [{ host: ${name} }] } }`
    const problems = objectsOf(`${host('_a.test')}\n${host('a..test')}`).map((object) =>
      object.kind === 'Ingress' ? nameProblems(object) : [],
    )
    assert.deepEqual(problems, [[], ['Ingress b/a: "a..test" is not a hostname']])
  })
})

describe('absoluteNames', () => {
  const cases: { said: string; zones: readonly string[]; names: readonly string[] }[] = [
    { said: 'a.test', zones: ['test'], names: ['a.test', 'a.test.test'] },
    {
      said: 'web.shop',
      zones: ['a.test', 'b.test'],
      names: ['web.shop.a.test', 'web.shop.b.test'],
    },
    { said: 'a.test', zones: ['a.test'], names: ['a.test', 'a.test.a.test'] },
    { said: 'aa.test', zones: ['a.test'], names: ['aa.test.a.test'] },
    { said: 'x.a', zones: ['test', 'a.test'], names: ['x.a.a.test'] },
    { said: 'x', zones: [''], names: ['x'] },
  ]
  for (const { said, zones, names } of cases) {
    test(`has ${said} in ${zones.join(' and ') || 'the root'} as ${names.join(', ')}`, () => {
      assert.deepEqual([...absoluteNames(said, zones)].sort(), [...names].sort())
    })
  }
})

describe('serviceTargets', () => {
  const slices = objectsOf(`
    - { kind: EndpointSlice, metadata: { name: web-1, namespace: shop },
        endpoints: [{ addresses: [198.51.100.1] },
          { addresses: [198.51.100.2], conditions: { ready: false } }] }`).filter(
    (object): object is EndpointSlice => object.kind === 'EndpointSlice',
  )
  const status = 'loadBalancer: { ingress: [{ ip: 203.0.113.1 }, { hostname: lb.test }] }'
  const cases: { name: string; service: Service; hosts: readonly string[] }[] = [
    {
      name: 'what the load balancer says',
      service: serviceOf('', 'type: LoadBalancer', status),
      hosts: ['203.0.113.1', 'lb.test'],
    },
    {
      name: 'what people say in its place',
      service: serviceOf('', 'type: LoadBalancer, externalIPs: [203.0.113.9]', status),
      hosts: ['203.0.113.9'],
    },
    {
      name: 'ready endpoints, where that is requested',
      service: serviceOf(
        annotated("k8s-gateway.dns/resolve-endpoints: 'true'"),
        'type: LoadBalancer',
        status,
      ),
      hosts: ['198.51.100.1'],
    },
    {
      name: 'nothing of a Service inside',
      service: serviceOf('', 'clusterIP: 192.0.2.1'),
      hosts: [],
    },
  ]
  for (const { name, service, hosts } of cases) {
    test(`are ${name}`, () => {
      assert.deepEqual(serviceTargets(service, slices), { hosts, texts: [] })
    })
  }
})

describe('hostRecords', () => {
  test('are addresses, CNAMEs and texts', () => {
    const hosts = ['203.0.113.1', '2001:db8::1', 'lb.test', '203.0.113.1']
    assert.deepEqual(
      formatHosts(hostRecords('a.test', claimOf({ hosts, texts: ['x y', 'x y'] }), 60)),
      [
        'a.test 60 A 203.0.113.1',
        'a.test 60 AAAA 2001:db8::1',
        'a.test 60 CNAME lb.test.',
        'a.test 60 TXT "x y"',
      ],
    )
  })

  test('split texts after 255 bytes', () => {
    const [line] = formatHosts(hostRecords('a', claimOf({ texts: ['x'.repeat(256)] }), 60))
    assert.equal(line, `a 60 TXT "${'x'.repeat(255)}" "x"`)
  })

  test('are none of a name that is none, and of a text that no record holds', () => {
    assert.deepEqual(hostRecords('a..test', claimOf({ hosts: ['203.0.113.1'] }), 60), [])
    assert.deepEqual(hostRecords('a', claimOf({ texts: ['x'.repeat(65536)] }), 60), [])
  })
})
