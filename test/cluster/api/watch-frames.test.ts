import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { readFrames } from '../../../src/cluster/api/watch-frames.ts'
import { settle } from '../follow/fake-clock.ts'
import { protobufFrame } from '../follow/protobuf.ts'

async function framesOf(chunks: Iterable<Buffer>): Promise<string[]> {
  const frames: string[] = []
  await readFrames(Readable.from(chunks), (frame) => frames.push(frame.toString()))
  return frames
}

describe('readFrames', () => {
  test('reads all frames, wherever the chunks end', async () => {
    const texts = fc.array(fc.string({ maxLength: 20 }), { maxLength: 6 })
    const sizes = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(texts, sizes, async (frames, ends) => {
        const bytes = Buffer.concat(frames.map((text) => protobufFrame(Buffer.from(text))))
        const chunks: Buffer[] = []
        for (let at = 0, i = 0; at < bytes.length; i++) {
          const size = ends[i % ends.length] ?? 1
          chunks.push(bytes.subarray(at, at + size))
          at += size
        }
        assert.deepEqual(await framesOf(chunks), frames)
      }),
    )
  })

  test('refuses a frame that the end cuts off', async () => {
    const cut = protobufFrame(Buffer.from('abc')).subarray(0, -1)
    await assert.rejects(framesOf([cut]), { message: 'the watch ended within a message' })
  })

  test('refuses a frame that is too long', async () => {
    const length = Buffer.from([0x7f, 0xff, 0xff, 0xff])
    await assert.rejects(framesOf([length]), { message: 'a message of the watch is too long' })
  })

  test('fails as its receiver does', async () => {
    const stream = Readable.from([protobufFrame(Buffer.from('a'))])
    const failing = readFrames(stream, () => {
      throw new TypeError('no such kind')
    })
    await assert.rejects(failing, { message: 'no such kind' })
  })

  test('reads no further frame before the promise of one resolves', async () => {
    const frames: string[] = []
    const waiting = Promise.withResolvers<void>()
    const bytes = Buffer.concat(['a', 'b', 'c'].map((text) => protobufFrame(Buffer.from(text))))
    const stream = Readable.from([bytes.subarray(0, 12), bytes.subarray(12)])
    const reading = readFrames(stream, (frame) => {
      frames.push(frame.toString())
      return frames.length === 1 ? waiting.promise : undefined
    })
    await settle()
    assert.deepEqual(frames, ['a'])
    waiting.resolve()
    await reading
    assert.deepEqual(frames, ['a', 'b', 'c'])
  })
})
