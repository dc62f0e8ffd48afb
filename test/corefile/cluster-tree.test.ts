import assert from 'node:assert/strict'
import { test } from 'vitest'
import { CLUSTER_TREE } from '../../src/corefile/cluster-tree.ts'

test('CLUSTER_TREE is the tree of kind cluster', () => {
  assert.deepEqual(CLUSTER_TREE, { kind: 'cluster' })
})
