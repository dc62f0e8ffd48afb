import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { HostObjects } from '../../../src/cluster/trees/host-objects.ts'
import { RecordVerdicts } from '../../../src/cluster/trees/record-verdicts.ts'
import { finish } from '../../../src/dns/bytes/steps.ts'
import { hostsTree, objectsOf } from '../naming.ts'

const ingress = (name: string, ...hosts: readonly string[]): string => `
- kind: Ingress
  metadata: { name: ${name}, namespace: shop }
  spec: { rules: [${hosts.map((host) => `{ host: ${host} }`).join(', ')}] }`

function objectsIn(yaml: string): HostObjects {
  const objects = new HostObjects(hostsTree(), new RecordVerdicts())
  for (const object of objectsOf(yaml)) objects.set(object)
  return objects
}

describe('HostObjects', () => {
  test('applies the last of several changes of an object, in steps', () => {
    const many = Array.from({ length: 500 }, (_, i) => `h${i}.a.test`)
    const objects = objectsIn(ingress('a', 'old.a.test') + ingress('a', ...many))
    assert.deepEqual([...objects.allNames()], [])
    let steps = 0
    for (const _ of objects.apply()) steps++
    assert.ok(steps >= 10, `${steps} steps`)
    assert.equal(objects.isSaid('old.a.test'), false)
    assert.equal(objects.isSaid('h499.a.test'), true)
    assert.equal(objects.takeChanged().size, 1000)
  })

  test('reports ten problems of an object, and how many more it has', () => {
    const objects = objectsIn(ingress('a', ...Array.from({ length: 13 }, (_, i) => `a..${i}`)))
    finish(objects.apply())
    const warnings = objects.warnings()
    assert.equal(warnings.length, 11)
    assert.equal(warnings.at(-1), 'Ingress shop/a: 3 more problems')
  })

  test('changes no route where a Gateway changes in nothing that routes have', () => {
    const gateway = (more: string): string => `
- kind: Gateway
  metadata: { name: public, namespace: shop, labels: { a: ${more} } }
  status: { addresses: [{ type: IPAddress, value: 203.0.113.7 }] }`
    const objects = objectsIn(`${gateway('one')}
- kind: HTTPRoute
  metadata: { name: r, namespace: shop }
  spec: { hostnames: [r.a.test], parentRefs: [{ name: public }] }`)
    finish(objects.apply())
    assert.equal(objects.takeChanged().has('r.a.test'), true)
    for (const object of objectsOf(gateway('two'))) objects.set(object)
    finish(objects.apply())
    assert.equal(objects.takeChanged().size, 0)
    objects.delete('Gateway', 'shop', 'public')
    finish(objects.apply())
    assert.equal(objects.takeChanged().has('r.a.test'), true)
  })

  test('knows slices and Services of changes that are not applied yet', () => {
    const yaml = `
- { kind: Service, metadata: { name: db, namespace: shop, annotations: { k8s-gateway.dns/resolve-endpoints: 'true' } } }
- { kind: EndpointSlice, metadata: { name: db-1, namespace: shop, labels: { kubernetes.io/service-name: db } } }`
    const [, slice] = objectsOf(yaml)
    assert.ok(slice?.kind === 'EndpointSlice')
    const objects = objectsIn(yaml)
    for (const _ of [1, 2]) {
      assert.equal(objects.sliceLike(slice)?.name, 'db-1')
      assert.equal(objects.serviceOf(slice)?.name, 'db')
      finish(objects.apply())
    }
    objects.delete('EndpointSlice', 'shop', 'db-1')
    objects.delete('Service', 'shop', 'db')
    assert.deepEqual([objects.sliceLike(slice), objects.serviceOf(slice)], [undefined, undefined])
  })
})
