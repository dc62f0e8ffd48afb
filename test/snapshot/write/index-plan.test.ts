import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { placeNames, planIndex, planNoIndex } from '../../../src/snapshot/write/index-plan.ts'

describe('planIndex', () => {
  test('has two slots for nothing', () => {
    assert.deepEqual(
      planIndex(0, () => new Int32Array(0)),
      {
        seed: 0,
        slotCount: 2,
        hashes: new Int32Array(0),
      },
    )
  })

  test('takes the first seed by which no search is long', () => {
    const spread = (seed: number): Int32Array =>
      Int32Array.from({ length: 40 }, (_, i) => (seed < 3 ? 7 : i))
    assert.equal(planIndex(40, spread).seed, 3)
  })

  test('takes seed 0 when names collide by all', () => {
    assert.equal(planIndex(40, () => new Int32Array(40)).seed, 0)
  })
})

test('placeNames gives who collides the next free slot, and comes round', () => {
  const hashes = Int32Array.of(3, 7, 3)
  assert.deepEqual([...placeNames({ seed: 0, slotCount: 4, hashes })], [2, 3, 0, 1])
})

test('planNoIndex has no slots', () => {
  assert.deepEqual(placeNames({ ...planNoIndex(3), hashes: new Int32Array(0) }), new Int32Array(0))
  assert.equal(planNoIndex(3).hashes.length, 3)
})
