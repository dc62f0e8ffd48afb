import assert from 'node:assert/strict'
import { test } from 'vitest'
import { CLUSTER_TREE } from '../../../src/corefile/cluster-tree.ts'
import { parseKubernetes } from '../../../src/corefile/kubernetes-options.ts'
import { keyOf } from '../../../src/server/serve/cluster-wanted.ts'
import { directiveOf } from '../../corefile/source.ts'

const key = (text: string): string =>
  keyOf({ directive: parseKubernetes(directiveOf(text), []), tree: CLUSTER_TREE })

test('directives that differ only in their place share a cluster', () => {
  assert.equal(key('kubernetes cluster.local'), key('\n\n  kubernetes   cluster.local'))
})

test('directives with other options have clusters of their own', () => {
  const keys = [
    'kubernetes cluster.local',
    'kubernetes k8s.test',
    'kubernetes cluster.local {\n pods verified\n}',
  ].map(key)
  assert.equal(new Set(keys).size, 3)
})
