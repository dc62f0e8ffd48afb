import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { random16 } from '../../../src/server/keys/random16.ts'

describe('random16', () => {
  test('returns numbers of the whole range', () => {
    const numbers = Array.from({ length: 5000 }, random16)
    for (const number of numbers) assert.ok(Number.isInteger(number))
    assert.ok(Math.min(...numbers) >= 0 && Math.min(...numbers) < 3277)
    assert.ok(Math.max(...numbers) <= 65_535 && Math.max(...numbers) > 62_258)
    assert.ok(new Set(numbers).size > 4500)
  })
})
