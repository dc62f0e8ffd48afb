import assert from 'node:assert/strict'
import { test } from 'vitest'
import { answerHeaders, cacheControl } from '../../src/doh/answer-headers.ts'
import { parseQuestion, writeReplyText } from '../message-text.ts'

test('an answer is kept as long as it holds, by whom it is for, and a POST by nobody', () => {
  const reply = writeReplyText(
    ['NOERROR', 'a.test. 30 IN A 192.0.2.1'],
    parseQuestion('a.test A').message,
  )
  assert.equal(cacheControl(reply, { isPrivate: false, isPost: false }), 'max-age=30, no-transform')
  assert.equal(
    cacheControl(reply, { isPrivate: true, isPost: false }),
    'private, max-age=30, no-transform',
  )
  assert.equal(cacheControl(reply, { isPrivate: true, isPost: true }), 'no-store, no-transform')
  const failure = writeReplyText(['SERVFAIL'], parseQuestion('a.test A').message)
  assert.equal(cacheControl(failure, { isPrivate: false, isPost: false }), 'no-store, no-transform')
})

test('an answer says what it is and how long', () => {
  const headers = answerHeaders('application/dns-message', 12, 'no-store')
  assert.equal(headers['content-length'], '12')
  assert.equal(headers['content-type'], 'application/dns-message')
  assert.equal(headers.vary, 'Accept')
  assert.equal(headers['x-content-type-options'], 'nosniff')
})

test('the same headers are one object, and others are not', () => {
  const more = { age: '1' }
  const first = answerHeaders('a/b', 12, 'no-store', more)
  assert.equal(answerHeaders('a/b', 12, 'no-store', more), first)
  for (const [type, size, control, on] of [
    ['a/c', 12, 'no-store', more],
    ['a/b', 13, 'no-store', more],
    ['a/b', 12, 'max-age=1', more],
    ['a/b', 12, 'no-store', { age: '2' }],
  ] as const) {
    const { age, ...headers } = answerHeaders(type, size, control, on)
    assert.deepEqual(
      [headers['content-type'], headers['content-length'], headers['cache-control'], age],
      [type, String(size), control, on.age],
    )
  }
})

test('of many headers, the last are there to be had again', () => {
  const more = {}
  const sizes = Array.from({ length: 2500 }, (_, i) => i)
  for (const size of sizes) answerHeaders('a/b', size, 'no-store', more)
  const last = answerHeaders('a/b', 2499, 'no-store', more)
  assert.equal(answerHeaders('a/b', 2499, 'no-store', more), last)
  assert.equal(answerHeaders('a/b', 0, 'no-store', more)['content-length'], '0')
})
