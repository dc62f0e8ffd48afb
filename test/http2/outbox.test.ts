import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { EMPTY } from '../../src/bytes/bytes.ts'
import { FLAG, FRAME } from '../../src/http2/frame.ts'
import { Outbox } from '../../src/http2/outbox.ts'
import { type Frame, framesOf } from './peer.ts'

const shown = ({ type, flags, id, payload }: Frame): (number | string)[] => [
  type,
  flags,
  id,
  Buffer.from(payload).toString('hex'),
]

describe('Outbox', () => {
  const cases: readonly (readonly [string, (outbox: Outbox) => void, (number | string)[]])[] = [
    ['RST_STREAM', (box) => box.reset(5, 8), [3, 0, 5, '00000008']],
    ['SETTINGS', (box) => box.settings([[3, 250]]), [4, 0, 0, '0003000000fa']],
    ['its acknowledgement', (box) => box.settingsAck(), [4, 1, 0, '']],
    ['PING', (box) => box.pingAck(Uint8Array.of(1, 2)), [6, 1, 0, '0102']],
    ['GOAWAY', (box) => box.goAway(7, 1), [7, 0, 0, '0000000700000001']],
    ['WINDOW_UPDATE', (box) => box.windowUpdate(3, 65_536), [8, 0, 3, '00010000']],
    ['DATA', (box) => box.data(1, Uint8Array.of(1, 2, 3, 4), 1, 3, true), [0, 1, 1, '0203']],
    ['DATA that goes on', (box) => box.data(1, Uint8Array.of(9), 0, 1, false), [0, 0, 1, '09']],
  ]
  for (const [name, write, wanted] of cases) {
    test(`writes ${name}`, () => {
      const outbox = new Outbox()
      write(outbox)
      assert.deepEqual(framesOf(outbox.octets()).map(shown), [wanted])
    })
  }

  test('says once that there is no dynamic table, before the first header block', () => {
    const outbox = new Outbox()
    outbox.headers(1, Uint8Array.of(0x88), Uint8Array.of(0x90), false)
    outbox.headers(3, Uint8Array.of(0x88), EMPTY, true)
    const frames = framesOf(outbox.octets()).map(shown)
    assert.deepEqual(frames, [
      [1, 4, 1, '208890'],
      [1, 5, 3, '88'],
    ])
  })

  test('cuts a long header block into frames', () => {
    const outbox = new Outbox()
    outbox.headers(1, new Uint8Array(40_000).fill(0x88), Uint8Array.of(0x90), true)
    const frames = framesOf(outbox.octets())
    assert.deepEqual(
      frames.map(({ type, flags, payload }) => [type, flags, payload.length]),
      [
        [FRAME.HEADERS, FLAG.END_STREAM, 16_384],
        [FRAME.CONTINUATION, 0, 16_384],
        [FRAME.CONTINUATION, FLAG.END_HEADERS, 7234],
      ],
    )
    assert.equal(frames.at(-1)?.payload.at(-1), 0x90)
  })

  test('grows, and is small again when it is told to', () => {
    const outbox = new Outbox()
    const body = new Uint8Array(16_000).map((_, i) => i)
    for (let i = 0; i < 10; i++) outbox.data(1, body, 0, body.length, false)
    const frames = framesOf(outbox.octets())
    assert.deepEqual(
      frames.map(({ payload }) => payload),
      new Array(10).fill(body),
    )
    outbox.trim()
    assert.equal(framesOf(outbox.octets()).length, 10)
    outbox.clear()
    assert.equal(outbox.size, 0)
    outbox.trim()
    outbox.settingsAck()
    assert.ok(outbox.octets().buffer.byteLength < 10_000)
  })
})
