import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { Run } from '../../../src/go/expression/run.ts'

describe('an evaluation', () => {
  test('bounds the work', () => {
    const run = new Run(undefined)
    run.spend(60_000)
    assert.throws(
      () => run.made(Array(60_000).fill(1n)),
      /the expression visits more than 100000 elements/,
    )
  })

  test('bounds the length of strings', () => {
    const run = new Run(undefined)
    assert.equal(run.made('a'), 'a')
    assert.throws(() => run.made('a'.repeat(65_537)), /text is over 65536 characters/)
  })
})
