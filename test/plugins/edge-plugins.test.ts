import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { ALL_PLUGINS } from '../../src/plugins/all-plugins.ts'
import { EDGE_PLUGINS } from '../../src/plugins/edge-plugins.ts'
import { block, problemsOf } from '../ask.ts'

describe('at the edge', () => {
  test('are the plugins whose entries say so, in the same order', () => {
    const named = [...ALL_PLUGINS.values()].filter(({ isAtEdge }) => isAtEdge)
    assert.deepEqual(
      [...EDGE_PLUGINS.keys()],
      named.map(({ name }) => name),
    )
  })

  test('plugins without files and sockets are included', () => {
    const directives = ['acl', 'rewrite name a.test b.test', 'any', 'view a {\nexpr true\n}']
    assert.deepEqual(problemsOf(block(...directives), { plugins: EDGE_PLUGINS }), [])
  })

  for (const name of [...ALL_PLUGINS.keys()].filter((one) => !EDGE_PLUGINS.has(one))) {
    test(`${name} is refused, with a word on where it works`, () => {
      const where =
        name.startsWith('k8s_') || name === 'etcd'
          ? 'is at no gateway, as its names are not published; "kubedoh serve" has it'
          : 'is not in the Worker; "kubedoh serve" and "kubedoh gateway" have it'
      assert.deepEqual(problemsOf(block(name), { plugins: EDGE_PLUGINS }), [
        `Corefile:2:3: plugin "${name}" ${where}`,
      ])
    })
  }
})
