import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { MessageStream } from '../../../src/dns/wire/message-stream.ts'
import { frame } from '../../server/clients.ts'

/** Pushes chunks into a stream of its own. */
function run(chunks: readonly Uint8Array[]): {
  readonly messages: Uint8Array[]
  readonly verdicts: boolean[]
} {
  const messages: Uint8Array[] = []
  const stream = new MessageStream((message) => messages.push(message))
  const verdicts = chunks.map((chunk) => stream.push(chunk))
  return { messages, verdicts }
}

/** Cuts bytes into chunks at these places. */
function cutAt(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const sorted = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length]
  sorted.sort((a, b) => a - b)
  return sorted.slice(1).map((end, i) => bytes.subarray(sorted[i], end))
}

const hex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'))

describe('MessageStream', () => {
  const cases: {
    name: string
    chunks: readonly string[]
    messages: readonly string[]
  }[] = [
    { name: 'takes one message', chunks: ['0003010203'], messages: ['010203'] },
    {
      name: 'takes two in one chunk',
      chunks: ['00010100020203'],
      messages: ['01', '0203'],
    },
    {
      name: 'takes one cut within its length',
      chunks: ['00', '03010203'],
      messages: ['010203'],
    },
    {
      name: 'takes one cut after its length',
      chunks: ['0003', '010203'],
      messages: ['010203'],
    },
    { name: 'waits for the rest', chunks: ['00030102'], messages: [] },
    { name: 'waits within a length', chunks: ['00'], messages: [] },
    { name: 'waits for what a length says', chunks: ['0100'], messages: [] },
    { name: 'begins again', chunks: ['00010100'], messages: ['01'] },
    { name: 'returns nothing for empty input', chunks: ['', ''], messages: [] },
  ]
  for (const { name, chunks, messages } of cases) {
    test(name, () => {
      const got = run(chunks.map(hex))
      assert.deepEqual(got.messages, messages.map(hex))
      assert.deepEqual(
        got.verdicts,
        chunks.map(() => true),
      )
    })
  }

  const empty: { name: string; chunks: readonly string[]; verdicts: readonly boolean[] }[] = [
    { name: 'at once', chunks: ['0000'], verdicts: [false] },
    { name: 'in two chunks', chunks: ['00', '00'], verdicts: [true, false] },
    { name: 'after another', chunks: ['000101', '0000'], verdicts: [true, false] },
  ]
  for (const { name, chunks, verdicts } of empty) {
    test(`reports an empty message ${name}`, () => {
      assert.deepEqual(run(chunks.map(hex)).verdicts, verdicts)
    })
  }

  test('returns the messages before an empty one', () => {
    assert.deepEqual(run([hex('0001010000')]).messages, [hex('01')])
  })

  test('takes a message of 65,535 bytes', () => {
    const message = new Uint8Array(65_535).fill(7)
    assert.deepEqual(run([frame(message)]).messages, [message])
  })

  test('returns messages that are independent of the chunk', () => {
    const chunk = hex('0003010203')
    const { messages } = run([chunk])
    chunk.fill(0)
    assert.deepEqual(messages, [hex('010203')])
  })

  test('returns the same messages for any split of the stream', () => {
    const message = fc.uint8Array({ minLength: 1, maxLength: 300 })
    fc.assert(
      fc.property(fc.array(message), fc.array(fc.nat()), (all, places) => {
        const whole = new Uint8Array(Buffer.concat(all.map(frame)))
        const { messages } = run(cutAt(whole, places))
        assert.deepEqual(messages, all)
      }),
    )
  })

  test('pauses after a message, and resumes there', () => {
    const messages: Uint8Array[] = []
    const stream = new MessageStream((message) => {
      messages.push(message)
      stream.pause()
    })
    const chunk = hex('000101000202030002')
    assert.deepEqual([stream.push(chunk), stream.hasUnread, messages], [true, true, [hex('01')]])
    assert.deepEqual([stream.resume(), stream.hasUnread], [true, true])
    assert.deepEqual([stream.isWithinMessage, messages], [false, [hex('01'), hex('0203')]])
    assert.deepEqual(
      [stream.resume(), stream.hasUnread, stream.isWithinMessage],
      [true, false, true],
    )
  })

  test('accepts any bytes, and returns at most as many', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 50 })), (chunks) => {
        const total = chunks.reduce((sum, { length }) => sum + length, 0)
        const { messages } = run(chunks)
        const given = messages.reduce((sum, { length }) => sum + 2 + length, 0)
        assert.ok(given <= total)
        for (const { length } of messages) assert.ok(length > 0)
      }),
    )
  })
})
