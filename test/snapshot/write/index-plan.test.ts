import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { NO_INDEX, placeNames, planIndex } from '../../../src/snapshot/write/index-plan.ts'

describe('planIndex', () => {
  test('has two slots for no names', () => {
    assert.deepEqual(
      planIndex(0, () => new Int32Array(0)),
      {
        seed: 0,
        slotCount: 2,
        hashes: new Int32Array(0),
      },
    )
  })

  test('takes the first seed without a long search', () => {
    const spread = (seed: number): Int32Array =>
      Int32Array.from({ length: 40 }, (_, i) => (seed < 3 ? 7 : i))
    assert.equal(planIndex(40, spread).seed, 3)
  })

  test('takes seed 0 when names collide by every seed', () => {
    assert.equal(planIndex(40, () => new Int32Array(40)).seed, 0)
  })
})

test('placeNames gives a colliding name the next free slot, and wraps around', () => {
  const hashes = Int32Array.of(3, 7, 3)
  assert.deepEqual([...placeNames({ seed: 0, slotCount: 4, hashes })], [2, 3, 0, 1])
})

test('NO_INDEX has no slots', () => {
  assert.deepEqual(placeNames(NO_INDEX), new Int32Array(0))
})
