import assert from 'node:assert/strict'
import { test } from 'node:test'
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
