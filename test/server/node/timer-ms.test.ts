import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { timerMs } from '../../../src/server/node/timer-ms.ts'

describe('timerMs', () => {
  const cases: readonly (readonly [delayMs: number, ms: number])[] = [
    [0, 0],
    [0.5, 0.5],
    [2 ** 31 - 1, 2 ** 31 - 1],
    [2 ** 31, 2 ** 31 - 1],
    [3_600_000_000, 2 ** 31 - 1],
  ]
  for (const [delayMs, ms] of cases) {
    test(`makes ${delayMs} ms ${ms} ms`, () => {
      assert.equal(timerMs(delayMs), ms)
    })
  }
})
