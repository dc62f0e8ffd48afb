import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { ERROR_CODE, FRAME } from '../../src/http2/frame.ts'
import { FrameReader } from '../../src/http2/frame-reader.ts'
import { BEGINNING, data, frame, headers } from './peer.ts'

/** Pushes chunks and tells all that is read. */
function read(...chunks: readonly Uint8Array[]): (string | number)[] {
  const reader = new FrameReader()
  const told: (string | number)[] = []
  for (const chunk of chunks) {
    reader.push(chunk)
    for (;;) {
      const next = reader.next()
      if (next === 'more') break
      const { type, flags, streamId, bytes, start, end } = reader
      const payload = Buffer.from(bytes.subarray(start, end)).toString('hex')
      told.push(next === 'frame' ? `${type} ${flags} ${streamId} ${payload}` : next)
      if (next !== 'frame') return told
    }
  }
  return told
}

const ALL = Buffer.concat([BEGINNING, headers(1), data(3, [1, 2, 3], true), frame(99, 255, 0)])
const WHOLE = read(ALL)

describe('FrameReader', () => {
  test('reads frames after the preface', () => {
    assert.equal(WHOLE.length, 4)
    assert.deepEqual([WHOLE[0], WHOLE[2], WHOLE[3]], ['4 0 0 ', '0 1 3 010203', '99 255 0 '])
  })

  test('reads the same however the bytes were cut', () => {
    const cuts = fc.uniqueArray(fc.integer({ min: 1, max: ALL.length - 1 }), { maxLength: 20 })
    fc.assert(
      fc.property(cuts, (unsorted) => {
        const at = [0, ...unsorted.sort((a, b) => a - b), ALL.length]
        const chunks = at.slice(1).map((end, i) => Uint8Array.from(ALL.subarray(at[i], end)))
        assert.deepEqual(read(...chunks), WHOLE)
      }),
    )
    assert.deepEqual(read(...Array.from(ALL, (octet) => Uint8Array.of(octet))), WHOLE)
  })

  for (const [name, text] of [
    ['another preface', 'PRI * HTTP/3.0'],
    ['a request of HTTP/1.1', 'GET / HTTP/1.1\r\n'],
    ['one byte that is wrong', 'p'],
  ] as const) {
    test(`refuses ${name}`, () => {
      assert.deepEqual(read(Buffer.from(text)), [ERROR_CODE.PROTOCOL_ERROR])
    })
  }

  test('refuses a frame of more than 16,384 bytes by its header', () => {
    const head = frame(FRAME.DATA, 0, 1, new Uint8Array(16_385)).subarray(0, 9)
    assert.deepEqual(read(BEGINNING, head), ['4 0 0 ', ERROR_CODE.FRAME_SIZE_ERROR])
    assert.equal(read(BEGINNING, frame(FRAME.DATA, 0, 1, new Uint8Array(16_384))).length, 2)
  })

  test('passes over the reserved bit of an identifier (RFC 9113 §4.1)', () => {
    const octets = frame(FRAME.PING, 0, 0, [1])
    octets[5] = 0x80
    assert.deepEqual(read(BEGINNING, octets)[1], '6 0 0 01')
  })

  test('tells whether part of a frame is here', () => {
    const reader = new FrameReader()
    reader.push(BEGINNING)
    assert.equal(reader.next(), 'frame')
    assert.equal(reader.next(), 'more')
    assert.equal(reader.isInside, false)
    reader.push(headers(1).subarray(0, 4))
    assert.equal(reader.next(), 'more')
    assert.equal(reader.isInside, true)
  })
})
