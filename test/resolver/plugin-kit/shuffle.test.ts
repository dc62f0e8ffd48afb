import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { permute } from '../../../src/resolver/plugin-kit/shuffle.ts'
import { FakeHost } from '../../fake-host.ts'

describe('permute', () => {
  test('gives every order its turn', () => {
    const { random16 } = new FakeHost()
    const seen = new Map<string, number>()
    for (let i = 0; i < 6000; i++) {
      const order = permute(['a', 'b', 'c'], random16).join('')
      seen.set(order, (seen.get(order) ?? 0) + 1)
    }
    assert.deepEqual([...seen.keys()].toSorted(), ['abc', 'acb', 'bac', 'bca', 'cab', 'cba'])
    for (const count of seen.values()) assert.ok(Math.abs(count - 1000) < 150, String(count))
  })

  test('has nothing to do with less than two', () => {
    assert.deepEqual(
      permute([], () => 1),
      [],
    )
    assert.deepEqual(
      permute(['a'], () => 1),
      ['a'],
    )
  })
})
