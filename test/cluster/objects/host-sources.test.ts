import assert from 'node:assert/strict'
import { test } from 'vitest'
import { HOST_SOURCES } from '../../../src/cluster/objects/host-sources.ts'
import { HOST_RESOURCES } from '../../../src/corefile/cluster-tree.ts'

test('every kind that k8s_gateway may name has a source, but for Services', () => {
  assert.deepEqual(
    Object.keys(HOST_SOURCES).sort(),
    HOST_RESOURCES.filter((kind) => kind !== 'Service').sort(),
  )
})
