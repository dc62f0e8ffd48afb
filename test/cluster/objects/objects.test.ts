import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { describeObject } from '../../../src/cluster/objects/objects.ts'
import { objectsOf } from '../naming.ts'

describe('describeObject', () => {
  const cases: { name: string; object: string; text: string }[] = [
    {
      name: 'gives kind, namespace and name',
      object: '{ kind: Service, metadata: { name: web, namespace: shop } }',
      text: 'Service shop/web',
    },
    {
      name: 'gives no namespace where none exists',
      object: '{ kind: Namespace, metadata: { name: shop, namespace: ignored } }',
      text: 'Namespace shop',
    },
    {
      name: 'gives the namespace that an object is in by default',
      object: '{ kind: EndpointSlice, metadata: { name: web-1 } }',
      text: 'EndpointSlice default/web-1',
    },
  ]
  for (const { name, object, text } of cases) {
    test(name, () => {
      assert.deepEqual(objectsOf(`[${object}]`).map(describeObject), [text])
    })
  }
})
