import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { IDLE_FRAMES, RESETS } from '../../src/http2/bounds.ts'
import { dependsOn } from '../../src/http2/control-frames.ts'
import { ERROR_CODE, FLAG, FRAME } from '../../src/http2/frame.ts'
import {
  answering,
  data,
  frame,
  headers,
  number,
  Peer,
  POST,
  reset,
  settings,
  windowUpdate,
} from './peer.ts'

const { PROTOCOL_ERROR, FRAME_SIZE_ERROR, FLOW_CONTROL_ERROR, ENHANCE_YOUR_CALM } = ERROR_CODE

/** A connection with a stream that is open, 1. */
function opened(): Peer {
  const peer = new Peer()
  peer.send(headers(1, POST, false))
  peer.take()
  return peer
}

describe('frames that bring nothing', () => {
  const wrong: readonly (readonly [string, Uint8Array, number])[] = [
    ['PRIORITY of no stream', frame(FRAME.PRIORITY, 0, 0, [0, 0, 0, 0, 1]), PROTOCOL_ERROR],
    ['PRIORITY of four bytes', frame(FRAME.PRIORITY, 0, 1, [0, 0, 0, 0]), FRAME_SIZE_ERROR],
    ['a stream below itself', frame(FRAME.PRIORITY, 0, 1, [0, 0, 0, 1, 9]), PROTOCOL_ERROR],
    ['RST_STREAM of no stream', reset(0), PROTOCOL_ERROR],
    ['RST_STREAM of an idle stream', reset(3), PROTOCOL_ERROR],
    ['RST_STREAM of a stream of ours', reset(2), PROTOCOL_ERROR],
    ['RST_STREAM of three bytes', frame(FRAME.RST_STREAM, 0, 1, [0, 0, 0]), FRAME_SIZE_ERROR],
    ['SETTINGS of a stream', frame(FRAME.SETTINGS, 0, 1), PROTOCOL_ERROR],
    ['SETTINGS of seven bytes', frame(FRAME.SETTINGS, 0, 0, new Uint8Array(7)), FRAME_SIZE_ERROR],
    [
      'an ACK with settings',
      frame(FRAME.SETTINGS, FLAG.ACK, 0, new Uint8Array(6)),
      FRAME_SIZE_ERROR,
    ],
    ['a window that is too large', settings([4, 0x8000_0000]), FLOW_CONTROL_ERROR],
    ['PUSH_PROMISE', frame(FRAME.PUSH_PROMISE, 4, 1, [0, 0, 0, 2]), PROTOCOL_ERROR],
    ['PING of a stream', frame(FRAME.PING, 0, 1, new Uint8Array(8)), PROTOCOL_ERROR],
    ['PING of seven bytes', frame(FRAME.PING, 0, 0, new Uint8Array(7)), FRAME_SIZE_ERROR],
    ['GOAWAY of a stream', frame(FRAME.GOAWAY, 0, 1, new Uint8Array(8)), PROTOCOL_ERROR],
    ['GOAWAY of seven bytes', frame(FRAME.GOAWAY, 0, 0, new Uint8Array(7)), FRAME_SIZE_ERROR],
    ['WINDOW_UPDATE of three bytes', frame(FRAME.WINDOW_UPDATE, 0, 0, [0, 0, 1]), FRAME_SIZE_ERROR],
    ['WINDOW_UPDATE by nothing', windowUpdate(0, 0), PROTOCOL_ERROR],
    ['WINDOW_UPDATE beyond 2^31-1', windowUpdate(0, 0x7fff_ffff), FLOW_CONTROL_ERROR],
    ['WINDOW_UPDATE of an idle stream', windowUpdate(3, 1), PROTOCOL_ERROR],
  ]
  for (const [name, octets, code] of wrong) {
    test(`${name} ends the connection with ${code}`, () => {
      const peer = opened()
      peer.send(octets)
      assert.equal(peer.goneAway(), code)
      assert.equal(peer.isEnded, true)
      assert.deepEqual(peer.requests[0]?.heard, ['reset'])
    })
  }

  const harmless: readonly (readonly [string, Uint8Array])[] = [
    ['PRIORITY', frame(FRAME.PRIORITY, 0, 5, [0, 0, 0, 3, 1])],
    ['an ACK of SETTINGS', frame(FRAME.SETTINGS, FLAG.ACK, 0)],
    ['an ACK of PING', frame(FRAME.PING, FLAG.ACK, 0, new Uint8Array(8))],
    ['GOAWAY', frame(FRAME.GOAWAY, 0, 0, [...number(0), ...number(99), 1, 2])],
    ['a type that is not known', frame(0xbe, 0xff, 9, [1, 2, 3])],
    ['WINDOW_UPDATE', windowUpdate(0, 1)],
  ]
  for (const [name, octets] of harmless) {
    test(`${name} changes nothing`, () => {
      const peer = opened()
      peer.send(octets, data(1, [1], true))
      assert.deepEqual(peer.take(), [])
      assert.deepEqual(peer.requests[0]?.heard, ['end'])
    })
  }

  test('WINDOW_UPDATE by nothing, or too much, resets its stream alone', () => {
    for (const [increment, code] of [
      [0, PROTOCOL_ERROR],
      [0x7fff_ffff, FLOW_CONTROL_ERROR],
    ] as const) {
      const peer = opened()
      peer.send(windowUpdate(1, increment), headers(3))
      assert.equal(peer.wasReset(1), code)
      assert.equal(peer.requests.length, 2)
    }
  })

  test('RST_STREAM ends its stream; what follows for it is passed over or an error', () => {
    const peer = opened()
    peer.send(reset(1), windowUpdate(1, 1), reset(1))
    assert.deepEqual(peer.requests[0]?.heard, ['reset'])
    assert.deepEqual(peer.take(), [])
    peer.send(data(1, [1]))
    assert.equal(peer.goneAway(), ERROR_CODE.STREAM_CLOSED)
  })

  test('PING and SETTINGS are answered', () => {
    const peer = new Peer()
    peer.send(frame(FRAME.PING, 0, 0, [1, 2, 3, 4, 5, 6, 7, 8]), settings([1, 0]))
    assert.deepEqual(
      peer.take().map(({ type, flags, payload }) => [type, flags, ...payload]),
      [
        [FRAME.PING, FLAG.ACK, 1, 2, 3, 4, 5, 6, 7, 8],
        [FRAME.SETTINGS, FLAG.ACK],
      ],
    )
  })

  test('a new window is that of all streams, those there are as well (§6.9.2)', () => {
    const peer = new Peer(answering('x'.repeat(20)))
    peer.send(settings([4, 5]), headers(1))
    assert.equal(peer.responses().get(1)?.body, 'xxxxx')
    peer.send(settings([4, 2]), windowUpdate(1, 4))
    assert.equal(peer.responses().get(1)?.body, 'x')
    peer.send(settings([4, 100]))
    assert.equal(peer.responses().get(1)?.body, 'x'.repeat(14))
  })

  test('a new window that makes one too large ends the connection', () => {
    const peer = opened()
    peer.send(windowUpdate(1, 0x7fff_ffff - 65_535), settings([4, 65_536]))
    assert.equal(peer.goneAway(), FLOW_CONTROL_ERROR)
  })

  const floods: readonly (readonly [string, Uint8Array, number])[] = [
    ['PING', frame(FRAME.PING, 0, 0, new Uint8Array(8)), IDLE_FRAMES.burst],
    ['SETTINGS', settings(), IDLE_FRAMES.burst],
    ['PRIORITY', frame(FRAME.PRIORITY, 0, 1, [0, 0, 0, 0, 1]), IDLE_FRAMES.burst],
    ['unknown types', frame(77, 0, 0), IDLE_FRAMES.burst],
    ['empty DATA', data(1, []), IDLE_FRAMES.burst],
    ['padding alone', frame(FRAME.DATA, FLAG.PADDED, 1, [3, 0, 0, 0]), IDLE_FRAMES.burst],
    ['RST_STREAM', reset(1), RESETS.burst],
  ]
  for (const [name, octets, most] of floods) {
    test(`a flood of ${name} ends the connection`, () => {
      const peer = opened()
      peer.send(...new Array<Uint8Array>(most - 2).fill(octets))
      assert.equal(peer.goneAway(), undefined)
      peer.nowMs += 10
      peer.send(...new Array<Uint8Array>(10).fill(octets))
      assert.equal(peer.goneAway(), ENHANCE_YOUR_CALM)
    })
    test(`as many ${name}, over a minute, do not`, () => {
      const peer = opened()
      for (let i = 0; i < 60; i++) {
        peer.nowMs += 1000
        peer.send(...new Array<Uint8Array>(30).fill(octets))
      }
      assert.equal(peer.goneAway(), undefined)
    })
  }

  test('requests that are begun and taken back again and again end the connection', () => {
    // CVE-2023-44487.
    const peer = new Peer()
    const octets: Uint8Array[] = []
    for (let id = 1; id < 2 * (RESETS.burst + 2); id += 2) octets.push(headers(id), reset(id))
    peer.send(...octets)
    assert.equal(peer.goneAway(), ENHANCE_YOUR_CALM)
    assert.ok(peer.requests.length <= RESETS.burst + 1)
  })
})

describe('dependsOn', () => {
  test('passes over the bit that says whether the dependency is exclusive', () => {
    assert.equal(dependsOn(Uint8Array.of(0x80, 0, 0, 7), 0, 7), true)
    assert.equal(dependsOn(Uint8Array.of(9, 0, 0, 0, 6), 1, 7), false)
  })
})
