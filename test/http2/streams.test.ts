import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { RESET_STREAMS_MAX, RESETS } from '../../src/http2/bounds.ts'
import { ERROR_CODE, FRAME } from '../../src/http2/frame.ts'
import { Sender } from '../../src/http2/sender.ts'
import { Stream } from '../../src/http2/stream.ts'
import { Streams } from '../../src/http2/streams.ts'
import { type Frame, framesOf } from './peer.ts'

function open(): { streams: Streams; take: () => Frame[] } {
  let written: Uint8Array[] = []
  const sink = {
    write: (octets: Uint8Array) => written.push(Uint8Array.from(octets)) > 0,
    end: () => undefined,
  }
  const now = (): number => 0
  const sender = new Sender(sink, { onEnd: () => undefined, onWritable: () => undefined, now })
  const take = (): Frame[] => {
    sender.flush()
    const frames = framesOf(Buffer.concat(written))
    written = []
    return frames
  }
  return { streams: new Streams({ sender, now }), take }
}

function add(streams: Streams, id: number): { stream: Stream; heard: string[] } {
  const stream = new Stream({ id, sendWindow: 100, contentLength: -1, nowMs: 0 })
  const heard: string[] = []
  const [data, end, writable] = [() => undefined, () => undefined, () => undefined]
  stream.receiver = { data, end, writable, reset: () => heard.push('reset') }
  streams.add(stream)
  return { stream, heard }
}

describe('Streams', () => {
  test('knows those that are open', () => {
    const { streams } = open()
    const { stream } = add(streams, 1)
    assert.equal(streams.find(1), stream)
    assert.equal(streams.count, 1)
    streams.close(stream)
    assert.equal(streams.find(1), undefined)
  })

  test('knows several that are open, whichever is closed first', () => {
    for (const [first, second, third] of [
      [1, 3, 5],
      [5, 3, 1],
      [3, 5, 1],
    ] as const) {
      const { streams } = open()
      const all = [1, 3, 5].map((id) => add(streams, id).stream)
      assert.deepEqual(streams.all(), all)
      for (const [i, id] of [first, second, third].entries()) {
        const stream = streams.find(id)
        assert.ok(stream !== undefined)
        streams.close(stream)
        assert.equal(streams.find(id), undefined)
        assert.equal(streams.count, 2 - i)
        assert.equal(streams.all().length, 2 - i)
      }
    }
  })

  test('resets a stream, tells its receiver, and remembers it for a while', () => {
    const { streams, take } = open()
    const { heard } = add(streams, 1)
    streams.abort(1, ERROR_CODE.CANCEL)
    assert.deepEqual(heard, ['reset'])
    assert.deepEqual(
      take().map(({ type, id }) => [type, id]),
      [[FRAME.RST_STREAM, 1]],
    )
    assert.equal(streams.wasReset(1), true)
    for (let i = 0; i < RESET_STREAMS_MAX; i++) streams.abort(3 + 2 * i, ERROR_CODE.CANCEL)
    assert.equal(streams.wasReset(1), false)
  })

  test('wants no more of a request whose response is whole (RFC 9113 §8.1)', () => {
    const { streams, take } = open()
    const { stream } = add(streams, 1)
    streams.finish(stream)
    const [frame] = take()
    assert.deepEqual([frame?.type, frame?.payload], [FRAME.RST_STREAM, new Uint8Array(4)])
    const { stream: whole, heard } = add(streams, 3)
    whole.isRemoteClosed = true
    streams.finish(whole)
    assert.deepEqual([take(), heard], [[], []])
  })

  test('counts streams that clients spoil, until there are too many', () => {
    const { streams } = open()
    const codes = Array.from({ length: RESETS.burst + 1 }, (_, i) => streams.fail(2 * i + 1, 1))
    assert.equal(codes.indexOf(ERROR_CODE.ENHANCE_YOUR_CALM), RESETS.burst)
  })

  test('opens the windows again for what is consumed, also for what nobody will', () => {
    const { streams, take } = open()
    const { stream } = add(streams, 1)
    stream.unread = 65_535
    streams.window.take(65_535)
    streams.consume(stream, 32_768)
    assert.deepEqual(
      take().map(({ type, id }) => [type, id]),
      [
        [FRAME.WINDOW_UPDATE, 0],
        [FRAME.WINDOW_UPDATE, 1],
      ],
    )
    streams.close(stream)
    assert.equal(streams.window.credit(1), 32_768)
  })
})
