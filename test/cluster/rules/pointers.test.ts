import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { Cluster } from '../../../src/cluster/objects/cluster.ts'
import { serviceOwner } from '../../../src/cluster/objects/labels.ts'
import type { NamingOptions } from '../../../src/cluster/objects/options.ts'
import { nameSlice } from '../../../src/cluster/rules/named-slices.ts'
import { clusterIpPointers, endpointPointers } from '../../../src/cluster/rules/pointers.ts'
import type { Pointer } from '../../../src/snapshot/records/zone-entry.ts'
import { clusterOf, linesOf, type NamingCase, namesOf, optionsOf, type Rule } from '../naming.ts'

/** The pointers of all namespaces but `hidden`. */
const shown: Rule = (cluster, options) =>
  pointers(cluster, options).filter(({ namespace }) => namespace !== 'hidden')

function pointers(cluster: Cluster, options: NamingOptions): Pointer[] {
  return [
    ...[...cluster.services.values()].flatMap((service) => {
      const owner = serviceOwner(service)
      return owner === undefined ? [] : clusterIpPointers(service, owner, options)
    }),
    ...[...cluster.slices.values()].flatMap((slice) => {
      const owner = serviceOwner({ namespace: slice.namespace, name: slice.serviceName })
      if (owner === undefined || !options.hasEndpoints) return []
      return endpointPointers(nameSlice(slice, owner, options.usesPodNames), options)
    }),
  ]
}

describe('pointers', () => {
  const cases: NamingCase[] = [
    {
      name: 'point from each cluster IP to the Service, ready or not',
      objects: `
        - kind: Service
          metadata: { name: web, namespace: shop }
          spec: { clusterIPs: [192.0.2.1, 2001:db8::1], ports: [{ port: 80 }, { port: 443 }] }`,
      options: { ttlSeconds: 30, ignoresEmptyServices: true },
      lines: `
        1.2.0.192.in-addr.arpa. 30 PTR web.shop.svc
        1.0.0.0.${'0.'.repeat(20)}8.b.d.0.1.0.0.2.ip6.arpa. 30 PTR web.shop.svc`,
    },
    {
      name: 'point from ready endpoints to their names',
      objects: `
        - { kind: Service, metadata: { name: db }, spec: { clusterIP: None } }
        - kind: EndpointSlice
          metadata: { name: db-1, labels: { kubernetes.io/service-name: db } }
          endpoints:
            - { addresses: [192.0.2.1], hostname: db-0 }
            - { addresses: [192.0.2.2], targetRef: { name: pod-1 } }
            - { addresses: [192.0.2.3], conditions: { ready: false } }`,
      lines: `
        1.2.0.192.in-addr.arpa. 5 PTR db-0.db.default.svc
        2.2.0.192.in-addr.arpa. 5 PTR 192-0-2-2.db.default.svc`,
    },
    {
      name: 'point to names after Pods if that is requested',
      objects: `
        - kind: EndpointSlice
          metadata: { name: db-1, labels: { kubernetes.io/service-name: db } }
          endpoints: [{ addresses: [192.0.2.2], targetRef: { name: pod-1 } }]`,
      options: { usesPodNames: true },
      lines: '2.2.0.192.in-addr.arpa. 5 PTR pod-1.db.default.svc',
    },
    {
      name: 'point from one address to every Service that has it, which need not exist',
      objects: `
        - kind: EndpointSlice
          metadata: { name: a-1, labels: { kubernetes.io/service-name: a } }
          endpoints: [{ addresses: [192.0.2.1] }]
        - kind: EndpointSlice
          metadata: { name: b-1, namespace: shop, labels: { kubernetes.io/service-name: b } }
          endpoints: [{ addresses: [192.0.2.1], hostname: x }]`,
      lines: `
        1.2.0.192.in-addr.arpa. 5 PTR 192-0-2-1.a.default.svc
        1.2.0.192.in-addr.arpa. 5 PTR x.b.shop.svc`,
    },
    {
      name: 'prefer the Service to the endpoints of an address',
      objects: `
        - { kind: Service, metadata: { name: web }, spec: { clusterIP: 192.0.2.1 } }
        - kind: EndpointSlice
          metadata: { name: a-1, labels: { kubernetes.io/service-name: a } }
          endpoints: [{ addresses: [192.0.2.1] }]`,
      lines: '1.2.0.192.in-addr.arpa. 5 PTR web.default.svc',
    },
    {
      name: 'come from no endpoints when endpoints are not served',
      objects: `
        - { kind: Service, metadata: { name: web }, spec: { clusterIP: 192.0.2.1 } }
        - kind: EndpointSlice
          metadata: { name: web-1, labels: { kubernetes.io/service-name: web } }
          endpoints: [{ addresses: [192.0.2.2] }]`,
      options: { hasEndpoints: false },
      lines: '1.2.0.192.in-addr.arpa. 5 PTR web.default.svc',
    },
    {
      name: 'come from no namespace that is not shown, and leave its addresses to others',
      objects: `
        - { kind: Service, metadata: { name: a, namespace: hidden }, spec: { clusterIP: 192.0.2.1 } }
        - kind: EndpointSlice
          metadata: { name: b-1, namespace: hidden, labels: { kubernetes.io/service-name: b } }
          endpoints: [{ addresses: [192.0.2.2] }]
        - kind: EndpointSlice
          metadata: { name: c-1, labels: { kubernetes.io/service-name: c } }
          endpoints: [{ addresses: [192.0.2.1] }]`,
      lines: '1.2.0.192.in-addr.arpa. 5 PTR 192-0-2-1.c.default.svc',
    },
    {
      name: 'come from nothing that is not an address or has no name',
      objects: `
        - kind: Service
          metadata: { name: ext }
          spec: { type: ExternalName, externalName: 192.0.2.1 }
        - { kind: Service, metadata: { name: a.b }, spec: { clusterIP: 192.0.2.2 } }
        - { kind: Service, metadata: { name: a }, spec: { clusterIP: pending } }
        - { kind: EndpointSlice, metadata: { name: x }, endpoints: [{ addresses: [192.0.2.3] }] }
        - kind: EndpointSlice
          metadata: { name: y, labels: { kubernetes.io/service-name: y } }
          endpoints: [{ addresses: [db.example.org] }]`,
      lines: '',
    },
  ]
  for (const { name, lines, ...given } of cases) {
    test(name, () => {
      assert.deepEqual(namesOf(given, shown), linesOf(lines))
    })
  }

  test('come once from an address, however many ports it has', () => {
    const cluster = clusterOf(`
      - kind: EndpointSlice
        metadata: { name: a-1, labels: { kubernetes.io/service-name: a } }
        endpoints: [{ addresses: [192.0.2.1] }]
        ports: [{ name: x, port: 1 }, { name: y, port: 2 }]`)
    assert.equal(pointers(cluster, optionsOf()).length, 1)
  })

  test('belong to the namespace of their object', () => {
    const cluster = clusterOf(`
      - { kind: Service, metadata: { name: web, namespace: shop }, spec: { clusterIP: 192.0.2.1 } }
      - kind: EndpointSlice
        metadata: { name: a-1, namespace: ops, labels: { kubernetes.io/service-name: a } }
        endpoints: [{ addresses: [192.0.2.2] }]`)
    const found = pointers(cluster, optionsOf())
    assert.deepEqual(
      found.map(({ namespace }) => namespace),
      ['shop', 'ops'],
    )
  })
})
