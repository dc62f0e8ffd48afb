import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { ResponseFields } from '../../../src/server/http/response-fields.ts'

describe('ResponseFields', () => {
  test('lists the status, the date and all headers', () => {
    let nowMs = Date.UTC(2026, 0, 1)
    const fields = new ResponseFields(() => nowMs)
    const headers = { vary: 'Accept', 'content-length': '5' }
    const rest = ['vary', 'Accept', 'content-length', '5']
    const date = 'Thu, 01 Jan 2026 00:00:0'
    assert.deepEqual(fields.of(200, headers), [':status', '200', 'date', `${date}0 GMT`, ...rest])
    nowMs += 1999
    assert.deepEqual(fields.of(404, headers), [':status', '404', 'date', `${date}1 GMT`, ...rest])
  })
})
