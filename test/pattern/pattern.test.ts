import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { compilePattern } from '../../src/pattern/pattern.ts'

describe('compilePattern', () => {
  test('finds groups by number and by name', () => {
    const pattern = compilePattern('^(?P<a>[0-9]+)[.](b)?')
    assert.deepEqual(pattern.groupNames, ['', 'a', ''])
    assert.deepEqual(pattern.exec('12.x'), { index: 0, groups: ['12.', '12', undefined] })
    assert.equal(pattern.exec('x'), undefined)
  })
})
