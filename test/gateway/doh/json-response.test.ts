import assert from 'node:assert/strict'
import { test } from 'vitest'
import { jsonResponse, streamOf, uncached } from '../../../src/gateway/doh/json-response.ts'

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

test('streamOf sends texts as they are made, and pauses before each', async () => {
  let pauses = 0
  const pause = async (): Promise<void> => void pauses++
  const texts = (function* () {
    yield 'a\n'
    yield 'ü\n'
  })()
  assert.equal(await uncached(200, streamOf(texts, pause)).text(), 'a\nü\n')
  assert.equal(pauses, 3)
})

test('streamOf ends with the client', async () => {
  let isEnded = false
  const texts = (function* () {
    try {
      for (;;) yield 'more'
    } finally {
      isEnded = true
    }
  })()
  const reader = streamOf(texts, () => undefined).getReader()
  await reader.read()
  await reader.cancel()
  assert.equal(isEnded, true)
})
