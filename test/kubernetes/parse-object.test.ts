import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { parse } from 'yaml'
import { parseObject } from '../../src/kubernetes/parse-object.ts'
import { FIELDS, replaced, WRONG } from './object-fields.ts'

const meta = { namespace: 'default', labels: new Map() }

describe('parseObject', () => {
  const port = { name: '', protocol: 'TCP', port: undefined }
  const service = { ...meta, kind: 'Service', type: 'ClusterIP', name: 'a', ports: [] }
  const clusterIp = { ...service, isHeadless: false, clusterIPs: ['192.0.2.1'], externalName: '' }
  const headless = { ...service, isHeadless: true, clusterIPs: [], externalName: '' }
  const slice = { ...meta, kind: 'EndpointSlice', name: 'a', serviceName: '', ports: [] }
  const endpoint = { addresses: ['192.0.2.1'], hostname: '', targetName: '', isReady: true }
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
      object: { ...clusterIp, namespace: 'shop' },
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
        endpoints: [
          { addresses: ['192.0.2.1'], hostname: 'web-0', targetName: 'web-abc', isReady: false },
        ],
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
      object: { ...slice, endpoints: Array.from({ length: 5 }, () => endpoint) },
    },
    {
      name: 'reads a slice of nothing',
      yaml: '{ kind: EndpointSlice, metadata: { name: a }, endpoints: null, ports: null }',
      object: { ...slice, endpoints: [] },
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

describe('what is wrong with an object', () => {
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
      name: 'tells a number that JSON has no word for',
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

describe('every field that is read', () => {
  for (const { kind, object, fields } of FIELDS) {
    for (const [path, wanted] of Object.entries(fields)) {
      test(`of a ${kind}: ${path} of another type is a problem`, () => {
        for (const value of WRONG[wanted]) {
          const problem = parseObject(replaced(object, path, value))
          assert.ok(problem?.kind === 'problem', `${path}: ${JSON.stringify(value)}`)
          const [head, rest = ''] = problem.message.split(`: ${path} is `)
          assert.match(head ?? '', new RegExp(`^${kind} (\\w|/| )+$`))
          assert.ok(rest.endsWith(`, expected ${wanted}`), problem.message)
        }
      })
    }

    const optional = Object.keys(fields).filter((path) => !path.endsWith(']'))
    for (const path of optional) {
      const isNeeded = path === 'metadata' || path === 'metadata.name'
      test(`of a ${kind}: ${path} ${isNeeded ? 'must' : 'need not'} be there`, () => {
        for (const value of [null, undefined]) {
          const parsed = parseObject(replaced(object, path, value))
          assert.equal(parsed?.kind, isNeeded ? 'problem' : kind)
        }
      })
    }
  }
})

describe('whatever is read', () => {
  /** Says in one word what came of it. */
  const outcome = (value: unknown): string => {
    const parsed = parseObject(value)
    if (parsed?.kind !== 'problem') return parsed === undefined ? 'passed over' : 'read'
    assert.match(parsed.message, /^.+: .+ is .+, expected .+$/s)
    return 'problem'
  }

  test('gives an object, a problem or nothing, for any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        assert.match(outcome(value), /^(read|problem|passed over)$/)
      }),
    )
  })

  test('gives an object or a problem, for any JSON in any field', () => {
    const places = FIELDS.flatMap(({ object, fields }) =>
      // Text in "apiVersion" is a reason to pass an object over.
      Object.keys(fields)
        .filter((path) => path !== 'apiVersion')
        .map((path) => ({ object, path })),
    )
    const place = fc.constantFrom(...places)
    fc.assert(
      fc.property(place, fc.jsonValue(), ({ object, path }, value) => {
        assert.match(outcome(replaced(object, path, value)), /^(read|problem)$/)
      }),
      { numRuns: 1000 },
    )
  })

  test('does not throw at values that are not JSON', () => {
    const circular: unknown[] = []
    circular.push(circular)
    const values = [circular, 7n, Symbol('x'), () => 'x', new Map(), new Date(0), Number.NaN]
    for (const value of values) {
      assert.equal(outcome({ kind: 'Pod', metadata: { name: value } }), 'problem')
      assert.equal(outcome({ kind: value, metadata: { name: 'a' } }), 'problem')
    }
  })

  test('does not throw at an object that holds itself', () => {
    const yaml = '&a { kind: Service, metadata: { name: a }, spec: { clusterIP: *a } }'
    assert.equal(outcome(parse(yaml)), 'problem')
  })
})
