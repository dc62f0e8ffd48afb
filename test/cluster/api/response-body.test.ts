import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, test } from 'vitest'
import { BodyTooLargeError, readResponseBody } from '../../../src/cluster/api/response-body.ts'

const MIB = 1024 * 1024

describe('readBody', () => {
  test('reads a body up to its bound', async () => {
    const chunks = ['ab', '', 'c'].map((text) => Buffer.from(text))
    assert.equal((await readResponseBody(Readable.from(chunks), 3)).toString(), 'abc')
    assert.equal((await readResponseBody(Readable.from([]), 0)).length, 0)
  })

  test('reads no further beyond its bound', async () => {
    let sent = 0
    const endless = new Readable({
      highWaterMark: 1,
      read() {
        sent++
        this.push(Buffer.alloc(MIB))
      },
    })
    await assert.rejects(readResponseBody(endless, 4 * MIB), new BodyTooLargeError(4 * MIB))
    assert.equal(new BodyTooLargeError(4 * MIB).message, 'a response of more than 4 MiB')
    assert.ok(sent < 10, `${sent} MiB were read`)
    assert.ok(endless.destroyed)
  })
})
