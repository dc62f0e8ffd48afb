import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, test } from 'vitest'
import { readResponse } from '../../../src/server/upstream/http-response.ts'

const TYPE = 'application/dns-message'

function body(...sizes: readonly number[]): Readable {
  return Readable.from(sizes.map((size) => Buffer.alloc(size, 1)))
}

describe('readResponse', () => {
  const heads = [
    { status: 200, type: TYPE, age: '7', headers: { age: '7', 'content-type': TYPE }, bytes: 6 },
    { status: 200, type: undefined, age: undefined, headers: {}, bytes: 6 },
    { status: 404, type: TYPE, age: undefined, headers: { 'content-type': TYPE }, bytes: 0 },
    { status: 0, type: undefined, age: ['7'], headers: {}, becomes: 502, bytes: 0 },
    { status: 999, type: undefined, age: undefined, headers: {}, becomes: 502, bytes: 0 },
  ]
  for (const { headers, becomes, bytes, ...head } of heads) {
    test(`returns status ${head.status} with ${JSON.stringify(headers)}`, async () => {
      const response = await readResponse(head, body(1, 2, 3))
      assert.equal(response.status, becomes ?? head.status)
      assert.deepEqual(Object.fromEntries(response.headers), headers)
      assert.equal((await response.bytes()).length, bytes)
    })
  }

  const head = { status: 200, type: TYPE, age: undefined }

  test('reads 65535 bytes at most', async () => {
    const response = await readResponse(head, body(65_000, 535))
    assert.equal((await response.bytes()).length, 65_535)
    await assert.rejects(readResponse(head, body(65_000, 536)), {
      message: 'the response exceeds 65535 bytes',
    })
  })

  test('reports a body that breaks off', async () => {
    const broken = new Readable({ read: () => undefined })
    const response = readResponse(head, broken)
    broken.push('half')
    broken.destroy()
    await assert.rejects(response, { message: 'the response broke off' })
  })
})
