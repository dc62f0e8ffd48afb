import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { RESETS, STREAMS_MAX } from '../../src/http2/bounds.ts'
import { ERROR_CODE, FLAG, FRAME } from '../../src/http2/frame.ts'
import { type Field, literals } from './hpack-encoder.ts'
import { answering, data, frame, GET, headers, Peer, POST } from './peer.ts'

const { PROTOCOL_ERROR, STREAM_CLOSED, FLOW_CONTROL_ERROR, COMPRESSION_ERROR } = ERROR_CODE
const BLOCK = literals(GET)
const withLength = (size: number): Field[] => [...POST, ['content-length', String(size)]]

describe('requests', () => {
  test('come by their head', () => {
    const peer = new Peer()
    peer.send(headers(1), headers(5, [...GET, ['accept', '*/*']]))
    assert.deepEqual(
      peer.requests.map(({ id, isWhole, head }) => [id, isWhole, head.fields.length]),
      [
        [1, true, 4],
        [5, true, 5],
      ],
    )
  })

  test('come with padding and a priority', () => {
    const peer = new Peer()
    const flags = FLAG.END_HEADERS | FLAG.END_STREAM | FLAG.PADDED | FLAG.PRIORITY
    peer.send(frame(FRAME.HEADERS, flags, 1, [2, 0, 0, 0, 3, 9, ...BLOCK, 0, 0]))
    assert.equal(peer.requests[0]?.head.path, '/')
  })

  test('come in pieces', () => {
    const peer = new Peer()
    peer.send(
      frame(FRAME.HEADERS, FLAG.END_STREAM, 1, BLOCK.subarray(0, 7)),
      frame(FRAME.CONTINUATION, 0, 1, BLOCK.subarray(7, 9)),
      frame(FRAME.CONTINUATION, FLAG.END_HEADERS, 1, BLOCK.subarray(9)),
    )
    assert.equal(peer.requests[0]?.isWhole, true)
  })

  test('have bodies, with padding that does not count, and trailers', () => {
    const peer = new Peer()
    peer.send(headers(1, withLength(5), false), data(1, [1, 2]))
    peer.send(frame(FRAME.DATA, FLAG.PADDED, 1, [3, 3, 4, 5, 0, 0, 0]))
    peer.send(headers(1, [['x-sum', 'a']]))
    const [seen] = peer.requests
    assert.deepEqual(Buffer.concat(seen?.chunks ?? []), Buffer.of(1, 2, 3, 4, 5))
    assert.deepEqual(seen?.heard, ['end'])
  })

  const wrong: readonly (readonly [string, readonly Uint8Array[], number])[] = [
    ['a stream without a number', [headers(0)], PROTOCOL_ERROR],
    ['a stream of ours', [headers(2)], PROTOCOL_ERROR],
    ['a stream that was skipped', [headers(5), headers(3)], PROTOCOL_ERROR],
    ['a stream that is below itself', [frame(1, 0x25, 1, [0, 0, 0, 1, 9])], PROTOCOL_ERROR],
    ['a priority that breaks off', [frame(1, 0x25, 1, [0, 0])], ERROR_CODE.FRAME_SIZE_ERROR],
    ['padding over all', [frame(1, 0x0d, 1, [9, 0, 0])], PROTOCOL_ERROR],
    ['padding without its length', [frame(1, 0x0d, 1)], PROTOCOL_ERROR],
    ['a block that is broken', [frame(1, 5, 1, [0x80])], COMPRESSION_ERROR],
    ['CONTINUATION of nothing', [frame(9, 4, 1)], PROTOCOL_ERROR],
    ['CONTINUATION of another', [frame(1, 1, 1), frame(9, 4, 3)], PROTOCOL_ERROR],
    ['PING in a block', [frame(1, 1, 1), frame(6, 0, 0, new Uint8Array(8))], PROTOCOL_ERROR],
    ['unknown frames in a block', [frame(1, 1, 1), frame(99, 0, 0)], PROTOCOL_ERROR],
    ['DATA of no stream', [data(0, [1])], PROTOCOL_ERROR],
    ['DATA of an idle stream', [data(1, [1])], PROTOCOL_ERROR],
    ['padding over all DATA', [headers(1, POST, false), frame(0, 8, 1, [2, 0])], PROTOCOL_ERROR],
  ]
  for (const [name, frames, code] of wrong) {
    test(`end the connection by ${name}`, () => {
      const peer = new Peer()
      peer.send(...frames)
      assert.equal(peer.goneAway(), code)
    })
  }

  const malformed: readonly (readonly [string, readonly Uint8Array[], number])[] = [
    ['no path', [headers(1, GET.slice(0, 3))], PROTOCOL_ERROR],
    ['upper case', [headers(1, [...GET, ['A', 'b']])], PROTOCOL_ERROR],
    ['a length and no body', [headers(1, withLength(1))], PROTOCOL_ERROR],
    ['too much', [headers(1, withLength(1), false), data(1, [1, 2])], PROTOCOL_ERROR],
    ['too little', [headers(1, withLength(3), false), data(1, [1, 2], true)], PROTOCOL_ERROR],
    [
      'trailers too soon',
      [headers(1, withLength(3), false), headers(1, [['a', 'b']])],
      PROTOCOL_ERROR,
    ],
    ['trailers without an end', [headers(1, POST, false), headers(1, [], false)], PROTOCOL_ERROR],
    ['a path in trailers', [headers(1, POST, false), headers(1, GET)], PROTOCOL_ERROR],
    ['DATA after the end', [headers(1), data(1, [1])], STREAM_CLOSED],
    ['HEADERS after the end', [headers(1), headers(1)], STREAM_CLOSED],
  ]
  for (const [name, frames, code] of malformed) {
    test(`end their stream alone by ${name}`, () => {
      const peer = new Peer()
      peer.send(...frames, headers(7))
      const written = peer.take()
      assert.equal(peer.wasReset(1, written), code)
      assert.equal(peer.goneAway(written), undefined)
      assert.equal(peer.requests.at(-1)?.id, 7)
    })
  }

  test('end the connection when they go on after they were answered', () => {
    for (const late of [data(1, [1]), headers(1)]) {
      const peer = new Peer(answering('x'))
      peer.send(headers(1), late)
      assert.equal(peer.goneAway(), STREAM_CLOSED)
    }
  })

  test('may go on for a while after we have reset them, and count for the tables', () => {
    const peer = new Peer()
    peer.send(headers(1, POST, false))
    peer.connection.reset(1, ERROR_CODE.CANCEL)
    assert.equal(peer.wasReset(1), ERROR_CODE.CANCEL)
    const kept = Uint8Array.of(0x40, 1, 0x61, 1, 0x62)
    peer.send(data(1, [1, 2, 3]), frame(FRAME.HEADERS, 5, 1, kept))
    peer.send(frame(FRAME.HEADERS, 5, 3, [...BLOCK, 0xbe]))
    assert.equal(peer.goneAway(), undefined)
    assert.equal(peer.requests[1]?.head.fields.at(-1)?.value, 'b')
  })

  test('are refused when there are too many at a time, and taken again later', () => {
    const peer = new Peer()
    for (let i = 0; i <= STREAMS_MAX; i++) peer.send(headers(2 * i + 1))
    assert.equal(peer.requests.length, STREAMS_MAX)
    const id = 2 * STREAMS_MAX + 1
    assert.equal(peer.wasReset(id), ERROR_CODE.REFUSED_STREAM)
    peer.connection.respond(1, { status: 204, headers: {}, body: new Uint8Array(0) })
    peer.send(headers(id + 2))
    assert.equal(peer.requests.length, STREAMS_MAX + 1)
  })

  test('are not malformed without end', () => {
    // CVE-2025-8671: it is us who resets.
    const peer = new Peer()
    for (let i = 0; i <= RESETS.burst; i++) peer.send(headers(2 * i + 1, [['A', 'b']]))
    assert.equal(peer.goneAway(), ERROR_CODE.ENHANCE_YOUR_CALM)
  })

  test('with too large a head are answered with 431', () => {
    const peer = new Peer()
    const fields = Array.from({ length: 300 }, () => ['a', 'b'] as const)
    peer.send(headers(1, [...GET, ...fields]), headers(3))
    assert.deepEqual(peer.responses().get(1)?.fields[0], [':status', '431'])
    assert.deepEqual(
      peer.requests.map(({ id }) => id),
      [3],
    )
  })

  test('may have no more bytes under way than the windows let in', () => {
    const full = new Uint8Array(16_384)
    const peer = new Peer({ isConsuming: false })
    peer.send(headers(1, POST, false), headers(3, POST, false))
    for (let i = 0; i < 3; i++) peer.send(data(1, full))
    peer.send(data(3, full.subarray(0, 16_383)))
    assert.equal(peer.goneAway(), undefined)
    peer.send(data(3, [1]))
    assert.equal(peer.goneAway(), FLOW_CONTROL_ERROR)
  })

  test('may have as many bytes as are consumed', () => {
    const full = new Uint8Array(16_384)
    const peer = new Peer()
    peer.send(headers(1, POST, false))
    for (let i = 0; i < 100; i++) peer.send(data(1, full))
    peer.send(data(1, [], true))
    const updates = peer.take().filter(({ type }) => type === FRAME.WINDOW_UPDATE)
    const sum = (id: number): number =>
      updates
        .filter((one) => one.id === id)
        .reduce((all, { payload }) => all + Buffer.from(payload).readUInt32BE(0), 0)
    assert.ok(1_638_400 - 32_768 < sum(0) && sum(0) <= 1_638_400)
    assert.equal(sum(1), sum(0))
    assert.deepEqual(peer.requests[0]?.heard, ['end'])
  })
})
