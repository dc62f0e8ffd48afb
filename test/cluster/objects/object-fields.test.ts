import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { FieldError, Fields } from '../../../src/cluster/objects/object-fields.ts'

const SPEC = {
  text: 'a',
  flag: false,
  port: 80,
  list: ['a'],
  inner: { at: '2026-01-01T00:00:01Z' },
}
const FIELDS = new Fields({ spec: SPEC }).child('spec')

describe('Fields', () => {
  test('reads present fields', () => {
    assert.equal(FIELDS.text('text'), 'a')
    assert.equal(FIELDS.flag('flag'), false)
    assert.equal(FIELDS.port('port'), 80)
    assert.deepEqual(FIELDS.texts('list'), ['a'])
    assert.equal(FIELDS.child('inner').time('at'), Date.UTC(2026, 0, 1, 0, 0, 1))
    assert.equal(FIELDS.has('flag'), true)
  })

  test('returns defaults for missing fields', () => {
    assert.equal(FIELDS.text('none'), '')
    assert.equal(FIELDS.flag('none'), undefined)
    assert.equal(FIELDS.port('none'), undefined)
    assert.deepEqual(FIELDS.texts('none'), [])
    assert.deepEqual(FIELDS.children('none'), [])
    assert.equal(FIELDS.child('none').time('at'), 0)
    assert.equal(FIELDS.has('none'), false)
  })

  test('takes no text for a moment that is none', () => {
    assert.equal(FIELDS.time('text'), 0)
  })

  test('names the path of a field of another type', () => {
    assert.throws(() => FIELDS.child('inner').flag('at'), {
      name: 'FieldError',
      message: 'spec.inner.at is "2026-01-01T00:00:01Z", expected true or false',
    })
    assert.throws(() => FIELDS.meta(), FieldError)
  })
})
