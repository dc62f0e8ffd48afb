import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { createObjectSource } from '../../src/exporter/export-source.ts'
import { TreeBuilders } from '../../src/exporter/tree-builders.ts'
import { openShard } from '../../src/snapshot/read/open-shard.ts'
import { Snapshot } from '../../src/snapshot/read/snapshot.ts'
import { objectsOf, optionsOf } from '../kubernetes/naming.ts'
import { namesIn } from './snapshots.ts'

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
const NAMES = ['web.shop.svc', 'api.shop.svc', 'far.shop.svc', '198-51-100-1.prod.api.shop.svc']

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
  return Object.fromEntries(all.map(([name, tree]) => [name, namesIn(open(tree.shards), NAMES)]))
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
