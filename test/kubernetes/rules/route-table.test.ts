import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { RouteTable } from '../../../src/kubernetes/rules/route-table.ts'
import { ROUTES_MAX, routeTable } from '../../../src/kubernetes/rules/route-table.ts'
import { RoutedObjects } from '../../../src/router/router.ts'
import { objectsOf } from '../naming.ts'

const TREE = {
  recordZones: [
    { namespace: '*', zones: ['open.test'] },
    { namespace: 'shop', zones: ['shop.test'] },
  ],
}

function service(key: string, spec: string): string {
  const [namespace, name] = key.split('/')
  return `- { kind: Service, metadata: { namespace: ${namespace}, name: ${name} }, spec: { ${spec} } }\n`
}

function route(key: string, second: number, spec: string): string {
  const [namespace, name] = key.split('/')
  const created = `creationTimestamp: '2026-01-01T00:00:0${second}Z'`
  return `- { kind: HostRoute, metadata: { namespace: ${namespace}, name: ${name}, ${created} }, spec: { ${spec} } }\n`
}

const SERVICES =
  service('shop/web', 'clusterIP: 10.96.0.1, ports: [{ port: 80 }, { port: 53, protocol: UDP }]') +
  service('shop/six', "clusterIPs: ['fd00::1'], ports: [{ port: 80 }]") +
  service('shop/none', 'clusterIP: None, ports: [{ port: 80 }]') +
  service('shop/name', 'type: ExternalName, externalName: a.test, ports: [{ port: 80 }]') +
  service('blog/web', 'clusterIP: 10.96.0.2, ports: [{ port: 80 }]')

function tableOf(yaml: string): RouteTable {
  const objects = new RoutedObjects()
  for (const object of objectsOf(SERVICES + yaml)) objects.set(object)
  return objects.table(TREE)
}

/** `HOST PATH ADDRESS:PORT` of each route. */
function linesOf({ hosts }: RouteTable): string[] {
  return hosts.flatMap(({ host, routes }) =>
    routes.map(({ path, backend }) => {
      return `${host}${path} ${backend ? `${backend.address} ${backend.port}` : '503'}`
    }),
  )
}

function verdictsOf({ verdicts }: RouteTable): string[] {
  return verdicts.map(({ object, refusal }) => {
    const why = refusal === undefined ? 'ok' : `${refusal.reason}: ${refusal.message}`
    return `${object.namespace}/${object.name} ${why}`
  })
}

function path(text: string, to = 'web', port = 80): string {
  return `{ path: ${text}, service: ${to}, port: ${port} }`
}

describe('the routes of HostRoutes', () => {
  test('are bounded, and objects outside the allowed zones take no room', () => {
    const spec = `host: www.shop.test, paths: [${path('/')}]`
    const [last] = objectsOf(route('shop/last', 9, spec))
    assert.ok(last?.kind === 'HostRoute')
    const reasonAfter = (namespace: string): string | undefined => {
      const older = Array.from({ length: ROUTES_MAX }, (_, i) => {
        return { ...last, namespace, name: `r${i}`, createdMs: i }
      })
      const { verdicts } = routeTable([last, ...older], { ...TREE, serviceOf: () => undefined })
      return verdicts.at(-1)?.refusal?.reason
    }
    assert.deepEqual(
      [reasonAfter('shop'), reasonAfter('blog')],
      ['TooManyRoutes', 'ServiceNotFound'],
    )
  })

  test('point to the Services of their namespace', () => {
    const table = tableOf(
      route('shop/a', 1, `host: shop.test, paths: [${path('/b', 'six')}, ${path('/')}]`) +
        route('blog/a', 1, `host: open.test, paths: [${path('/')}]`),
    )
    assert.deepEqual(linesOf(table), [
      'open.test/ 10.96.0.2 80',
      'shop.test/ 10.96.0.1 80',
      'shop.test/b fd00::1 80',
    ])
    assert.deepEqual(verdictsOf(table), ['blog/a ok', 'shop/a ok'])
  })

  const wrong = [
    { to: path('/x', 'gone'), why: 'ServiceNotFound: /x: no Service shop/gone' },
    { to: path('/x', 'web', 81), why: 'PortNotFound: /x: Service shop/web has no TCP port 81' },
    { to: path('/x', 'web', 53), why: 'PortNotFound: /x: Service shop/web has no TCP port 53' },
    ...['none', 'name'].map((name) => ({
      to: path('/x', name),
      why: `ServiceHasNoAddress: /x: Service shop/${name} has no cluster IP`,
    })),
  ]
  for (const { to, why } of wrong) {
    test(`answer 503 for one path, and serve the others: ${why}`, () => {
      const spec = `host: shop.test, paths: [${path('/')}, ${to}]`
      const table = tableOf(route('shop/a', 1, spec))
      assert.deepEqual(linesOf(table), ['shop.test/ 10.96.0.1 80', 'shop.test/x 503'])
      assert.deepEqual(verdictsOf(table), [`shop/a ${why}`])
    })
  }

  test('of one path are those of the older object', () => {
    const table = tableOf(
      route('shop/new', 2, `host: shop.test, paths: [${path('/', 'six')}, ${path('/b')}]`) +
        route('shop/old', 1, `host: shop.test, paths: [${path('/')}]`),
    )
    assert.deepEqual(linesOf(table), ['shop.test/ 10.96.0.1 80', 'shop.test/b 10.96.0.1 80'])
    assert.deepEqual(verdictsOf(table), [
      'shop/old ok',
      'shop/new PathConflict: / belongs to HostRoute shop/old',
    ])
  })

  test('of one host are those of one namespace', () => {
    const table = tableOf(
      route('blog/new', 2, `host: x.open.test, paths: [${path('/admin')}]`) +
        route('shop/old', 1, `host: x.open.test, paths: [${path('/')}]`),
    )
    assert.deepEqual(linesOf(table), ['x.open.test/ 10.96.0.1 80'])
    assert.deepEqual(verdictsOf(table).slice(1), [
      'blog/new Conflict: x.open.test belongs to HostRoute shop/old',
    ])
  })

  test('need a host that the namespace may have: an older object cannot take it away', () => {
    const table = tableOf(
      route('blog/thief', 1, `host: shop.test, paths: [${path('/')}]`) +
        route('shop/own', 2, `host: shop.test, paths: [${path('/')}]`),
    )
    assert.deepEqual(linesOf(table), ['shop.test/ 10.96.0.1 80'])
    assert.match(verdictsOf(table)[0] ?? '', /^blog\/thief OutsideAllowedZones/)
  })

  test('do not depend on the order of the objects', () => {
    const yaml =
      route('shop/b', 1, `host: shop.test, paths: [${path('/')}]`) +
      route('shop/a', 1, `host: shop.test, paths: [${path('/', 'six')}]`)
    const objects = objectsOf(yaml).flatMap((one) => (one.kind === 'HostRoute' ? [one] : []))
    const context = { ...TREE, serviceOf: () => undefined }
    const owners = [objects, objects.toReversed()].map((some) =>
      routeTable(some, context).hosts.flatMap(({ routes }) => routes.map((one) => one.object.name)),
    )
    assert.deepEqual(owners, [['a'], ['a']])
  })
})
