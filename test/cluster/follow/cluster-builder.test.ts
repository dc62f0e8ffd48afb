import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import {
  buildLabels,
  ClusterBuilder,
  LabelTree,
  TreeBuilders,
} from '../../../src/cluster/follow/cluster-builder.ts'
import { createObjectSource } from '../../../src/cluster/follow/export-source.ts'
import { Cluster } from '../../../src/cluster/objects/cluster.ts'
import type { ClusterObject, Namespace } from '../../../src/cluster/objects/objects.ts'
import type { NamingOptions } from '../../../src/cluster/objects/options.ts'
import { readLabels } from '../../../src/snapshot/read/namespace-labels.ts'
import { openShard } from '../../../src/snapshot/read/open-shard.ts'
import { Snapshot } from '../../../src/snapshot/read/snapshot.ts'
import { clusterOf, hostsTree, objectsOf, optionsOf, selectorOf } from '../naming.ts'
import { object } from '../random-cluster.ts'
import { namesIn, openBuilt } from './snapshots.ts'
import { buildSnapshot } from './whole-snapshot.ts'

const NAMES = ['web.shop.svc', 'db.shop.svc']
const LONG = 's'.repeat(64)

function objectOf(yaml: string): ClusterObject {
  const [first] = objectsOf(`[${yaml}]`)
  assert.ok(first)
  return first
}

/** A Service with a cluster IP, below which more fields of its metadata may stand. */
function service(name: string, metadata = ''): ClusterObject {
  return objectOf(`{
    kind: Service,
    metadata: { namespace: shop, name: ${name}, ${metadata} },
    spec: { clusterIP: 192.0.2.10 },
  }`)
}

const SHOP = objectOf('{ kind: Namespace, metadata: { name: shop } }')

describe('ClusterBuilder', () => {
  test('builds the present objects', () => {
    const builder = new ClusterBuilder(optionsOf(), assert.fail)
    const names = (): string[] => namesIn(openBuilt(builder.build()), NAMES)
    builder.set(SHOP)
    builder.set(service('web'))
    assert.deepEqual(names(), ['web.shop.svc'])
    builder.set(service('db'))
    builder.delete('Service', 'shop', 'web')
    assert.deepEqual(names(), ['db.shop.svc'])
    builder.delete('Namespace', '', 'shop')
    assert.deepEqual(names(), [])
  })

  const selectors = [
    { name: 'objects', options: { objectSelector: selectorOf('tier=gold') } },
    { name: 'namespaces', options: { namespaceSelector: selectorOf('tier=gold') } },
  ]
  for (const { name, options } of selectors) {
    test(`takes what the selector of ${name} meets, as long as it meets it`, () => {
      const gold = 'labels: { tier: gold }'
      const shop = (metadata: string): ClusterObject =>
        objectOf(`{ kind: Namespace, metadata: { name: shop, ${metadata} } }`)
      const builder = new ClusterBuilder(optionsOf(options), assert.fail)
      const names = (): string[] => namesIn(openBuilt(builder.build()), NAMES)
      builder.set(shop(''))
      builder.set(service('web'))
      assert.deepEqual(names(), [])
      builder.set(shop(gold))
      builder.set(service('web', gold))
      assert.deepEqual(names(), ['web.shop.svc'])
      builder.set(shop(''))
      builder.set(service('web'))
      assert.deepEqual(names(), [])
    })
  }

  test('warns of each thing once as long as it is so', () => {
    const warnings: string[] = []
    const builder = new ClusterBuilder(optionsOf(), (warning) => warnings.push(warning))
    builder.set(SHOP)
    builder.set(service(LONG))
    assert.deepEqual(warnings, [])
    builder.build()
    builder.build()
    assert.equal(warnings.length, 1)
    assert.match(warnings[0] ?? '', /^Service shop\/s{64}: its name "s{64}" cannot be a DNS label/)
    assert.deepEqual(builder.build().warnings, warnings)

    builder.set(objectOf('{ kind: Service, metadata: { namespace: shop, name: db } }'))
    builder.build()
    assert.deepEqual(warnings.slice(1), ['Service shop/db: it has no cluster IP'])
    assert.equal(builder.build().warnings.length, 2)

    builder.delete('Service', 'shop', LONG)
    builder.build()
    assert.equal(warnings.length, 2)
    assert.deepEqual(builder.build().warnings, warnings.slice(1))
    builder.set(service(LONG))
    builder.build()
    assert.equal(warnings.length, 3)
  })

  test('logs 50 warnings of a namespace and 100 of a build, and counts the others', () => {
    const logged: string[] = []
    const builder = new ClusterBuilder(optionsOf(), (warning) => logged.push(warning))
    for (const [namespace, count] of [
      ['shop', 103],
      ['blog', 60],
      ['calm', 2],
    ] as const) {
      builder.set(objectOf(`{ kind: Namespace, metadata: { name: ${namespace} } }`))
      for (let i = 0; i < count; i++) {
        const metadata = `{ namespace: ${namespace}, name: db-${i} }`
        builder.set(objectOf(`{ kind: Service, metadata: ${metadata} }`))
      }
    }
    assert.equal(builder.build().warnings.length, 165)
    const countOf = (text: string): number => logged.filter((line) => line.includes(text)).length
    assert.deepEqual(['shop/', 'blog/', 'calm/'].map(countOf), [49, 49, 2])
    assert.deepEqual([logged.length, logged.at(-1)], [101, '65 more warnings'])
    builder.build()
    assert.equal(logged.length, 101)
  })

  test('builds the same bytes whatever came before', () => {
    const change = fc.record({ object, isDeleted: fc.boolean() })
    fc.assert(
      fc.property(fc.array(change, { maxLength: 40 }), (changes) => {
        const builder = new ClusterBuilder(optionsOf({ pods: 'verified' }), () => undefined)
        const present = new Map<string, ClusterObject>()
        for (const { object: changed, isDeleted } of changes) {
          const { kind, namespace, name } = changed
          if (isDeleted) builder.delete(kind, namespace, name)
          else builder.set(changed)
          present.delete(`${kind} ${namespace}/${name}`)
          if (!isDeleted) present.set(`${kind} ${namespace}/${name}`, changed)
        }
        const cluster = new Cluster()
        for (const left of present.values()) cluster.set(left)
        const built = buildSnapshot(cluster, optionsOf({ pods: 'verified' }))
        assert.deepEqual(builder.build().shards, built.shards)
      }),
    )
  })
})

describe('ClusterBuilder and very many namespaces', () => {
  test('has room for twenty thousand without a Service', () => {
    const builder = new ClusterBuilder(optionsOf(), assert.fail)
    for (let i = 0; i < 20_000; i++) {
      builder.set({ kind: 'Namespace', namespace: '', name: `ns-${i}`, labels: new Map() })
    }
    const names = ['ns-0.svc', 'ns-19999.svc', 'ns-20000.svc']
    assert.deepEqual(namesIn(openBuilt(builder.build()), names), names.slice(0, 2))
  })
})

function namespace(name: string, labels: Readonly<Record<string, string>>): Namespace {
  return { kind: 'Namespace', namespace: '', name, labels: new Map(Object.entries(labels)) }
}

/** What a tree says of each namespace. */
function labelsOf({ tree }: ReturnType<LabelTree['build']>): Record<string, readonly string[]> {
  const shards = (tree?.shards ?? []).map((bytes) => openShard(bytes))
  return Object.fromEntries(readLabels(shards))
}

describe('LabelTree', () => {
  test('has the present namespaces', () => {
    const tree = new LabelTree(optionsOf())
    assert.deepEqual(tree.build(), { tree: undefined, warnings: [] })
    tree.set(namespace('shop', { team: 'shop' }))
    tree.set(namespace('blog', { team: 'web', a: 'b' }))
    assert.equal(tree.build().tree?.records, 3)
    assert.deepEqual(labelsOf(tree.build()), { blog: ['a=b', 'team=web'], shop: ['team=shop'] })
    tree.set(namespace('shop', {}))
    assert.deepEqual(labelsOf(tree.build()), { blog: ['a=b', 'team=web'] })
    tree.delete('blog')
    assert.equal(tree.build().tree, undefined)
  })

  test('is the same array as long as nothing changes', () => {
    const tree = new LabelTree(optionsOf())
    tree.set(namespace('shop', { team: 'shop' }))
    const before = tree.build()
    tree.delete('blog')
    assert.equal(tree.build(), before)
  })

  test('has only namespaces that are served', () => {
    const options: NamingOptions = optionsOf({ namespaces: new Set(['shop']) })
    const all = [namespace('shop', { a: 'b' }), namespace('blog', { a: 'b' })]
    assert.deepEqual(labelsOf(buildLabels(all, options)), { shop: ['a=b'] })
  })
})

describe('a cluster that is followed', () => {
  const options = optionsOf({ namespaceSelector: selectorOf('!hidden') })

  test('has the labels of its namespaces as they are, and those of no others', () => {
    const builder = new ClusterBuilder(options, assert.fail)
    const built = (): Record<string, readonly string[]> =>
      labelsOf({ tree: builder.build().trees?.labels, warnings: [] })
    builder.set(namespace('shop', { team: 'shop' }))
    assert.deepEqual(built(), { shop: ['team=shop'] })
    builder.set(namespace('shop', { team: 'web' }))
    assert.deepEqual(built(), { shop: ['team=web'] })
    builder.set(namespace('shop', { team: 'web', hidden: '' }))
    assert.deepEqual(built(), {})
    builder.set(namespace('shop', { team: 'web' }))
    builder.delete('Namespace', '', 'shop')
    assert.deepEqual(built(), {})
  })

  test('has the same as one that is built as a whole', () => {
    const builder = new ClusterBuilder(options, assert.fail)
    const yaml = '[{kind: Namespace, metadata: {name: shop, labels: {team: shop}}}]'
    const cluster = clusterOf(yaml)
    for (const one of cluster.namespaces.values()) builder.set(one)
    assert.deepEqual(buildSnapshot(cluster, options).trees, builder.build().trees)
  })
})

const OBJECTS = objectsOf(`
- { kind: Namespace, metadata: { name: shop, labels: { team: shop } } }
- { kind: Service, metadata: { name: web, namespace: shop }, spec: { clusterIP: 192.0.2.1 } }
- { kind: Service, metadata: { name: api, namespace: shop }, spec: { clusterIP: None } }
- { kind: ServiceExport, metadata: { name: api, namespace: shop } }
- kind: EndpointSlice
  metadata: { name: api-1, namespace: shop, labels: { kubernetes.io/service-name: api } }
  endpoints: [{ addresses: [198.51.100.1] }]
- kind: ServiceImport
  metadata: { name: far, namespace: shop }
  spec: { ips: [192.0.2.7], ports: [{ port: 80 }] }`)
const TREES = {
  multicluster: optionsOf({ tree: { kind: 'multicluster' } }),
  exports: optionsOf({ tree: { kind: 'exports', cluster: 'prod' } }),
}
const TREE_BUILDERS_NAMES = [
  'web.shop.svc',
  'api.shop.svc',
  'far.shop.svc',
  '198-51-100-1.prod.api.shop.svc',
]

/** Those of some names that each tree has. */
function namesOf({ shards, trees = {} }: ReturnType<TreeBuilders['build']>): object {
  const open = (all: readonly Uint8Array[]): Snapshot => {
    const info = { generation: 1, timeMs: 0, ttlSeconds: 5, records: 0, origins: [] }
    return new Snapshot(
      info,
      all.map((bytes) => openShard(bytes)),
    )
  }
  const all = [['main', { shards }] as const, ...Object.entries(trees)]
  return Object.fromEntries(
    all.map(([name, tree]) => [name, namesIn(open(tree.shards), TREE_BUILDERS_NAMES)]),
  )
}

describe('trees that are published together', () => {
  const wanted = {
    main: ['web.shop.svc', 'api.shop.svc'],
    labels: [],
    multicluster: ['far.shop.svc'],
    exports: ['api.shop.svc', '198-51-100-1.prod.api.shop.svc'],
  }

  test('are of the same objects, as they come and go', () => {
    const builders = new TreeBuilders({ naming: optionsOf(), trees: TREES, onWarning: assert.fail })
    for (const object of OBJECTS) builders.set(object)
    assert.deepEqual(namesOf(builders.build()), wanted)
    builders.delete('ServiceExport', 'shop', 'api')
    assert.deepEqual(namesOf(builders.build()), { ...wanted, exports: [] })
    builders.delete('ServiceImport', 'shop', 'far')
    assert.deepEqual(namesOf(builders.build()), { ...wanted, exports: [], multicluster: [] })
  })

  test('are the same from files', () => {
    const options = { naming: optionsOf(), trees: TREES, onWarning: assert.fail, now: () => 0 }
    assert.deepEqual(namesOf(createObjectSource(OBJECTS, options).build()), wanted)
  })

  test('decide on an object once: refused in one tree, or with zones of another', () => {
    const tree = (zone: string, ...addresses: string[]): NamingOptions => {
      const resources = ['HostRoute', 'DNSRecord'] as const
      const recordZones = [{ namespace: '*', zones: [zone] }]
      const router = { kind: 'addresses', addresses } as const
      return optionsOf({ tree: hostsTree({ resources, recordZones, router }) })
    }
    const decided = objectsOf(`[
      { kind: HostRoute, metadata: { name: www, namespace: shop },
        spec: { host: www.a.test, paths: [{ path: /, service: web, port: 80 }] } },
      { kind: DNSRecord, metadata: { name: www, namespace: shop },
        spec: { zone: a.test, name: a, type: A, values: [192.0.2.9] } },
    ]`)
    const outcomes = (hosts: NamingOptions, inside: NamingOptions): string[] => {
      const trees = { hosts, inside }
      const builders = new TreeBuilders({ naming: optionsOf(), trees, onWarning: () => undefined })
      for (const object of decided) builders.set(object)
      const { verdicts = [] } = builders.build()
      return verdicts.map(({ object, refusal }) => `${object.kind} ${refusal?.reason}`).sort()
    }
    const routed = tree('a.test', '192.0.2.1')
    const accepted = ['DNSRecord undefined', 'HostRoute undefined']
    for (const [other, wanted] of [
      [tree('a.test'), ['DNSRecord undefined', 'HostRoute RouterHasNoAddress']],
      [tree('b.test'), accepted],
      [routed, accepted],
    ] as const) {
      assert.deepEqual(outcomes(routed, other), wanted)
      assert.deepEqual(outcomes(other, routed), wanted)
    }
  })

  test('name the tree in warnings', () => {
    const warnings: string[] = []
    const onWarning = (text: string): number => warnings.push(text)
    const builders = new TreeBuilders({ naming: optionsOf(), trees: TREES, onWarning })
    const bad = objectsOf(
      `[{ kind: ServiceImport, metadata: { name: bad, namespace: shop }, spec: { ips: [x] } }]`,
    )
    for (const object of [...OBJECTS, ...bad]) builders.set(object)
    builders.build()
    assert.deepEqual(warnings, ['multicluster: ServiceImport shop/bad: address "x" is no address'])
  })
})
