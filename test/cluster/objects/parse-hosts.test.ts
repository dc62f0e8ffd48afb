import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { parse } from 'yaml'
import { parseObject } from '../../../src/cluster/objects/parse-object.ts'

const meta = { namespace: 'shop', name: 'a', labels: new Map() }
const none = {
  createdMs: 0,
  className: '',
  targets: [],
  gateways: [],
  listeners: [],
  annotations: new Map(),
}

describe('objects with hostnames', () => {
  const cases: { name: string; yaml: string; object: object }[] = [
    {
      name: 'an Ingress: the hosts of its rules, at its load balancer',
      yaml: `
        apiVersion: networking.k8s.io/v1
        kind: Ingress
        metadata: { name: a, namespace: shop, creationTimestamp: '2026-01-01T00:00:01Z' }
        spec: { ingressClassName: nginx, rules: [{ host: Web.example.org }, { http: {} }] }
        status: { loadBalancer: { ingress: [{ ip: 203.0.113.1 }, { hostname: lb.example.net }] } }`,
      object: {
        ...meta,
        ...none,
        kind: 'Ingress',
        createdMs: Date.UTC(2026, 0, 1, 0, 0, 1),
        className: 'nginx',
        targets: ['203.0.113.1', 'lb.example.net'],
        hosts: [{ name: 'web.example.org', targets: ['203.0.113.1', 'lb.example.net'], texts: [] }],
      },
    },
    {
      name: 'a route: its hostnames, at the Gateways that it hangs on',
      yaml: `
        apiVersion: gateway.networking.k8s.io/v1
        kind: HTTPRoute
        metadata: { name: a, namespace: shop }
        spec:
          hostnames: ['*.example.org']
          parentRefs:
            - { name: own }
            - { name: main, namespace: edge, kind: Gateway }
            - { name: web, kind: Service }`,
      object: {
        ...meta,
        ...none,
        kind: 'HTTPRoute',
        hosts: [{ name: '*.example.org', targets: [], texts: [], coverage: 'suffix' }],
        gateways: ['shop/own', 'edge/main'].map((key) => ({ key, listener: '', port: undefined })),
      },
    },
    {
      name: 'a VirtualServer: its host, at its external endpoints',
      yaml: `
        apiVersion: k8s.nginx.org/v1
        kind: VirtualServer
        metadata: { name: a, namespace: shop }
        spec: { host: web.example.org }
        status: { externalEndpoints: [{ ip: 203.0.113.1, ports: '[80]' }] }`,
      object: {
        ...meta,
        ...none,
        kind: 'VirtualServer',
        targets: ['203.0.113.1'],
        hosts: [{ name: 'web.example.org', targets: ['203.0.113.1'], texts: [] }],
      },
    },
    {
      name: 'a Gateway: where it is',
      yaml: `
        apiVersion: gateway.networking.k8s.io/v1
        kind: Gateway
        metadata: { name: a, namespace: shop }
        spec: { gatewayClassName: nginx, listeners: [{ hostname: A.test }, { hostname: a.test }, {}] }
        status: { addresses: [{ type: IPAddress, value: 203.0.113.1 }] }`,
      object: {
        ...meta,
        ...none,
        kind: 'Gateway',
        className: 'nginx',
        targets: ['203.0.113.1'],
        hosts: [{ name: 'a.test', targets: ['203.0.113.1'], texts: [] }],
      },
    },
    {
      name: 'a Route: its host, at the routers that admitted it, and the annotations',
      yaml: `
        apiVersion: route.openshift.io/v1
        kind: Route
        metadata: { name: a, namespace: shop, annotations: { x.io/ttl: '5', x.io/other: x, ttl: '6' } }
        spec: { host: a.test }
        status:
          ingress:
            - { routerCanonicalHostname: no.test }
            - { host: b.test, routerCanonicalHostname: r.test, conditions: [{ type: Admitted, status: 'True' }] }`,
      object: {
        ...meta,
        ...none,
        kind: 'Route',
        targets: ['r.test'],
        annotations: new Map([['x.io/ttl', '5']]),
        hosts: ['a.test', 'b.test'].map((name) => ({ name, targets: ['r.test'], texts: [] })),
      },
    },
    {
      name: 'a Node: its hostnames and addresses, in no namespace',
      yaml: `
        kind: Node
        metadata: { name: a }
        status:
          addresses:
            - { type: Hostname, address: Node-A }
            - { type: InternalIP, address: 192.0.2.1 }
            - { type: ExternalIP, address: 203.0.113.1 }`,
      object: {
        ...meta,
        kind: 'Node',
        namespace: '',
        createdMs: 0,
        hostnames: ['node-a'],
        internalIPs: ['192.0.2.1'],
        externalIPs: ['203.0.113.1'],
      },
    },
  ]
  for (const { name, yaml, object } of cases) {
    test(name, () => {
      assert.deepEqual(parseObject(parse(yaml)), object)
    })
  }

  test('are passed over when they are of another group', () => {
    const yaml = '{ apiVersion: networking.istio.io/v1, kind: Gateway, metadata: { name: a } }'
    assert.equal(parseObject(parse(yaml)), undefined)
  })
})
