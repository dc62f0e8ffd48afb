import assert from 'node:assert/strict'
import { test } from 'vitest'
import { KeyIndex } from '../../../src/cluster/trees/key-index.ts'

test('an index lists the identifiers of a key sorted, and forgets keys without any', () => {
  const index = new KeyIndex()
  for (const id of ['b', 'a', 'a']) index.add('x', id)
  index.add('y', 'c')
  assert.deepEqual([index.of('x'), index.of('none')], [['a', 'b'], []])
  assert.deepEqual(
    ['x', 'y', 'none'].map((key) => index.count(key)),
    [2, 1, 0],
  )
  assert.deepEqual(
    ['x', 'y', 'none'].map((key) => index.only(key)),
    ['', 'c', ''],
  )
  index.delete('x', 'a')
  index.delete('x', 'none')
  assert.deepEqual([index.of('x'), index.has('x')], [['b'], true])
  index.delete('x', 'b')
  index.delete('none', 'b')
  assert.deepEqual([[...index.keys()], index.has('x')], [['y'], false])
})
