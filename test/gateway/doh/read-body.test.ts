import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { HttpError } from '../../../src/gateway/doh/http-error.ts'
import { readBody } from '../../../src/gateway/doh/read-body.ts'

/** A request whose body comes in these chunks. */
function requestOf(
  chunks: readonly Uint8Array[],
  headers: Readonly<Record<string, string>> = {},
): Request {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk)
      controller.close()
    },
  })
  const init = { method: 'POST', headers: { ...headers }, body, duplex: 'half' } as const
  return new Request('http://gateway.example.org/', init)
}

function isHttpError(status: number): (error: unknown) => boolean {
  return (error) => error instanceof HttpError && error.status === status
}

describe('readBody', () => {
  const size = (length: number): Readonly<Record<string, string>> => ({
    'content-length': String(length),
  })
  const cases: {
    name: string
    chunks: readonly number[]
    headers?: Readonly<Record<string, string>>
    status?: number
  }[] = [
    { name: 'reads what comes in chunks', chunks: [3, 1, 4] },
    { name: 'reads as much as the limit', chunks: [8] },
    { name: 'reads an empty body', chunks: [] },
    { name: 'reads empty chunks', chunks: [0, 3, 0] },
    { name: 'refuses one byte more in one chunk', chunks: [9], status: 413 },
    { name: 'refuses one byte more in chunks', chunks: [4, 4, 1], status: 413 },
    { name: 'refuses by the length alone', chunks: [1], headers: size(9), status: 413 },
    { name: 'believes no length that is too small', chunks: [9], headers: size(2), status: 413 },
    { name: 'needs no length', chunks: [5] },
    {
      name: 'passes over a length that is not a number',
      chunks: [5],
      headers: { 'content-length': 'x' },
    },
  ]
  for (const { name, chunks, headers, status } of cases) {
    test(name, async () => {
      const parts = chunks.map((length, i) => new Uint8Array(length).fill(i + 1))
      const read = readBody(requestOf(parts, headers), 8)
      if (status !== undefined) await assert.rejects(read, isHttpError(status))
      else assert.deepEqual(await read, new Uint8Array(Buffer.concat(parts)))
    })
  }

  for (const [name, headers] of [
    ['as long as it says', size(180 * 1024)],
    ['without a length', {}],
    ['longer than it says', size(70 * 1024)],
  ] as const) {
    test(`copies a large body as it comes: one ${name}`, async () => {
      const parts = [40, 40, 99, 1].map((kib, i) => new Uint8Array(kib * 1024).fill(i + 1))
      const read = await readBody(requestOf(parts, headers), 180 * 1024)
      assert.deepEqual(read, new Uint8Array(Buffer.concat(parts)))
      if (name === 'as long as it says') assert.equal(read.buffer.byteLength, 180 * 1024)
    })
  }

  test('takes no memory for what a small body has not sent', async () => {
    const parts = [3, 1, 4].map((length) => new Uint8Array(length).fill(length))
    const read = await readBody(requestOf(parts, size(64 * 1024)), 64 * 1024)
    assert.deepEqual(read, new Uint8Array(Buffer.concat(parts)))
    assert.equal(read.buffer.byteLength, 8)
  })

  test('reads a request without a body as no bytes', async () => {
    const read = await readBody(new Request('http://gateway.example.org/'), 8)
    assert.deepEqual(read, new Uint8Array(0))
  })

  test('stops an endless body at the limit', async () => {
    const cancelled = Promise.withResolvers<void>()
    let pulls = 0
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulls++
        controller.enqueue(new Uint8Array(4))
      },
      cancel() {
        cancelled.resolve()
      },
    })
    const init = { method: 'POST', body, duplex: 'half' } as const
    const request = new Request('http://gateway.example.org/', init)
    await assert.rejects(readBody(request, 8), isHttpError(413))
    await cancelled.promise
    assert.ok(pulls < 8, `${pulls} chunks were read`)
  })

  test('reports a body that breaks off', async () => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new Uint8Array(2))
      },
      pull(controller) {
        controller.error(new Error('gone'))
      },
    })
    const init = { method: 'POST', body, duplex: 'half' } as const
    const request = new Request('http://gateway.example.org/', init)
    await assert.rejects(readBody(request, 8), isHttpError(400))
  })

  test('joins any chunks up to the limit, and refuses the rest', async () => {
    const chunks = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 10 })
    const property = fc.asyncProperty(chunks, async (parts) => {
      const whole = new Uint8Array(Buffer.concat(parts))
      const read = readBody(requestOf(parts), 100)
      if (whole.length > 100) await assert.rejects(read, isHttpError(413))
      else assert.deepEqual(await read, whole)
    })
    await fc.assert(property)
  })
})
