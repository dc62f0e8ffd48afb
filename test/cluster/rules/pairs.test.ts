import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { fitting, PAIRS_MAX } from '../../../src/cluster/rules/pairs.ts'

describe('fitting', () => {
  const items = [1, 2, 3]
  const cases: { name: string; count: number; max?: number; is: number[] }[] = [
    { name: 'all for few others', count: 2, max: 6, is: [1, 2, 3] },
    { name: 'the first ones for more', count: 2, max: 5, is: [1, 2] },
    { name: 'none beside too many', count: 6, max: 5, is: [] },
    { name: 'all beside none', count: 0, is: [1, 2, 3] },
    { name: 'none beside more than the bound', count: PAIRS_MAX + 1, is: [] },
  ]
  for (const { name, count, max, is } of cases) {
    test(`takes ${name}`, () => {
      assert.deepEqual(fitting(items, count, max), is)
    })
  }

  test('returns the same array if all fit', () => {
    assert.equal(fitting(items, 1), items)
  })
})
