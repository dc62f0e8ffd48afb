import assert from 'node:assert/strict'
import { test, vi } from 'vitest'
import { awake, elapsed } from '../../../src/server/node/elapsed.ts'

test('elapsed time has fractions of a millisecond and never goes back', () => {
  const times = Array.from({ length: 1000 }, () => elapsed())
  assert.deepEqual(
    times.toSorted((a, b) => a - b),
    times,
  )
  assert.ok(times.some((ms) => !Number.isInteger(ms)))
})

test('the time awake goes on whatever the wall clock does', async (t) => {
  const before = awake()
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 })
  t.onTestFinished(() => void vi.useRealTimers())
  await new Promise((resolve) => setTimeout(resolve, 2))
  const passedMs = awake() - before
  assert.ok(passedMs >= 1 && passedMs < 3_600_000, `${passedMs}`)
})
