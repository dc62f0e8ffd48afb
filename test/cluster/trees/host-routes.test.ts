import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { NamingOptions, SelectedHosts } from '../../../src/cluster/objects/options.ts'
import { isSelected } from '../../../src/cluster/objects/selection.ts'
import { HostGroups } from '../../../src/cluster/trees/host-groups.ts'
import { formatHosts, hostsTree, objectsOf, optionsOf } from '../naming.ts'

const ROUTE = { kind: 'Service', namespace: 'infra', name: 'nginx' } as const

function route(key: string, host: string, second = 1): string {
  const [namespace, name] = key.split('/')
  const created = `creationTimestamp: '2026-01-01T00:00:0${second}Z'`
  const spec = `{ host: ${host}, paths: [{ path: /, service: web, port: 80 }] }`
  return `- { kind: HostRoute, metadata: { namespace: ${namespace}, name: ${name}, ${created} }, spec: ${spec} }\n`
}

function service(addresses: string): string {
  return `- { kind: Service, metadata: { namespace: infra, name: nginx }, spec: { type: LoadBalancer, clusterIP: 10.96.0.9 }, status: { loadBalancer: { ingress: [${addresses}] } } }\n`
}

const GATEWAY =
  '- { kind: Gateway, metadata: { namespace: infra, name: nginx }, spec: { gatewayClassName: other }, status: { addresses: [{ value: 203.0.113.7 }] } }\n'

function groupsOf(
  router: SelectedHosts['router'],
  yaml: string,
  resources: SelectedHosts['resources'] = ['HostRoute'],
): HostGroups {
  const tree = hostsTree({
    resources,
    gatewayClasses: ['web'],
    recordZones: [{ namespace: 'shop', zones: ['shop.a.test'] }],
    router,
  })
  const groups = new HostGroups(tree)
  const options: NamingOptions = { ...optionsOf(), tree }
  for (const object of objectsOf(yaml)) if (isSelected(object, options)) groups.set(object)
  return groups
}

function linesIn(groups: HostGroups): string[] {
  return groups.takeChanged().flatMap((name) => formatHosts(groups.entriesOf(name)))
}

function reasons(groups: HostGroups): (string | undefined)[] {
  return groups.verdicts().map(({ refusal }) => refusal?.reason)
}

describe('the host of a HostRoute', () => {
  const yaml = route('shop/a', 'x.shop.a.test') + service('{ ip: 203.0.113.1 }') + GATEWAY
  const cases: { router: SelectedHosts['router']; address: string }[] = [
    { router: { kind: 'addresses', addresses: ['192.0.2.1'] }, address: 'A 192.0.2.1' },
    { router: ROUTE, address: 'A 203.0.113.1' },
    { router: { ...ROUTE, kind: 'ClusterIP' }, address: 'A 10.96.0.9' },
    { router: { ...ROUTE, kind: 'Gateway' }, address: 'A 203.0.113.7' },
  ]
  for (const { router, address } of cases) {
    test(`resolves to the router: ${router.kind} ${address}`, () => {
      const groups = groupsOf(router, yaml)
      assert.deepEqual(linesIn(groups), [`x.shop.a.test 60 ${address}`])
      assert.deepEqual(reasons(groups), [undefined])
    })
  }

  test('is all that a router publishes whose label or class excludes it', () => {
    const excluded = service('{ ip: 203.0.113.1 }').replace(
      'name: nginx',
      "name: nginx, labels: { k8s-gateway.dns/ignore: 'true' }",
    )
    const gateway = GATEWAY.replace('other }', 'other, listeners: [{ hostname: gw.a.test }] }')
    for (const router of [ROUTE, { ...ROUTE, kind: 'Gateway' } as const]) {
      const groups = groupsOf(router, route('shop/a', 'x.shop.a.test') + excluded + gateway, [
        'Service',
        'Gateway',
        'HostRoute',
      ])
      assert.deepEqual(
        linesIn(groups).map((line) => line.split(' ')[0]),
        ['x.shop.a.test'],
      )
    }
  })

  test('follows the router, and has no name while that has no address', () => {
    const groups = groupsOf(ROUTE, route('shop/a', 'x.shop.a.test') + service(''))
    assert.deepEqual(linesIn(groups), [])
    assert.deepEqual(reasons(groups), ['RouterHasNoAddress'])
    assert.deepEqual(groups.warnings(), ['HostRoute shop/a: the router infra/nginx has no address'])
    for (const object of objectsOf(service('{ ip: 203.0.113.2 }'))) groups.set(object)
    assert.deepEqual(linesIn(groups), ['x.shop.a.test 60 A 203.0.113.2'])
    assert.deepEqual([reasons(groups), groups.warnings()], [[undefined], []])
    groups.delete('Service', 'infra', 'nginx')
    assert.deepEqual(linesIn(groups), [])
    groups.delete('HostRoute', 'shop', 'a')
    assert.deepEqual(reasons(groups), [])
  })

  test('is in a zone of its namespace', () => {
    const groups = groupsOf(
      ROUTE,
      route('blog/a', 'x.shop.a.test') + service('{ ip: 203.0.113.1 }'),
    )
    assert.deepEqual(linesIn(groups), [])
    assert.deepEqual(reasons(groups), ['OutsideAllowedZones'])
  })

  test('is shared by the objects of its namespace', () => {
    const both = route('shop/a', 'x.shop.a.test') + route('shop/b', 'x.shop.a.test', 2)
    const groups = groupsOf(ROUTE, both + service('{ ip: 203.0.113.1 }'))
    assert.deepEqual(linesIn(groups), ['x.shop.a.test 60 A 203.0.113.1'])
    assert.deepEqual(reasons(groups), [undefined, undefined])
  })
})
