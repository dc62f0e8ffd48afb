import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { GroupNumbers } from '../../../src/snapshot/write/group-numbers.ts'

describe('GroupNumbers', () => {
  test('gives a group the same number as long as it is in use', () => {
    const numbers = new GroupNumbers()
    const [a, b] = [numbers.take('a'), numbers.take('b')]
    assert.deepEqual([numbers.take('a'), numbers.name(a), numbers.name(b)], [a, 'a', 'b'])
    numbers.release(a)
    assert.equal(numbers.take('a'), a)
  })

  test('gives the numbers of groups that are gone to others', () => {
    const numbers = new GroupNumbers()
    const [a, b] = [numbers.take('a'), numbers.take('b')]
    numbers.release(a)
    const c = numbers.take('c')
    assert.equal(c, a)
    assert.equal(numbers.name(c), 'c')
    assert.ok(numbers.take('a') > b)
  })

  test('begins anew', () => {
    const numbers = new GroupNumbers()
    numbers.take('a')
    numbers.clear()
    assert.equal(numbers.take('b'), 1)
    assert.equal(numbers.name(1), 'b')
  })
})
