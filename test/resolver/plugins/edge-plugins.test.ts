import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { differenceAt } from '../../../src/gateway/config/gateway-plugins.ts'
import { ALL_PLUGINS } from '../../../src/resolver/plugins/all-plugins.ts'
import { ABSENT_AT_EDGE, EDGE_PLUGINS } from '../../../src/resolver/plugins/edge-plugins.ts'

describe('at the edge', () => {
  test('every plugin is known', () => {
    assert.deepEqual([...EDGE_PLUGINS.keys()].sort(), [...ALL_PLUGINS.keys()].sort())
  })

  for (const is of ['ignored', 'refused'] as const) {
    test(`the plugins are ${is} whose entries say so`, () => {
      const named = [...ALL_PLUGINS.values()].filter(
        (one) => differenceAt(one, 'worker')?.is === is,
      )
      assert.deepEqual(
        ABSENT_AT_EDGE[is].split(' '),
        named.map(({ name }) => name),
      )
    })
  }

  test('all others have the same facts and order as everywhere', () => {
    const absent = new Set(Object.values(ABSENT_AT_EDGE).join(' ').split(' '))
    const facts = [ALL_PLUGINS, EDGE_PLUGINS].map((plugins) =>
      [...plugins.values()]
        .filter(({ name }) => !absent.has(name))
        .map(({ setup: _, ...rest }) => rest),
    )
    assert.deepEqual(facts[1], facts[0])
  })
})
