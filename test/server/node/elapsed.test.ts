import assert from 'node:assert/strict'
import { test } from 'vitest'
import { elapsed } from '../../../src/server/node/elapsed.ts'

test('elapsed time has fractions of a millisecond and never goes back', () => {
  const times = Array.from({ length: 1000 }, () => elapsed())
  assert.deepEqual(
    times.toSorted((a, b) => a - b),
    times,
  )
  assert.ok(times.some((ms) => !Number.isInteger(ms)))
})
