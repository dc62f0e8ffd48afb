import assert from 'node:assert/strict'
import { test } from 'vitest'
import { ALL_PLUGINS } from '../../src/plugins/all-plugins.ts'
import { EDGE_PLUGINS } from '../../src/plugins/edge-plugins.ts'

test('all plugins are those of the edge, and those that need files or sockets', () => {
  const only = [...ALL_PLUGINS.keys()].filter((name) => !EDGE_PLUGINS.has(name))
  assert.ok([...EDGE_PLUGINS.keys()].every((name) => ALL_PLUGINS.has(name)))
  assert.ok(only.includes('file') && only.includes('bind'))
})
