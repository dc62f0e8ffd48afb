import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { Settings } from '../../../src/operators/convert/conversion.ts'

describe('Settings', () => {
  test('returns each value once', () => {
    const settings = new Settings(['a=1', 'b=', 'c=x=y'])
    assert.equal(settings.take('a'), '1')
    assert.equal(settings.take('a'), undefined)
    assert.equal(settings.take('b'), '')
    assert.equal(settings.take('c'), 'x=y')
    settings.checkUsed()
  })

  test('rejects an unused value', () => {
    assert.throws(() => new Settings(['a=1']).checkUsed(), {
      name: 'ConversionError',
      message: '--set a: this conversion has no such value',
    })
  })

  for (const setting of ['a', '=1', '']) {
    test(`refuses "${setting}"`, () => {
      assert.throws(() => new Settings([setting]), {
        name: 'ConversionError',
        message: `--set takes NAME=VALUE, got "${setting}"`,
      })
    })
  }
})
