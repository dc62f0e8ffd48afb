import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Stream } from '../../src/http2/stream.ts'

describe('Stream', () => {
  test('is sending as long as bytes are left, or its end', () => {
    const stream = new Stream({ id: 1, sendWindow: 10, contentLength: -1, nowMs: 0 })
    assert.equal(stream.isSending, false)
    stream.body = new Uint8Array(2)
    assert.equal(stream.isSending, true)
    stream.bodyAt = 2
    assert.equal(stream.isSending, false)
    stream.isLastPart = true
    assert.equal(stream.isSending, true)
  })
})
