import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { canLoseHosts, hostWeight, withoutHosts } from '../../../src/cluster/objects/host-bounds.ts'
import { parseObject } from '../../../src/cluster/objects/parse-object.ts'

const META = { name: 'a', namespace: 'shop' }
const list = <T>(count: number, item: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => item(i))
const names = (count: number): string[] => list(count, (i) => `h${i}.a.test`)
const annotated = (name: string, count: number): object => ({
  ...META,
  annotations: { [`external-dns.alpha.kubernetes.io/${name}`]: names(count).join() },
})

type Kind = { readonly kind: string; readonly of: (count: number) => object }

/** Objects of each kind with so many hostnames. */
const KINDS: readonly Kind[] = [
  { kind: 'Ingress', of: (n) => ({ spec: { rules: names(n).map((host) => ({ host })) } }) },
  { kind: 'HTTPRoute', of: (n) => ({ spec: { hostnames: names(n) } }) },
  { kind: 'GRPCRoute', of: (n) => ({ spec: { hostnames: names(n) } }) },
  { kind: 'TLSRoute', of: (n) => ({ spec: { hostnames: names(n) } }) },
  {
    kind: 'Gateway',
    of: (n) => ({
      spec: { listeners: names(n).map((hostname, i) => ({ name: `${i}`, hostname })) },
    }),
  },
  {
    kind: 'DNSEndpoint',
    of: (n) => ({
      spec: {
        endpoints: names(n).map((dnsName) => ({
          dnsName,
          recordType: 'A',
          targets: ['192.0.2.1'],
        })),
      },
    }),
  },
  { kind: 'TCPRoute', of: (n) => ({ metadata: annotated('hostname', n) }) },
  { kind: 'VirtualServer', of: (n) => ({ metadata: annotated('hostname', n) }) },
  { kind: 'Route', of: (n) => ({ metadata: annotated('internal-hostname', n) }) },
]

describe('an object with hostnames', () => {
  for (const { kind, of } of KINDS) {
    test(`of kind ${kind} may have 5,000`, () => {
      const most = parseObject({ kind, metadata: META, ...of(5000) })
      assert.ok(most !== undefined && most.kind !== 'problem')
      assert.ok(hostWeight(most) >= 5000)
      const more = parseObject({ kind, metadata: META, ...of(5001) })
      assert.ok(more?.kind === 'problem', 'it is refused')
      assert.match(more.message, /5000/)
    })
  }

  test('of kind Service with more in its annotations keeps its own names', () => {
    for (const name of ['hostname', 'internal-hostname']) {
      const service = (count: number) =>
        parseObject({
          kind: 'Service',
          metadata: annotated(name, count),
          spec: { type: 'LoadBalancer', clusterIP: '10.96.0.1', externalIPs: ['192.0.2.1'] },
        })
      const [most, more] = [service(5000), service(5001)]
      assert.ok(most?.kind === 'Service' && more?.kind === 'Service')
      assert.equal(most.outside?.problem, undefined)
      assert.equal(more.outside?.problem, 'it has more than 5000 hostnames')
      assert.deepEqual([more.outside?.annotations.size, more.clusterIPs], [0, ['10.96.0.1']])
      assert.ok(hostWeight(more) <= 1)
    }
  })

  test('counts each hostname of a Service once for each of its addresses', () => {
    const object = parseObject({
      kind: 'Service',
      metadata: annotated('hostname', 10),
      spec: { type: 'LoadBalancer', externalIPs: ['192.0.2.1', '192.0.2.2', '192.0.2.3'] },
    })
    assert.ok(object !== undefined && object.kind !== 'problem')
    assert.equal(hostWeight(object), 30)
  })

  test('counts those with many labels or much data several times', () => {
    const endpoint = (dnsName: string, ...texts: readonly string[]) => {
      const object = parseObject({
        kind: 'DNSEndpoint',
        metadata: META,
        spec: { endpoints: [{ dnsName, recordType: 'TXT', targets: texts }] },
      })
      assert.ok(object !== undefined && object.kind !== 'problem')
      return hostWeight(object)
    }
    assert.deepEqual(
      [
        endpoint('a.test', 'x'),
        endpoint(`${'a.'.repeat(8)}b`, 'x'),
        endpoint('a.test', 'x'.repeat(1100)),
        endpoint('a.test', ...list(300, String)),
      ],
      [1, 2, 2, 5],
    )
  })
})

describe('an EndpointSlice', () => {
  test('may have 5,000 addresses', () => {
    const slice = (count: number, each: number) =>
      parseObject({
        kind: 'EndpointSlice',
        metadata: META,
        endpoints: list(count, () => ({ addresses: list(each, (i) => `10.0.0.${i}`) })),
      })
    assert.equal(slice(50, 100)?.kind, 'EndpointSlice')
    const more = slice(51, 100)
    assert.ok(more?.kind === 'problem')
    assert.match(more.message, /it has 5100 addresses, at most 5000 are allowed$/)
  })
})

describe('an object without its hostnames', () => {
  const service = {
    ...{ kind: 'Service', spec: { type: 'LoadBalancer', clusterIP: '192.0.2.1' } },
    metadata: {
      ...META,
      annotations: {
        'coredns.io/hostname': 'a.test',
        'external-dns.alpha.kubernetes.io/hostname': 'b.test',
        'external-dns.alpha.kubernetes.io/ttl': '7',
      },
    },
  }

  test('of kind Service keeps its own names, and its other annotations', () => {
    const object = parseObject(service)
    assert.ok(object?.kind === 'Service')
    assert.equal(canLoseHosts(object), true)
    const bare = withoutHosts(object)
    assert.ok(bare.kind === 'Service')
    assert.deepEqual(bare.outside?.hostnames, [])
    assert.deepEqual(
      [...(bare.outside?.annotations.keys() ?? [])],
      ['external-dns.alpha.kubernetes.io/ttl'],
    )
    assert.deepEqual({ ...bare, outside: undefined }, { ...object, outside: undefined })
  })

  test.for([
    { ...service, metadata: META },
    { kind: 'Service', metadata: META },
    { kind: 'Namespace', metadata: { name: 'shop' } },
    { kind: 'Node', metadata: { name: 'node' } },
  ])('is the object itself of one that has none: %j', (json) => {
    const object = parseObject(json)
    assert.ok(object !== undefined && object.kind !== 'problem')
    assert.equal(canLoseHosts(object), false)
  })

  test('has the reason as a problem, or in its status', () => {
    const gateway = parseObject({
      ...{ kind: 'Gateway', metadata: META },
      spec: { listeners: [{ name: 'l', hostname: 'a.test' }] },
    })
    assert.ok(gateway?.kind === 'Gateway')
    const bare = withoutHosts(gateway)
    assert.ok(bare.kind === 'Gateway' && bare.problem !== undefined)
    assert.deepEqual([bare.hosts, bare.listeners], [[], gateway.listeners])
    const record = parseObject({
      ...{ kind: 'DNSRecord', metadata: META },
      spec: { zone: 'a.test', name: 'r', type: 'A', values: ['192.0.2.1'] },
    })
    assert.ok(record?.kind === 'DNSRecord')
    const refused = withoutHosts(record)
    assert.ok(refused.kind === 'DNSRecord')
    assert.equal(refused.record?.refusal?.reason, 'TooManyHostnames')
  })
})
