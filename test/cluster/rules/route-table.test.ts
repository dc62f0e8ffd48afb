import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { HostObject } from '../../../src/cluster/objects/objects.ts'
import type { RouteTable } from '../../../src/cluster/rules/route-table.ts'
import { routeTable } from '../../../src/cluster/rules/route-table.ts'
import { RoutedObjects } from '../../../src/operators/router/router.ts'
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
  /** HostRoutes of a namespace, each older than the next, with so many paths each. */
  function routesOf(namespace: string, count: number, paths = 1): HostObject[] {
    const [one] = objectsOf(route('shop/one', 9, `host: www.open.test, paths: [${path('/')}]`))
    assert.ok(one?.kind === 'HostRoute')
    const [first] = one.paths ?? []
    assert.ok(first !== undefined)
    return Array.from({ length: count }, (_, i): HostObject => {
      const own = Array.from({ length: paths }, (_path, p) => ({ ...first, path: `/p${p}` }))
      const hosts = [{ name: `h${i}.${namespace}.open.test`, targets: [], texts: [] }]
      return { ...one, namespace, name: `r${i}`, createdMs: i, hosts, paths: own }
    })
  }

  /** How many routes of each namespace are in the table, and with how many paths. */
  function routedOf(objects: readonly HostObject[]): Record<string, [number, number]> {
    const { verdicts } = routeTable(objects, { ...TREE, serviceOf: () => undefined })
    const routed: Record<string, [number, number]> = {}
    const refused = new Map<string, number>()
    for (const { object, refusal } of verdicts) {
      const { namespace, createdMs, paths = [] } = object
      if (refusal?.reason === 'TooManyRoutes') {
        refused.set(namespace, Math.min(refused.get(namespace) ?? Infinity, createdMs))
        continue
      }
      if (refusal?.reason !== 'ServiceNotFound') continue
      const [count, sum] = routed[namespace] ?? [0, 0]
      routed[namespace] = [count + 1, sum + paths.length]
      assert.ok(createdMs < (refused.get(namespace) ?? Infinity), 'the youngest lose first')
    }
    return routed
  }

  const shares: {
    name: string
    objects: readonly (readonly [namespace: string, count: number, paths?: number])[]
    routed: Record<string, [number, number]>
  }[] = [
    {
      name: 'routes of its own bound',
      objects: [
        ['many', 10_000],
        ['few', 1],
      ],
      routed: { many: [1000, 1000], few: [1, 1] },
    },
    {
      name: 'paths of its own bound',
      objects: [
        ['many', 1000, 16],
        ['few', 1, 16],
      ],
      routed: { many: [250, 4000], few: [1, 16] },
    },
    {
      name: 'a share of all routes, if it has the most',
      objects: [...Array.from({ length: 11 }, (_, i) => [`n${i}`, 1000] as const), ['few', 400]],
      routed: {
        ...Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`n${i}`, [872, 872]])),
        few: [400, 400],
      },
    },
    {
      name: 'a share of all paths, if it has the most',
      objects: [
        ...Array.from({ length: 5 }, (_, i) => [`n${i}`, 400, 10] as const),
        ['few', 50, 2],
      ],
      routed: {
        ...Object.fromEntries(Array.from({ length: 5 }, (_, i) => [`n${i}`, [318, 3180]])),
        few: [50, 100],
      },
    },
    {
      name: 'nothing of the others while its zones do not allow its hosts',
      objects: [['few', 2]],
      routed: { few: [2, 2] },
    },
  ]
  for (const { name, objects, routed } of shares) {
    test(`are bounded for each namespace, which gets ${name}`, () => {
      const all = objects.flatMap((one) => routesOf(...one))
      const outside = routesOf('outside', 2000).map((one) => ({
        ...one,
        hosts: [{ name: 'a.elsewhere.test', targets: [], texts: [] }],
      }))
      assert.deepEqual(routedOf([...outside, ...all.toReversed()]), routed)
    })
  }

  test('say what their namespace may have', () => {
    const objects = routesOf('many', 1001)
    const { verdicts } = routeTable(objects, { ...TREE, serviceOf: () => undefined })
    assert.deepEqual(verdicts.at(-1)?.refusal, {
      reason: 'TooManyRoutes',
      message:
        'namespace many may have 1000 HostRoutes with 4000 paths, ' +
        'and this is one of its youngest',
    })
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
