import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { Kind } from '../../../src/cluster/objects/objects.ts'
import type { SelectedHosts } from '../../../src/cluster/objects/options.ts'
import { HostGroups } from '../../../src/cluster/trees/host-groups.ts'
import { formatHosts, hostsTree, linesOf, objectsOf } from '../naming.ts'

function groupsOf(yaml: string, some: Partial<SelectedHosts> = {}): HostGroups {
  const groups = new HostGroups(hostsTree(some))
  for (const object of objectsOf(yaml)) groups.set(object)
  return groups
}

function linesIn(groups: HostGroups): string[] {
  groups.markAll()
  return formatHosts(groups.takeChanged().flatMap((name) => groups.entriesOf(name)))
}

const ingress = (name: string, host: string, ip: string, more = 'namespace: shop'): string => `
- kind: Ingress
  metadata: { name: ${name}, ${more} }
  spec: { rules: [{ host: ${host} }] }
  status: { loadBalancer: { ingress: [{ ip: ${ip} }] } }`
const bornIn = (namespace: string, second: number): string =>
  `namespace: ${namespace}, creationTimestamp: '2026-01-01T00:00:0${second}Z'`
const gateway = (name: string, value: string): string => `
- kind: Gateway
  metadata: { name: ${name}, namespace: infra }
  status: { addresses: [{ type: IPAddress, value: ${value} }] }`
const route = (kind: string, host: string, parent = 'public'): string => `
- kind: ${kind}
  metadata: { name: web, namespace: shop }
  spec: { hostnames: [${host}], parentRefs: [{ name: ${parent}, namespace: infra }] }`
const SERVICE = `
- kind: Service
  metadata: { name: web, namespace: shop }
  spec: { type: LoadBalancer }
  status: { loadBalancer: { ingress: [{ ip: 203.0.113.5 }] } }`
const ENDPOINTS = `
- kind: Service
  metadata:
    { name: db, namespace: shop, annotations: { k8s-gateway.dns/resolve-endpoints: 'true' } }
  spec: { clusterIP: None }
- kind: EndpointSlice
  metadata: { name: db-1, namespace: shop, labels: { kubernetes.io/service-name: db } }
  endpoints: [{ addresses: [198.51.100.1] }]`

describe('HostGroups makes records', () => {
  const cases: { name: string; objects: string; tree?: Partial<SelectedHosts>; lines: string }[] = [
    {
      name: 'of an Ingress, by its whole name and below the zone',
      objects: ingress('web', 'web.a.test', '203.0.113.1'),
      lines: `
        web.a.test 60 A 203.0.113.1
        web.a.test.a.test 60 A 203.0.113.1`,
    },
    {
      name: 'of a Service in every zone',
      objects: SERVICE,
      tree: { zones: ['a.test', 'b.test'] },
      lines: `
        web.shop.a.test 60 A 203.0.113.5
        web.shop.b.test 60 A 203.0.113.5`,
    },
    {
      name: 'of routes by the Gateways that they hang on',
      objects:
        gateway('public', '203.0.113.7') +
        gateway('other', '203.0.113.8') +
        route('HTTPRoute', 'r'),
      lines: 'r.a.test 60 A 203.0.113.7',
    },
    {
      name: 'of all objects of a kind that say the same, once each',
      objects:
        ingress('a', 'x', '203.0.113.1') +
        ingress('b', 'x.a.test', '203.0.113.2') +
        ingress('c', 'x', '203.0.113.1'),
      lines: `
        x.a.test 60 A 203.0.113.1
        x.a.test 60 A 203.0.113.2
        x.a.test.a.test 60 A 203.0.113.2`,
    },
    {
      name: 'of the oldest of several namespaces, and the others with their rank in front',
      objects:
        ingress('a', 'x.a.test', '203.0.113.1', bornIn('one', 3)) +
        ingress('b', 'x.a.test', '203.0.113.2', bornIn('two', 2)) +
        ingress('c', 'x.a.test', '203.0.113.3', bornIn('three', 4)) +
        ingress('d', 'x.a.test', '203.0.113.4', bornIn('two', 5)),
      lines: `
        x.a.test 60 A 203.0.113.2
        x.a.test 60 A 203.0.113.4
        1.x.a.test 60 A 203.0.113.1
        2.x.a.test 60 A 203.0.113.3
        x.a.test.a.test 60 A 203.0.113.2
        x.a.test.a.test 60 A 203.0.113.4
        1.x.a.test.a.test 60 A 203.0.113.1
        2.x.a.test.a.test 60 A 203.0.113.3`,
    },
    {
      name: 'of the oldest with a target',
      objects:
        ingress('a', 'x', '""', bornIn('one', 1)) +
        ingress('b', 'x', '203.0.113.2', bornIn('two', 2)),
      lines: 'x.a.test 60 A 203.0.113.2',
    },
    {
      name: 'of the kind that is named first, however old',
      objects: SERVICE + ingress('web', 'web.shop', '203.0.113.1', bornIn('blog', 9)),
      lines: `
        web.shop.a.test 60 A 203.0.113.1
        1.web.shop.a.test 60 A 203.0.113.5`,
    },
    {
      name: 'of the kind that is named first',
      objects: SERVICE + ingress('web', 'web.shop', '203.0.113.1'),
      lines: 'web.shop.a.test 60 A 203.0.113.1',
    },
    {
      name: 'of the kind that is named first, whichever it is',
      objects: SERVICE + ingress('web', 'web.shop', '203.0.113.1'),
      tree: { resources: ['Service', 'Ingress'] },
      lines: 'web.shop.a.test 60 A 203.0.113.5',
    },
    {
      name: 'of the next kind where the first points nowhere',
      objects: SERVICE + route('TLSRoute', 'web.shop', 'gone'),
      lines: 'web.shop.a.test 60 A 203.0.113.5',
    },
    {
      name: 'of no kind that is not named',
      objects: SERVICE,
      tree: { resources: ['Ingress'] },
      lines: '',
    },
    {
      name: 'of ready endpoints',
      objects: ENDPOINTS,
      lines: 'db.shop.a.test 60 A 198.51.100.1',
    },
    {
      name: 'of DNSEndpoints, each name its own',
      objects: `
- kind: DNSEndpoint
  metadata: { name: a, namespace: shop }
  spec: { endpoints: [
    { dnsName: x.a.test, recordType: A, targets: [203.0.113.1] },
    { dnsName: x.a.test, recordType: TXT, targets: [hello] },
    { dnsName: y.a.test, recordType: AAAA, targets: ['2001:db8::1'] }] }`,
      lines: `
        x.a.test 60 A 203.0.113.1
        x.a.test 60 TXT "hello"
        x.a.test.a.test 60 A 203.0.113.1
        x.a.test.a.test 60 TXT "hello"
        y.a.test 60 AAAA 2001:db8::1
        y.a.test.a.test 60 AAAA 2001:db8::1`,
    },
    ...(['InternalIP', 'ExternalIP'] as const).map((nodeAddressType, i) => ({
      name: `of Nodes by addresses of type ${nodeAddressType}`,
      objects: `
- kind: Node
  metadata: { name: n }
  status: { addresses: [
    { type: Hostname, address: n1 }, { type: InternalIP, address: 192.0.2.0 },
    { type: ExternalIP, address: 192.0.2.1 }] }`,
      tree: { nodeAddressType },
      lines: `n1.a.test 60 A 192.0.2.${i}`,
    })),
  ]
  for (const { name, objects, tree, lines } of cases) {
    test(name, () => {
      assert.deepEqual(linesIn(groupsOf(objects, tree)), linesOf(lines))
    })
  }

  test('of nothing for a transfer', () => {
    assert.deepEqual([...groupsOf(SERVICE).transferRecords()], [])
  })
})

describe('HostGroups marks the names that a change affects:', () => {
  const isAbove = (name: string): boolean => ['a.test', 'shop.a.test'].includes(name)
  const all =
    ENDPOINTS +
    ingress('web', 'w', '203.0.113.1') +
    gateway('public', '::1') +
    route('GRPCRoute', 'r')
  const cases: {
    name: string
    set?: string
    remove?: readonly [kind: Kind, namespace: string, name: string]
    changed: readonly string[]
  }[] = [
    { name: 'an Ingress that goes', remove: ['Ingress', 'shop', 'web'], changed: ['w.a.test'] },
    {
      name: 'an Ingress that is called otherwise, both',
      set: ingress('web', 'v', '203.0.113.1'),
      changed: ['v.a.test', 'w.a.test'],
    },
    { name: 'a Gateway', set: gateway('public', '::2'), changed: ['r.a.test'] },
    { name: 'a Gateway that goes', remove: ['Gateway', 'infra', 'public'], changed: ['r.a.test'] },
    { name: 'a Gateway that no route hangs on', set: gateway('other', '::2'), changed: [] },
    {
      name: 'a slice that goes',
      remove: ['EndpointSlice', 'shop', 'db-1'],
      changed: ['db.shop.a.test'],
    },
    { name: 'a route that goes', remove: ['GRPCRoute', 'shop', 'web'], changed: ['r.a.test'] },
    { name: 'what was missing', remove: ['Ingress', 'shop', 'gone'], changed: [] },
    {
      name: 'a slice of a Service that points elsewhere',
      set: `${SERVICE}
- { kind: EndpointSlice, metadata:
    { name: web-1, namespace: shop, labels: { kubernetes.io/service-name: web } } }`,
      changed: ['web.shop.a.test'],
    },
    {
      name: 'what says no names',
      set: '[{ kind: Namespace, metadata: { name: x } }, { kind: Pod, metadata: { name: x } }]',
      changed: [],
    },
  ]
  for (const { name, set = '[]', remove, changed } of cases) {
    test(name, () => {
      const groups = groupsOf(all)
      groups.takeChanged()
      if (remove !== undefined) groups.delete(...remove)
      for (const object of objectsOf(set)) groups.set(object)
      const above = groups.takeChanged().filter((one) => !isAbove(one))
      assert.deepEqual(above.sort(), changed)
      assert.deepEqual(groups.takeChanged(), [])
    })
  }

  test('all at first, and when all is to be made again', () => {
    const groups = groupsOf(all)
    const names = ['a.test', 'db.shop.a.test', 'r.a.test', 'shop.a.test', 'w.a.test']
    assert.deepEqual([...groups.takeChanged()].sort(), names)
    groups.markAll()
    assert.deepEqual([...groups.takeChanged()].sort(), names)
  })
})

describe('HostGroups knows', () => {
  test('slices and their Services', () => {
    const groups = groupsOf(ENDPOINTS)
    const [, slice] = objectsOf(ENDPOINTS)
    assert.ok(slice?.kind === 'EndpointSlice')
    assert.equal(groups.sliceLike(slice)?.name, 'db-1')
    assert.equal(groups.serviceOf(slice)?.name, 'db')
    assert.equal(groups.serviceOf({ ...slice, serviceName: 'gone' }), undefined)
  })

  test('hostnames that several namespaces claim, as long as they do', () => {
    const groups = groupsOf(
      ingress('a', 'x', '203.0.113.1', bornIn('one', 2)) +
        ingress('b', 'x', '203.0.113.2', bornIn('two', 1)),
    )
    linesIn(groups)
    const why = 'the first kind in "resources" wins, then the older object'
    assert.deepEqual(groups.warnings(), [
      `Ingress one/a: x.a.test belongs to Ingress two/b: ${why}`,
    ])
    assert.equal(groups.conflicts.length, 1)
    groups.delete('Ingress', 'two', 'b')
    for (const name of groups.takeChanged()) groups.entriesOf(name)
    assert.deepEqual([groups.conflicts, groups.warnings()], [[], []])
  })

  test('the hostnames of an object with many, which it reads a fixed number of times', () => {
    const readsFor = (count: number): number => {
      const [object] = objectsOf(ingress('a', 'x', '203.0.113.1'))
      assert.ok(object?.kind === 'Ingress')
      const [host] = object.hosts
      assert.ok(host)
      const hosts = Array.from({ length: count }, (_, i) => ({ ...host, name: `h${i}` }))
      let reads = 0
      const counted = Object.defineProperty({ ...object }, 'hosts', {
        get: () => {
          reads++
          return hosts
        },
      })
      const groups = groupsOf('[]')
      groups.set(counted)
      assert.equal(linesIn(groups).length, count)
      return reads
    }
    assert.equal(readsFor(50), readsFor(5))
  })

  test('that hostnames are outside of the zones, in one line', () => {
    const groups = groupsOf(
      ingress('b', 'x.b.test', '203.0.113.1') + ingress('a', 'y.b.test', '203.0.113.1') + SERVICE,
    )
    const message = 'hostnames outside of the zones a.test have names below these only'
    assert.deepEqual(groups.warnings(), [`Ingress shop/a: ${message}`])
    groups.delete('Ingress', 'shop', 'a')
    assert.deepEqual(groups.warnings(), [`Ingress shop/b: ${message}`])
    groups.delete('Ingress', 'shop', 'b')
    assert.deepEqual(groups.warnings(), [])
  })

  test('CNAMEs that point in a circle, as long as they do', () => {
    const cname = (name: string, target: string) =>
      `{ dnsName: ${name}.a.test, recordType: CNAME, targets: [${target}] }`
    const spec = `{ endpoints: [${cname('x', 'y.a.test')}, ${cname('y', 'x.a.test')}] }`
    const metadata = '{ name: circle, namespace: shop }'
    const groups = groupsOf(`- { kind: DNSEndpoint, metadata: ${metadata}, spec: ${spec} }\n`)
    linesIn(groups)
    assert.deepEqual(groups.warnings(), [
      'y.a.test → x.a.test → y.a.test: these CNAMEs point in a circle',
    ])
    groups.delete('DNSEndpoint', 'shop', 'circle')
    for (const name of groups.takeChanged()) groups.entriesOf(name)
    assert.deepEqual(groups.warnings(), [])
  })

  test('invalid hostnames, as long as they exist', () => {
    const groups = groupsOf(ingress('web', 'a..b', '203.0.113.1'))
    assert.deepEqual(groups.warnings(), ['Ingress shop/web: "a..b" is not a hostname'])
    groups.delete('Ingress', 'shop', 'web')
    assert.deepEqual(groups.warnings(), [])
  })
})
