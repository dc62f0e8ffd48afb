import assert from 'node:assert/strict'
import { test } from 'vitest'
import { isEmpty, joinTargets } from '../../../src/kubernetes/trees/claims.ts'

test('targets are joined, with the lowest TTL', () => {
  const none = { hosts: [], texts: [], records: [], bindings: [], ttlSeconds: undefined }
  const joined = joinTargets([
    { ...none, hosts: ['192.0.2.1'], ttlSeconds: 9 },
    { ...none, texts: ['a'], ttlSeconds: 5 },
    none,
  ])
  assert.deepEqual(joined, { ...none, hosts: ['192.0.2.1'], texts: ['a'], ttlSeconds: 5 })
  assert.deepEqual([isEmpty(joined), isEmpty(none)], [false, true])
})
