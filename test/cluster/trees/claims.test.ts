import assert from 'node:assert/strict'
import { test } from 'vitest'
import { isEmpty, joinTargets } from '../../../src/cluster/trees/claims.ts'

test('targets are joined, with the lowest TTL and the widest coverage', () => {
  const marks = { isAlias: false, coverage: 'label' } as const
  const none = { hosts: [], texts: [], records: [], bindings: [], ttlSeconds: undefined, ...marks }
  const joined = joinTargets([
    { ...none, hosts: ['192.0.2.1'], ttlSeconds: 9 },
    { ...none, texts: ['a'], ttlSeconds: 5, coverage: 'suffix', isAlias: true },
    { ...none, coverage: 'zone' },
  ])
  assert.deepEqual(joined, {
    ...none,
    ...{ hosts: ['192.0.2.1'], texts: ['a'], ttlSeconds: 5 },
    ...{ coverage: 'suffix', isAlias: true },
  })
  assert.deepEqual([isEmpty(joined), isEmpty(none)], [false, true])
})
