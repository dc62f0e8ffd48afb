import assert from 'node:assert/strict'
import { test } from 'vitest'
import { nameOf } from '../../../../../src/dns/names/name.ts'
import {
  objectOf,
  textLabels,
} from '../../../../../src/resolver/plugins/kubernetes/explain/explained-names.ts'

const OBJECTS: readonly {
  name: string
  tree: 'cluster' | 'multicluster'
  object: string | null
}[] = [
  { name: 'web.shop.svc', tree: 'cluster', object: 'Service shop/web' },
  { name: 'web.shop.svc', tree: 'multicluster', object: 'ServiceImport shop/web' },
  { name: '_http._tcp.web.shop.svc', tree: 'cluster', object: 'Service shop/web' },
  { name: 'pod-1.web.shop.svc', tree: 'cluster', object: 'EndpointSlices of Service shop/web' },
  { name: 'shop.svc', tree: 'cluster', object: 'Namespace shop' },
  { name: '192-0-2-1.shop.pod', tree: 'cluster', object: 'Pod at 192-0-2-1 in shop' },
  { name: 'svc', tree: 'cluster', object: null },
  { name: 'ns.dns', tree: 'cluster', object: null },
]
for (const { name, tree, object } of OBJECTS) {
  test(`the object of ${name} in the tree ${tree} is ${object}`, () => {
    assert.equal(objectOf(textLabels(nameOf(name).subarray(0, -1)), tree), object)
  })
}

test('labels are escaped as in zone files', () => {
  assert.deepEqual(textLabels(nameOf('a\\.b.c').subarray(0, -1)), ['a\\.b', 'c'])
})
