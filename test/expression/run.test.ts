import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { Run } from '../../src/expression/run.ts'

describe('an evaluation', () => {
  test('does only so much work', () => {
    const run = new Run(undefined)
    run.spend(60_000)
    assert.throws(() => run.made(Array(60_000).fill(1n)), /the expression has too much to do/)
  })

  test('makes no long text', () => {
    const run = new Run(undefined)
    assert.equal(run.made('a'), 'a')
    assert.throws(() => run.made('a'.repeat(65_537)), /text is over 65536 characters/)
  })
})
