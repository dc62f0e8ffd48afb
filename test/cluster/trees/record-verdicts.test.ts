import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { SelectedHosts } from '../../../src/cluster/objects/options.ts'
import { HostGroups } from '../../../src/cluster/trees/host-groups.ts'
import { formatHosts, hostsTree, objectsOf } from '../naming.ts'

/** An object `NAMESPACE/NAME`; the younger ones have the greater age. */
function record(key: string, second: number, spec: string): string {
  const [namespace, name] = key.split('/')
  const created = `2026-01-01T00:00:0${second}Z`
  return `- { kind: DNSRecord, metadata: { namespace: ${namespace}, name: ${name}, creationTimestamp: '${created}' }, spec: { ${spec} } }\n`
}

function groupsOf(yaml: string, some: Partial<SelectedHosts> = {}): HostGroups {
  const groups = new HostGroups(
    hostsTree({
      resources: ['DNSRecord', 'Ingress'],
      recordZones: [
        { namespace: 'shop', zones: ['shop.a.test', 'open.a.test'] },
        { namespace: '*', zones: ['open.a.test'] },
      ],
      ...some,
    }),
  )
  for (const object of objectsOf(yaml)) groups.set(object)
  return groups
}

function linesIn(groups: HostGroups): string[] {
  return groups.takeChanged().flatMap((name) => formatHosts(groups.entriesOf(name)))
}

/** `NAMESPACE/NAME: REASON` of each record. */
function verdictsOf(groups: HostGroups): string[] {
  return groups
    .verdicts()
    .map(({ object, refusal }) => `${object.namespace}/${object.name}: ${refusal?.reason ?? 'ok'}`)
    .sort()
}

const WWW = 'zone: open.a.test, name: www'

describe('a DNSRecord', () => {
  test('has a name only in the zones of its namespace', () => {
    const groups = groupsOf(
      record('shop/own', 1, 'zone: shop.a.test, name: x, type: A, values: [203.0.113.1]') +
        record('shop/below', 1, 'zone: y.shop.a.test, name: "@", type: A, values: [203.0.113.2]') +
        record('blog/open', 1, `${WWW}, type: A, values: [203.0.113.3]`) +
        record('blog/other', 1, 'zone: shop.a.test, name: x, type: A, values: [203.0.113.4]') +
        record('shop/apex', 1, 'zone: a.test, name: "@", type: A, values: [203.0.113.5]') +
        record('shop/like', 1, 'zone: a.test, name: xshop, type: A, values: [203.0.113.6]') +
        record('shop/far', 1, 'zone: b.test, name: x, type: A, values: [203.0.113.7]'),
    )
    assert.deepEqual(linesIn(groups), [
      'x.shop.a.test 60 A 203.0.113.1',
      'y.shop.a.test 60 A 203.0.113.2',
      'www.open.a.test 60 A 203.0.113.3',
    ])
    assert.deepEqual(verdictsOf(groups), [
      'blog/open: ok',
      'blog/other: OutsideAllowedZones',
      'shop/apex: OutsideAllowedZones',
      'shop/below: ok',
      'shop/far: OutsideAllowedZones',
      'shop/like: OutsideAllowedZones',
      'shop/own: ok',
    ])
    assert.deepEqual(groups.warnings().slice(0, 1), [
      'DNSRecord blog/other: x.shop.a.test is outside the zones of namespace blog: open.a.test',
    ])
  })

  test('has no name where no zones are allowed, and none from annotations', () => {
    const spec = `${WWW}, type: A, values: [203.0.113.1]`
    const yaml = record('shop/www', 1, spec).replace(
      'metadata: {',
      'metadata: { annotations: { external-dns.kubernetes.io/hostname: stolen.a.test, external-dns.kubernetes.io/target: 203.0.113.66 },',
    )
    const annotations = ['external-dns.kubernetes.io/']
    const none = groupsOf(yaml, { recordZones: [], annotations })
    assert.deepEqual(linesIn(none), [])
    assert.deepEqual(verdictsOf(none), ['shop/www: OutsideAllowedZones'])
    assert.deepEqual(linesIn(groupsOf(yaml, { annotations })), ['www.open.a.test 60 A 203.0.113.1'])
  })

  test('yields to the older one of another namespace, until that is deleted', () => {
    const groups = groupsOf(
      record('blog/new', 2, `${WWW}, type: A, values: [203.0.113.2]`) +
        record('shop/old', 1, `${WWW}, type: A, values: [203.0.113.1]`),
    )
    const own = linesIn(groups).filter((line) => !line.startsWith('1.'))
    assert.deepEqual(own, ['www.open.a.test 60 A 203.0.113.1'])
    assert.deepEqual(verdictsOf(groups), ['blog/new: Conflict', 'shop/old: ok'])
    assert.match(
      groups.warnings().join(),
      /^DNSRecord blog\/new: .* belongs to DNSRecord shop\/old/,
    )
    groups.delete('DNSRecord', 'shop', 'old')
    assert.deepEqual(linesIn(groups), ['www.open.a.test 60 A 203.0.113.2'])
    assert.deepEqual(verdictsOf(groups), ['blog/new: ok'])
    assert.deepEqual(groups.warnings(), [])
  })

  test('yields to a kind that is before it in "resources"', () => {
    const ingress =
      "- { kind: Ingress, metadata: { name: web, namespace: shop, creationTimestamp: '2026-01-01T00:00:09Z' }, spec: { rules: [{ host: www.open.a.test }] }, status: { loadBalancer: { ingress: [{ ip: 203.0.113.9 }] } } }\n"
    const yaml = record('shop/www', 1, `${WWW}, type: A, values: [203.0.113.1]`) + ingress
    assert.equal(linesIn(groupsOf(yaml))[0], 'www.open.a.test 60 A 203.0.113.1')
    const groups = groupsOf(yaml, { resources: ['Ingress', 'DNSRecord'] })
    assert.equal(linesIn(groups)[0], 'www.open.a.test 60 A 203.0.113.9')
    assert.deepEqual(verdictsOf(groups), ['shop/www: Conflict'])
  })

  test('shares its name within a namespace, but not with a CNAME: the older wins', () => {
    const address = record('shop/a', 2, `${WWW}, type: A, values: [203.0.113.1]`)
    const text = record('shop/txt', 2, `${WWW}, type: TXT, values: [hello], ttl: 5`)
    const cname = (second: number): string =>
      record('shop/cname', second, `${WWW}, type: CNAME, values: [lb.test]`)
    const beside = groupsOf(address + text + cname(3))
    assert.deepEqual(linesIn(beside), [
      'www.open.a.test 5 A 203.0.113.1',
      'www.open.a.test 5 TXT "hello"',
    ])
    assert.deepEqual(verdictsOf(beside), [
      'shop/a: ok',
      'shop/cname: CNAMEBesideOtherData',
      'shop/txt: ok',
    ])
    assert.deepEqual(beside.warnings(), [
      'DNSRecord shop/cname: www.open.a.test has a CNAME or other records in the older DNSRecord shop/a',
    ])
    const first = groupsOf(address + text + cname(1))
    assert.deepEqual(linesIn(first), ['www.open.a.test 60 CNAME lb.test.'])
    assert.deepEqual(verdictsOf(first), [
      'shop/a: CNAMEBesideOtherData',
      'shop/cname: ok',
      'shop/txt: CNAMEBesideOtherData',
    ])
  })

  test('cannot be a CNAME to itself', () => {
    const groups = groupsOf(record('shop/a', 1, `${WWW}, type: CNAME, values: [WWW.open.a.test.]`))
    assert.deepEqual(linesIn(groups), [])
    assert.deepEqual(groups.warnings(), ['DNSRecord shop/a: www.open.a.test points to itself'])
    assert.deepEqual(verdictsOf(groups), ['shop/a: InvalidValue'])
  })
})
