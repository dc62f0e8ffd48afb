import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { andThen } from '../../../src/resolver/contract/maybe-promise.ts'

describe('andThen', () => {
  test('continues at once with a value that is available', () => {
    assert.equal(
      andThen(1, (value) => value + 1),
      2,
    )
  })

  test('continues later with a value that comes later', async () => {
    const later = andThen(Promise.resolve(1), (value) => value + 1)
    assert.ok(later instanceof Promise)
    assert.equal(await later, 2)
  })

  test('waits for a step that takes time', async () => {
    assert.equal(await andThen(1, (value) => Promise.resolve(value + 1)), 2)
  })

  test('passes a rejection on', async () => {
    const failed: Promise<number> = Promise.reject(new RangeError('no'))
    await assert.rejects(async () => andThen(failed, () => 1), RangeError)
  })
})
