import assert from 'node:assert/strict'
import { test } from 'vitest'
import { MirroredObjects } from '../../../src/cluster/api/mirrored-objects.ts'
import { value } from '../follow/scripted-api.ts'

/** A Service of that name and version. */
function service(name: string, version: number | string): unknown {
  return value(`{ metadata: { namespace: shop, name: ${name}, resourceVersion: "${version}" } }`)
}

type Mirrored = { readonly objects: MirroredObjects; readonly news: () => string[] }

function mirror(): Mirrored {
  const lines: string[] = []
  const sink = {
    set: ({ name }: { readonly name: string }) => lines.push(`set ${name}`),
    delete: (_kind: string, _namespace: string, name: string) => lines.push(`delete ${name}`),
  }
  const objects = new MirroredObjects('Service', sink, (message) => lines.push(message))
  return { objects, news: () => lines.splice(0) }
}

/** Passes a whole list. */
function list({ objects }: Mirrored, watched: string, items: readonly unknown[]): void {
  objects.startList(watched)
  for (const item of items) objects.take(item)
  objects.endList()
}

test('a repeated list passes only what changed, and removes what it lacks', () => {
  const mirrored = mirror()
  list(mirrored, '', [service('a', 1), service('b', 2), service('c', 3)])
  assert.deepEqual(mirrored.news(), ['set a', 'set b', 'set c'])
  list(mirrored, '3', [service('a', 1), service('c', 9)])
  assert.deepEqual(mirrored.news(), ['set c', 'delete b'])
  assert.equal(mirrored.objects.count, 2)
})

test('a version that is not a number always counts as changed', () => {
  const mirrored = mirror()
  list(mirrored, '', [service('a', 'x')])
  list(mirrored, 'x', [service('a', 'x')])
  assert.deepEqual(mirrored.news(), ['set a', 'set a'])
})

test('a list counts the changes that the watch before it should have reported', () => {
  const mirrored = mirror()
  list(mirrored, '', [service('a', 1), service('b', 2)])
  // The watch reached version 7: it missed version 5 of a, but not version 8 of b.
  list(mirrored, '7', [service('a', 5), service('b', 8), service('new', 6)])
  assert.equal(mirrored.objects.missed, 2)
  mirrored.objects.take(service('a', 4))
  assert.equal(mirrored.objects.missed, 2)
})

test('an interrupted list removes nothing', () => {
  const mirrored = mirror()
  list(mirrored, '', [service('a', 1), service('b', 2)])
  mirrored.news()
  mirrored.objects.startList('2')
  mirrored.objects.take(service('a', 1))
  list(mirrored, '2', [service('a', 1), service('b', 2)])
  assert.deepEqual(mirrored.news(), [])
})

test('counts invalid objects as long as they exist, and keeps all others', () => {
  const mirrored = mirror()
  const { objects, news } = mirrored
  const invalid = value('{ metadata: { namespace: shop, name: b, resourceVersion: "2" }, spec: 7 }')
  list(mirrored, '', [service('a', 1), invalid])
  assert.deepEqual(news(), ['set a', 'delete b', 'Service shop/b: spec is 7, expected an object'])
  assert.deepEqual([objects.count, objects.invalid], [1, 1])
  list(mirrored, '2', [service('a', 1)])
  assert.deepEqual([objects.count, objects.invalid, news()], [1, 0, []])
})

test('counts the endpoints of present slices', () => {
  const sink = { set: () => undefined, delete: () => undefined }
  const objects = new MirroredObjects('EndpointSlice', sink, () => undefined)
  const slice = (name: string, version: number, endpoints: string): unknown =>
    value(`
      metadata: { namespace: shop, name: ${name}, resourceVersion: "${version}" }
      addressType: IPv4
      endpoints: [${endpoints}]
    `)
  const one = '{ addresses: [192.0.2.1] }'
  const counts = [slice('a', 1, `${one}, ${one}`), slice('b', 2, one), slice('a', 3, one)].map(
    (item) => {
      objects.take(item)
      return objects.endpoints
    },
  )
  assert.deepEqual(counts, [2, 3, 2])
  objects.drop(slice('b', 4, one))
  assert.equal(objects.endpoints, 1)
  objects.startList('4')
  objects.endList()
  assert.equal(objects.endpoints, 0)
})
