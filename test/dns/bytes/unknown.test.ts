import { deepEqual, equal } from 'node:assert/strict'
import { describe, test } from 'vitest'
import { causeText, errorText, isRecord, recordOf } from '../../../src/dns/bytes/unknown.ts'

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

  const causes: readonly [message: string, text: string][] = [
    ['the request timed out', 'the request timed out'],
    ["ENOENT: no such file or directory, open '/nope'", 'no such file or directory'],
    [
      '40C3:error:0A00010B:SSL routines:tls_validate_record_header:wrong version number:a.c:78:\n',
      'no TLS is spoken there',
    ],
  ]
  for (const [message, text] of causes) {
    test(`has its cause in words: ${message.trim()}`, () => {
      equal(causeText(new TypeError('fetch failed', { cause: new Error(message) })), text)
    })
  }
})
