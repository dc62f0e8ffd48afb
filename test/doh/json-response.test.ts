import assert from 'node:assert/strict'
import { test } from 'vitest'
import { jsonResponse } from '../../src/doh/json-response.ts'

test('a response in JSON is kept by nobody and guessed at by nobody', async () => {
  const response = jsonResponse(201, { a: [1] }, { etag: '"x"' })
  assert.equal(response.status, 201)
  assert.equal(await response.text(), '{"a":[1]}\n')
  const names = ['content-type', 'cache-control', 'x-content-type-options', 'etag']
  assert.deepEqual(
    names.map((name) => response.headers.get(name)),
    ['application/json', 'no-store', 'nosniff', '"x"'],
  )
})
