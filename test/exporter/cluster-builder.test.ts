import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { ClusterBuilder } from '../../src/exporter/cluster-builder.ts'
import { buildSnapshot } from '../../src/exporter/snapshot-builder.ts'
import { Cluster } from '../../src/kubernetes/objects/cluster.ts'
import type { ClusterObject } from '../../src/kubernetes/objects/objects.ts'
import { objectsOf, optionsOf, selectorOf } from '../kubernetes/naming.ts'
import { object } from '../kubernetes/random-cluster.ts'
import { namesIn, openBuilt } from './snapshots.ts'

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
