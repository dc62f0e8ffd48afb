import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { parse } from 'yaml'
import { PackedEndpoints } from '../../../src/cluster/objects/packed-endpoints.ts'
import { parseObject } from '../../../src/cluster/objects/parse-object.ts'

const meta = { namespace: 'default', labels: new Map() }
const noPorts = { securePorts: [], isProxied: false }

describe('parseObject', () => {
  const port = { name: '', protocol: 'TCP', port: undefined }
  const named = { ...meta, kind: 'Service', name: 'a' }
  const service = { ...named, type: 'ClusterIP', ports: [], outside: undefined }
  const clusterIp = { ...service, isHeadless: false, clusterIPs: ['192.0.2.1'], externalName: '' }
  const headless = { ...service, isHeadless: true, clusterIPs: [], externalName: '' }
  const belongs = { serviceName: '', importName: '' }
  const slice = { ...meta, ...belongs, kind: 'EndpointSlice', name: 'a', ports: [], triggeredMs: 0 }
  const host = { addresses: ['192.0.2.1'], hostname: '', targetName: '', zone: '' }
  const endpoint = { ...host, isReady: true }
  const pod = { ...meta, kind: 'Pod', name: 'a', podIP: '192.0.2.1', isGone: false }
  const cases: { name: string; yaml: string; object: object }[] = [
    {
      name: 'reads a Namespace, which is in none',
      yaml: `
        apiVersion: v1
        kind: Namespace
        metadata: { name: a, namespace: b, labels: { c: d } }`,
      object: { kind: 'Namespace', namespace: '', name: 'a', labels: new Map([['c', 'd']]) },
    },
    {
      name: 'reads a Service and its one cluster IP',
      yaml: '{ kind: Service, metadata: { name: a }, spec: { clusterIP: 192.0.2.1 } }',
      object: clusterIp,
    },
    {
      name: 'prefers the list of cluster IPs',
      yaml: `
        kind: Service
        metadata: { name: a }
        spec: { clusterIP: 192.0.2.9, clusterIPs: [192.0.2.1, 2001:db8::1] }`,
      object: { ...clusterIp, clusterIPs: ['192.0.2.1', '2001:db8::1'] },
    },
    {
      name: 'reads a Service of another type as one with a cluster IP',
      yaml: `
        apiVersion: v1
        kind: Service
        metadata: { name: a, namespace: shop }
        spec: { type: LoadBalancer, clusterIP: 192.0.2.1, externalName: ignored.example.org }`,
      object: {
        ...clusterIp,
        namespace: 'shop',
        outside: {
          createdMs: 0,
          nodePorts: undefined,
          annotations: new Map(),
          isLoadBalancer: true,
          externalIPs: [],
          ingress: [],
          hostnames: undefined,
          resolvesEndpoints: false,
          ...noPorts,
        },
      },
    },
    {
      name: 'reads a headless Service',
      yaml: '{ kind: Service, metadata: { name: a }, spec: { clusterIP: None } }',
      object: headless,
    },
    {
      name: 'reads a headless Service by its list',
      yaml: '{ kind: Service, metadata: { name: a }, spec: { clusterIPs: [None] } }',
      object: headless,
    },
    {
      name: 'reads an ExternalName Service, which has no cluster IP',
      yaml: `
        kind: Service
        metadata: { name: a }
        spec: { type: ExternalName, externalName: www.example.org, clusterIP: None }`,
      object: {
        ...service,
        type: 'ExternalName',
        isHeadless: false,
        clusterIPs: [],
        externalName: 'www.example.org',
      },
    },
    {
      name: 'reads a Service without anything',
      yaml: '{ kind: Service, metadata: { name: a } }',
      object: { ...clusterIp, clusterIPs: [] },
    },
    {
      name: 'fills in the protocol of ports',
      yaml: `
        kind: Service
        metadata: { name: a }
        spec:
          clusterIP: None
          ports: [{ port: 80 }, { name: dns, port: 65535, protocol: UDP }, { port: 1 }]`,
      object: {
        ...headless,
        ports: [
          { ...port, port: 80 },
          { name: 'dns', protocol: 'UDP', port: 65535 },
          { ...port, port: 1 },
        ],
      },
    },
    {
      name: 'reads a slice and the Service it is labelled with',
      yaml: `
        apiVersion: discovery.k8s.io/v1
        kind: EndpointSlice
        metadata: { name: a, labels: { kubernetes.io/service-name: web } }
        endpoints:
          - addresses: [192.0.2.1]
            conditions: { ready: false, serving: true }
            hostname: web-0
            targetRef: { kind: Pod, name: web-abc }
        ports: [{ name: null, port: null, protocol: null }]`,
      object: {
        ...slice,
        labels: new Map([['kubernetes.io/service-name', 'web']]),
        serviceName: 'web',
        endpoints: PackedEndpoints.from([
          { ...host, hostname: 'web-0', targetName: 'web-abc', isReady: false },
        ]),
        ports: [port],
      },
    },
    {
      name: 'takes an endpoint for ready unless it says that it is not',
      yaml: `
        kind: EndpointSlice
        metadata: { name: a }
        endpoints:
          - { addresses: [192.0.2.1] }
          - { addresses: [192.0.2.1], conditions: null }
          - { addresses: [192.0.2.1], conditions: {} }
          - { addresses: [192.0.2.1], conditions: { ready: null } }
          - { addresses: [192.0.2.1], conditions: { ready: true } }`,
      object: {
        ...slice,
        endpoints: PackedEndpoints.from(Array.from({ length: 5 }, () => endpoint)),
      },
    },
    {
      name: 'reads a slice of nothing',
      yaml: '{ kind: EndpointSlice, metadata: { name: a }, endpoints: null, ports: null }',
      object: { ...slice, endpoints: PackedEndpoints.from([]) },
    },
    {
      name: 'reads a Pod and its first address',
      yaml: `
        apiVersion: v1
        kind: Pod
        metadata: { name: a }
        status: { phase: Running, podIP: 192.0.2.1, podIPs: [{ ip: 192.0.2.2 }] }`,
      object: pod,
    },
    {
      name: 'reads a Pod that has no status yet',
      yaml: '{ kind: Pod, metadata: { name: a, deletionTimestamp: null } }',
      object: { ...pod, podIP: '' },
    },
    {
      name: 'takes a Pod that is being deleted for gone',
      yaml: `
        kind: Pod
        metadata: { name: a, deletionTimestamp: "2026-01-01T00:00:00Z" }
        status: { phase: Running, podIP: 192.0.2.1 }`,
      object: { ...pod, isGone: true },
    },
    ...['Succeeded', 'Failed', 'Unknown'].map((phase) => ({
      name: `takes a Pod in phase ${phase} for gone`,
      yaml: `
        kind: Pod
        metadata: { name: a }
        status: { phase: ${phase}, podIP: 192.0.2.1 }`,
      object: { ...pod, isGone: true },
    })),
    {
      name: 'takes a Pod in phase Pending for there',
      yaml: '{ kind: Pod, metadata: { name: a }, status: { phase: Pending, podIP: 192.0.2.1 } }',
      object: pod,
    },
    {
      name: 'reads what a Service has outside',
      yaml: `
        kind: Service
        metadata:
          name: a
          annotations: { external-dns.alpha.kubernetes.io/hostname: 'Web.example.org, , b.example.org' }
        spec: { type: LoadBalancer, clusterIP: 192.0.2.1, externalIPs: [203.0.113.1] }
        status: { loadBalancer: { ingress: [{ ip: 203.0.113.2 }, { hostname: lb.example.net }] } }`,
      object: {
        ...clusterIp,
        outside: {
          createdMs: 0,
          nodePorts: undefined,
          annotations: new Map([
            ['external-dns.alpha.kubernetes.io/hostname', 'Web.example.org, , b.example.org'],
          ]),
          isLoadBalancer: true,
          externalIPs: ['203.0.113.1'],
          ingress: [
            { ip: '203.0.113.2', hostname: '' },
            { ip: '', hostname: 'lb.example.net' },
          ],
          hostnames: ['web.example.org', 'b.example.org'],
          resolvesEndpoints: false,
          ...noPorts,
        },
      },
    },
    {
      name: 'prefers the annotation of CoreDNS, and reads that names point to endpoints',
      yaml: `
        kind: Service
        metadata:
          name: a
          annotations:
            external-dns.kubernetes.io/hostname: c.example.org
            coredns.io/hostname: a.example.org
            k8s-gateway.dns/resolve-endpoints: 'true'
        spec: { clusterIP: 192.0.2.1 }`,
      object: {
        ...clusterIp,
        outside: {
          createdMs: 0,
          nodePorts: undefined,
          annotations: new Map([
            ['coredns.io/hostname', 'a.example.org'],
            ['external-dns.kubernetes.io/hostname', 'c.example.org'],
          ]),
          isLoadBalancer: false,
          externalIPs: [],
          ingress: [],
          hostnames: ['a.example.org'],
          resolvesEndpoints: true,
          ...noPorts,
        },
      },
    },
    {
      name: 'reads the zone of an endpoint, the import of a slice, and when it was triggered',
      yaml: `
        kind: EndpointSlice
        metadata:
          name: a
          labels: { multicluster.kubernetes.io/service-name: web }
          annotations:
            endpoints.kubernetes.io/last-change-trigger-time: '2026-01-01T00:00:01Z'
        endpoints: [{ addresses: [192.0.2.1], zone: EU-1a }]`,
      object: {
        ...slice,
        labels: new Map([['multicluster.kubernetes.io/service-name', 'web']]),
        importName: 'web',
        endpoints: PackedEndpoints.from([{ ...endpoint, zone: 'eu-1a' }]),
        triggeredMs: Date.UTC(2026, 0, 1, 0, 0, 1),
      },
    },
    {
      name: 'reads a ServiceImport',
      yaml: `
        apiVersion: multicluster.x-k8s.io/v1alpha1
        kind: ServiceImport
        metadata: { name: a }
        spec: { type: ClusterSetIP, ips: [192.0.2.1], ports: [{ port: 80 }] }`,
      object: {
        ...meta,
        kind: 'ServiceImport',
        name: 'a',
        isHeadless: false,
        clusterIPs: ['192.0.2.1'],
        ports: [{ ...port, port: 80 }],
      },
    },
    {
      name: 'reads a headless ServiceImport, which has no address of its own',
      yaml: '{ kind: ServiceImport, metadata: { name: a }, spec: { type: Headless, ips: [192.0.2.1] } }',
      object: {
        ...meta,
        kind: 'ServiceImport',
        name: 'a',
        isHeadless: true,
        clusterIPs: [],
        ports: [],
      },
    },
  ]
  for (const { name, yaml, object } of cases) {
    test(name, () => {
      assert.deepEqual(parseObject(parse(yaml)), object)
    })
  }

  test('reads a label that is called like a property of all objects', () => {
    const text = '{"kind":"Pod","metadata":{"name":"a","labels":{"__proto__":"b"}}}'
    const object = parseObject(JSON.parse(text))
    assert.ok(object !== undefined && object.kind === 'Pod')
    assert.deepEqual([...object.labels], [['__proto__', 'b']])
  })

  const others: { name: string; yaml: string }[] = [
    { name: 'another kind', yaml: '{ kind: ConfigMap, metadata: { name: a } }' },
    { name: 'another kind, whatever its fields', yaml: '{ kind: Secret, metadata: 7 }' },
    { name: 'what has no kind', yaml: '{ metadata: { name: a } }' },
    { name: 'nothing', yaml: 'null' },
    {
      name: 'a kind of that name in another group',
      yaml: '{ apiVersion: serving.example.org/v1, kind: Service, metadata: { name: a } }',
    },
    {
      name: 'a slice outside its group',
      yaml: '{ apiVersion: v1, kind: EndpointSlice, metadata: { name: a } }',
    },
  ]
  for (const { name, yaml } of others) {
    test(`passes over ${name}`, () => {
      assert.equal(parseObject(parse(yaml)), undefined)
    })
  }
})

describe('the error of an object', () => {
  const cases: { name: string; yaml: string; message: string }[] = [
    {
      name: 'names the object, the field, what it is and what it should be',
      yaml: '{ kind: Service, metadata: { name: web, namespace: shop }, spec: { clusterIP: 7 } }',
      message: 'Service shop/web: spec.clusterIP is 7, expected text',
    },
    {
      name: 'gives the place in a list',
      yaml: `
        kind: EndpointSlice
        metadata: { name: web-1 }
        endpoints: [{ addresses: [192.0.2.1] }, { addresses: [192.0.2.2, false] }]`,
      message: 'EndpointSlice web-1: endpoints[1].addresses[1] is false, expected text',
    },
    {
      name: 'gives ports that are none',
      yaml: '{ kind: Service, metadata: { name: a }, spec: { ports: [{ port: 65536 }] } }',
      message: 'Service a: spec.ports[0].port is 65536, expected a port from 1 to 65535',
    },
    {
      name: 'cuts long values short',
      yaml: `{ kind: Service, metadata: { name: a }, spec: "${'x'.repeat(100)}" }`,
      message: `Service a: spec is "${'x'.repeat(59)}, expected an object`,
    },
    {
      name: 'does not spell out lists',
      yaml: '{ kind: Service, metadata: { name: a }, spec: [7] }',
      message: 'Service a: spec is a list, expected an object',
    },
    {
      name: 'does not spell out objects',
      yaml: '{ kind: Service, metadata: { name: { a: b } } }',
      message: 'Service without a name: metadata.name is an object, expected text',
    },
    {
      name: 'reports a number that JSON has no word for',
      yaml: '{ kind: Service, metadata: { name: a }, spec: { ports: [{ port: .nan }] } }',
      message: 'Service a: spec.ports[0].port is NaN, expected a port from 1 to 65535',
    },
    {
      name: 'finds a missing name',
      yaml: '{ kind: Pod, metadata: { namespace: shop } }',
      message: 'Pod shop: metadata.name is missing, expected a name',
    },
    {
      name: 'finds missing metadata',
      yaml: '{ kind: Namespace }',
      message: 'Namespace without a name: metadata.name is missing, expected a name',
    },
    {
      name: 'finds a kind that is no text',
      yaml: '{ kind: 7, metadata: { name: a } }',
      message: 'Object a: kind is 7, expected text',
    },
    {
      name: 'finds what is no object at all',
      yaml: 'text',
      message: 'Object without a name: it is "text", expected an object',
    },
  ]
  for (const { name, yaml, message } of cases) {
    test(name, () => {
      assert.deepEqual(parseObject(parse(yaml)), { kind: 'problem', message })
    })
  }
})
