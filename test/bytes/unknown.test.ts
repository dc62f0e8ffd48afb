import { deepEqual, equal } from 'node:assert/strict'
import { describe, test } from 'vitest'
import { errorText, isRecord, recordOf } from '../../src/bytes/unknown.ts'

describe('a value of unknown form', () => {
  test('is a record if it is an object with fields', () => {
    for (const value of [{}, { a: 1 }, Object.create(null)]) equal(isRecord(value), true)
    for (const value of [undefined, null, 1, 'a', true, [], [{}], () => 1]) {
      equal(isRecord(value), false)
      deepEqual(recordOf(value), {})
    }
  })

  test('keeps its fields', () => {
    const value = { a: 1 }
    equal(recordOf(value), value)
  })

  test('is formatted as its message or text', () => {
    equal(errorText(new RangeError('too far')), 'too far')
    equal(errorText('plain'), 'plain')
    equal(errorText(undefined), 'undefined')
  })
})
