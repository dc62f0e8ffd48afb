import assert from 'node:assert/strict'
import { test } from 'vitest'
import { CLUSTER_TREE } from '../../src/corefile/cluster-tree.ts'

test('the main tree is that of the cluster itself', () => {
  assert.deepEqual(CLUSTER_TREE, { kind: 'cluster' })
})
