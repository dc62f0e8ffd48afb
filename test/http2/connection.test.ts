import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { ERROR_CODE, FLAG, FRAME } from '../../src/http2/frame.ts'
import { HpackEncoder } from './hpack-encoder.ts'
import {
  answering,
  BEGINNING,
  data,
  type Frame,
  frame,
  GET,
  headers,
  Peer,
  POST,
  reset,
  settings,
  windowUpdate,
} from './peer.ts'

const { NO_ERROR, PROTOCOL_ERROR, CANCEL } = ERROR_CODE

/** A conversation with all kinds of frames, in which nothing is wrong. */
function conversation(): Uint8Array {
  const encoder = new HpackEncoder()
  const ways = GET.map(
    (_, i) => ({ indexing: i % 2 ? 'incremental' : 'none', isHuffman: true }) as const,
  )
  const request = (id: number, flags: number, payload: Uint8Array): Uint8Array =>
    frame(FRAME.HEADERS, flags, id, payload)
  const block = (): Uint8Array => encoder.encode([...GET, ['accept', '*/*']], ways)
  const [first, second] = [block(), block()]
  return Buffer.concat([
    BEGINNING,
    settings([4, 100], [1, 0]),
    request(1, FLAG.END_HEADERS | FLAG.END_STREAM, first),
    request(3, FLAG.END_STREAM, second.subarray(0, 5)),
    frame(FRAME.CONTINUATION, FLAG.END_HEADERS, 3, second.subarray(5)),
    frame(FRAME.PING, 0, 0, [1, 2, 3, 4, 5, 6, 7, 8]),
    headers(5, [...POST, ['content-length', '4']], false),
    data(5, [1, 2]),
    windowUpdate(0, 1000),
    data(5, [3, 4], true),
    headers(7, POST, false),
    frame(FRAME.DATA, FLAG.PADDED, 7, [2, 9, 0, 0]),
    headers(7, [['x-trailer', 'a']]),
    headers(9, POST, false),
    reset(9),
    frame(FRAME.PRIORITY, 0, 11, [0, 0, 0, 0, 1]),
    frame(FRAME.GOAWAY, 0, 0, new Uint8Array(8)),
    settings([4, 1000]),
  ])
}

const shown = ({ type, flags, id, payload }: Frame): string =>
  `${type} ${flags} ${id} ${Buffer.from(payload).toString('hex')}`

function run(chunks: readonly Uint8Array[], body = 'x'.repeat(300)): Peer {
  const peer = new Peer({ ...answering(body), isSilent: true })
  for (const chunk of chunks) peer.connection.receive(chunk)
  return peer
}

describe('a connection', () => {
  test('tells its settings before anything else', () => {
    const [frame] = new Peer({ isSilent: true }).take()
    assert.equal(frame?.type, FRAME.SETTINGS)
    assert.equal(Buffer.from(frame.payload).toString('hex'), '0003000000fa000600010000')
  })

  test('answers all requests of a chunk in one write', () => {
    const peer = new Peer(answering('x'))
    const before = peer.writes
    peer.send(...[1, 3, 5, 7, 9].map((id) => headers(id)))
    assert.equal(peer.writes, before + 1)
    assert.equal(peer.responses().size, 5)
  })

  test('answers all that is answered later at once in one write, too', () => {
    const peer = new Peer()
    peer.send(headers(1), headers(3))
    const before = peer.writes
    for (const id of [1, 3]) {
      peer.connection.respond(id, { status: 200, headers: {}, body: Uint8Array.of(1) })
    }
    assert.equal(peer.writes, before)
    peer.settle()
    assert.equal(peer.writes, before + 1)
  })

  test('wants settings first', () => {
    for (const first of [headers(1), frame(FRAME.SETTINGS, FLAG.ACK, 0)]) {
      const peer = new Peer({ isSilent: true })
      peer.send(BEGINNING.subarray(0, 24), first)
      assert.equal(peer.goneAway(), PROTOCOL_ERROR)
    }
  })

  test('tells the last stream that it has looked at when it ends', () => {
    const peer = new Peer()
    peer.send(headers(1), headers(7), frame(FRAME.PING, 0, 1, new Uint8Array(8)))
    const found = peer.take().find(({ type }) => type === FRAME.GOAWAY)
    assert.equal(Buffer.from(found?.payload ?? []).readUInt32BE(0), 7)
    assert.equal(peer.isEnded, true)
    peer.send(headers(9))
    assert.equal(peer.requests.length, 2)
    assert.deepEqual(
      peer.requests.map(({ heard }) => heard),
      [['reset'], ['reset']],
    )
  })

  test('lets others have their turn after 32 frames', () => {
    const peer = new Peer(answering('hello'))
    const requests = Array.from({ length: 100 }, (_, i) => headers(2 * i + 1))
    peer.sendForOneTurn(...requests)
    assert.deepEqual([peer.requests.length, peer.connection.isBlocked], [32, true])
    peer.sendForOneTurn(headers(201))
    assert.equal(peer.requests.length, 32)
    peer.takeTurns()
    assert.deepEqual([peer.requests.length, peer.connection.isBlocked], [101, false])
  })

  test('reads no more in its next turn when it is over', () => {
    const peer = new Peer(answering('hello'))
    peer.sendForOneTurn(...Array.from({ length: 100 }, (_, i) => headers(2 * i + 1)))
    peer.connection.closed()
    peer.takeTurns()
    assert.equal(peer.requests.length, 32)
  })

  test('stops reading while the client does not', () => {
    const body = 'x'.repeat(10_000)
    const peer = new Peer(answering(body))
    peer.send(settings([4, 10_000]), windowUpdate(0, 10_000_000))
    peer.take()
    peer.isWritable = false
    peer.send(...Array.from({ length: 1000 }, (_, i) => headers(2 * i + 1)))
    assert.equal(peer.connection.isBlocked, true)
    assert.ok(peer.requests.length < 10, `${peer.requests.length} requests were looked at`)
    const before = peer.requests.length
    peer.send(headers(2001))
    assert.equal(peer.requests.length, before)
    peer.drain()
    peer.takeTurns()
    assert.equal(peer.requests.length, 1001)
    const responses = [...peer.responses().values()]
    assert.equal(responses.length, 1001)
    assert.ok(responses.every((one) => one.body === body))
  })

  test('is the same however its bytes were cut', () => {
    const all = conversation()
    const whole = run([all])
    const wanted = whole.take().map(shown)
    assert.equal(whole.requests.length, 5)
    assert.equal(whole.goneAway(whole.take()), undefined)
    const cuts = fc.uniqueArray(fc.integer({ min: 1, max: all.length - 1 }), { maxLength: 30 })
    fc.assert(
      fc.property(cuts, (unsorted) => {
        const at = [0, ...unsorted.sort((a, b) => a - b), all.length]
        const peer = run(at.slice(1).map((end, i) => Uint8Array.from(all.subarray(at[i], end))))
        assert.deepEqual(peer.take().map(shown), wanted)
      }),
    )
  })

  test('never throws, and never holds more than its bounds, whatever is changed', () => {
    const all = conversation()
    const change = fc.tuple(
      fc.integer({ min: 0, max: all.length - 1 }),
      fc.integer({ min: 0, max: 255 }),
      fc.constantFrom('set', 'insert', 'drop'),
    )
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 6 }), (changes) => {
        const octets = [...all]
        for (const [at, octet, kind] of changes) {
          if (kind === 'set') octets[at] = octet
          else octets.splice(at, kind === 'drop' ? 1 : 0, ...(kind === 'drop' ? [] : [octet]))
        }
        const peer = run([Uint8Array.from(octets), all])
        assert.ok(peer.requests.length <= 20)
        const written = peer.take()
        assert.ok(written.reduce((sum, { payload }) => sum + payload.length, 0) < 20_000)
        // It has said why, or goes on.
        assert.equal(peer.isEnded, peer.goneAway(written) !== undefined)
      }),
      { numRuns: 3000 },
    )
  })
})

describe('progress', () => {
  const times = { readMs: 1000, idleMs: 2000, writeMs: 3000 }

  test('is a first request in time', () => {
    const peer = new Peer()
    peer.wait(999)
    assert.equal(peer.isEnded, false)
    peer.wait(1)
    assert.equal(peer.goneAway(), NO_ERROR)
    assert.equal(peer.isEnded, true)
  })

  test('is the next request in time, whatever else comes', () => {
    const peer = new Peer(answering('x'))
    peer.send(headers(1))
    peer.wait(1999)
    peer.send(frame(FRAME.PING, 0, 0, new Uint8Array(8)))
    assert.equal(peer.isEnded, false)
    peer.wait(1)
    assert.equal(peer.goneAway(), NO_ERROR)
  })

  test('is not asked of who waits for our answer', () => {
    const peer = new Peer()
    peer.send(headers(1))
    for (let i = 0; i < 100; i++) assert.equal(peer.wait(1000), false)
    assert.equal(peer.isEnded, false)
    assert.equal(peer.wasReset(1), undefined)
    peer.connection.respond(1, { status: 204, headers: {}, body: new Uint8Array(0) })
    peer.wait(1999)
    assert.equal(peer.isEnded, false)
  })

  for (const [name, part] of [
    ['frame', headers(3).subarray(0, 20)],
    ['header block', frame(FRAME.HEADERS, 0, 3, [])],
  ] as const) {
    test(`is the rest of a ${name}`, () => {
      const peer = new Peer()
      peer.send(headers(1), part)
      peer.wait(500)
      peer.send(new Uint8Array(0))
      assert.equal(peer.isEnded, false)
      peer.wait(500)
      assert.equal(peer.isEnded, true)
    })
  }

  test('is all of a body, however steadily it comes', () => {
    const peer = new Peer()
    peer.send(headers(1, POST, false))
    for (let i = 0; i < 9; i++) {
      peer.wait(100)
      peer.send(data(1, [1]))
    }
    assert.equal(peer.wasReset(1), undefined)
    peer.wait(100)
    assert.equal(peer.wasReset(1), CANCEL)
    assert.equal(peer.isEnded, false)
  })

  test('is not more of a body that we do not read', () => {
    const peer = new Peer({ isConsuming: false })
    peer.send(headers(1, POST, false))
    for (let i = 0; i < 3; i++) peer.send(data(1, new Uint8Array(16_384)))
    peer.send(data(1, new Uint8Array(16_383)))
    peer.wait(100_000)
    assert.equal(peer.wasReset(1), undefined)
  })

  test('is a window for what we send', () => {
    const peer = new Peer(answering('hello'))
    peer.send(settings([4, 0]), headers(1))
    peer.wait(2999)
    peer.send(windowUpdate(1, 1))
    peer.wait(2999)
    assert.equal(peer.wasReset(1), undefined)
    peer.wait(1)
    assert.equal(peer.wasReset(1), CANCEL)
  })

  test('is that the network takes what we write', () => {
    const peer = new Peer(answering('x'.repeat(1000)))
    peer.isWritable = false
    peer.send(headers(1))
    assert.equal(peer.wait(2999, times), false)
    assert.equal(peer.wait(1, times), true)
  })
})
