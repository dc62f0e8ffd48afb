import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'vitest'
import { MiniK8sObjects } from '../../../src/cli/export/mini-k8s-objects.ts'
import type { BuiltSnapshot } from '../../../src/cluster/follow/snapshot-builder.ts'
import type { HostObject } from '../../../src/cluster/objects/objects.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'

const PATHS = [{ service: 'service1', port: 8010 }]

function documentOf(name: string): object {
  return { kind: 'DNS', apiVersion: 'v1', name, namespace: 'default', host: 'a.test', paths: PATHS }
}

/** The objects of a file, and the names that they publish. */
function open(t: TestContext, items: readonly object[]) {
  const file = join(
    temporaryFolder(t, { 'mini-k8s.json': JSON.stringify({ items }) }),
    'mini-k8s.json',
  )
  const published = new Map<string, HostObject>()
  let changes = 0
  const objects = new MiniK8sObjects({
    file,
    objects: [],
    source: {
      set: (object) => void published.set(object.name, object as HostObject),
      delete: (_, __, name) => void published.delete(name),
      build: () => {
        const verdicts = [...published.values()].map((object) => ({ object, refusal: undefined }))
        return { verdicts } as unknown as BuiltSnapshot
      },
    },
    onChange: () => void changes++,
  })
  const names = (): string[] => [...published.keys()]
  const kept = (): number => JSON.parse(readFileSync(file, 'utf8')).items.length
  return { objects, file, names, kept, changes: () => changes }
}

test('at most 1,000 DNS objects are kept; one of them can still change', (t) => {
  const all = Array.from({ length: 1000 }, (_, i) => documentOf(`d-${i}`))
  const { objects, names, kept } = open(t, all)
  assert.throws(() => objects.put(documentOf('more')), { status: 409, code: 'too_many' })
  objects.put(documentOf('d-1'))
  assert.deepEqual([kept(), names()], [1000, ['d-1']])
  objects.delete('default/d-7')
  objects.put(documentOf('more'))
  assert.deepEqual([kept(), names()], [1000, ['d-1', 'more']])
})

test('what cannot be written is not published, and not deleted', (t) => {
  const { objects, file, names, kept, changes } = open(t, [])
  objects.put(documentOf('one'))
  mkdirSync(`${file}.new`)
  const failed = { status: 500, code: 'storage_failed', message: `cannot write ${file}: EISDIR` }
  assert.throws(() => objects.put(documentOf('two')), failed)
  assert.throws(() => objects.delete('default/one'), failed)
  assert.deepEqual([names(), kept(), changes()], [['one'], 1, 1])
  assert.throws(() => objects.get('default/two'), { status: 404 })
  rmSync(`${file}.new`, { recursive: true })
  objects.delete('default/one')
  assert.deepEqual([names(), kept(), changes()], [[], 0, 2])
})

test('a file with anything but DNS objects is refused', (t) => {
  const service = { kind: 'Service', metadata: { name: 'a' }, spec: {} }
  assert.throws(() => open(t, [service]), /mini-k8s\.json: It is not a DNS object$/)
  assert.throws(() => open(t, [{ ...documentOf('a/b') }]), /"a\/b" is not a name$/)
})
