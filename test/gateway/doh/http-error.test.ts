import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { errorResponse, HttpError } from '../../../src/gateway/doh/http-error.ts'
import { SECURITY_HEADERS } from '../../../src/gateway/doh/json-response.ts'
import { anyText } from './replies.ts'

describe('errorResponse', () => {
  test('describes the error as JSON that no cache keeps', async () => {
    const response = errorResponse(new HttpError(400, 'bad_parameter', 'Parameter "a" is missing'))
    assert.equal(response.status, 400)
    assert.equal(response.headers.get('content-type'), 'application/json')
    assert.equal(response.headers.get('cache-control'), 'no-store')
    assert.deepEqual(await response.json(), {
      error: { code: 'bad_parameter', message: 'Parameter "a" is missing' },
    })
  })

  test('has the headers of every response', () => {
    const { headers } = errorResponse(new HttpError(500, 'internal', 'It broke'))
    assert.ok(Object.keys(SECURITY_HEADERS).length > 0)
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) {
      assert.equal(headers.get(name), value)
    }
  })

  test('has the headers of its own, which go before the others', () => {
    const own = { allow: 'GET', 'cache-control': 'max-age=1' }
    const { headers } = errorResponse(new HttpError(405, 'method_not_allowed', 'Use GET', own))
    assert.equal(headers.get('allow'), 'GET')
    assert.equal(headers.get('cache-control'), 'max-age=1')
  })

  test('is JSON whatever the message holds', async () => {
    const property = fc.asyncProperty(anyText(), async (message) => {
      const response = errorResponse(new HttpError(400, 'x', message))
      assert.equal(JSON.parse(await response.text()).error.message, message)
    })
    await fc.assert(property)
  })
})

describe('HttpError', () => {
  test('is an error that names itself', () => {
    const error = new HttpError(413, 'body_too_large', 'The body is over 1 bytes')
    assert.ok(error instanceof Error)
    assert.equal(String(error), 'HttpError: The body is over 1 bytes')
  })
})
