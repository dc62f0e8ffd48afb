import assert from 'node:assert/strict'
import { test } from 'vitest'
import { ReadOptions } from '../../../src/operators/convert/read-options.ts'

test('ReadOptions remembers what was read', () => {
  const options = new ReadOptions()
  assert.equal(options.set('a', '1', 'f:1'), undefined)
  assert.equal(options.set('b', '', 'f:2'), undefined)
  assert.equal(options.set('c', '3', 'f:3'), undefined)
  assert.equal(options.set('c', '4', 'f:4'), 'f:3')
  assert.equal(options.get('a'), '1')
  assert.equal(options.has('b'), true)
  assert.equal(options.has('d'), false)
  assert.deepEqual(options.unread(), [{ name: 'c', text: '4', place: 'f:4' }])
  assert.deepEqual([...options.all().keys()], ['a', 'b', 'c'])
})
