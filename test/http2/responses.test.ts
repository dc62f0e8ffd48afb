import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { EMPTY } from '../../src/bytes/bytes.ts'
import { FLAG, FRAME } from '../../src/http2/frame.ts'
import { data, headers, Peer, POST, settings, windowUpdate } from './peer.ts'

const text = (words: string): Uint8Array => new Uint8Array(Buffer.from(words))
const DATE = ['date', 'Thu, 01 Jan 1970 00:33:20 GMT'] as const

function asked(): Peer {
  const peer = new Peer()
  peer.send(headers(1))
  return peer
}

describe('responses', () => {
  test('go as a whole, in one write', () => {
    const peer = asked()
    const before = peer.writes
    const fields = { 'content-type': 'a/b' }
    peer.connection.respond(1, { status: 200, headers: fields, body: text('hello') })
    const frames = peer.take()
    assert.equal(peer.writes, before + 1)
    assert.deepEqual(
      frames.map(({ type, flags }) => [type, flags]),
      [
        [FRAME.HEADERS, FLAG.END_HEADERS],
        [FRAME.DATA, FLAG.END_STREAM],
      ],
    )
    const wanted = { fields: [[':status', '200'], ['content-type', 'a/b'], DATE], body: 'hello' }
    assert.deepEqual(peer.responses(frames).get(1), wanted)
  })

  test('without a body end with their head', () => {
    const peer = asked()
    peer.connection.respond(1, { status: 204, headers: {}, body: EMPTY })
    const [frame, ...others] = peer.take()
    assert.equal(frame?.flags, FLAG.END_HEADERS | FLAG.END_STREAM)
    assert.deepEqual(others, [])
  })

  test('go in parts', () => {
    const peer = asked()
    peer.connection.begin(1, {
      status: 200,
      fields: [
        ['a', 'b'],
        ['a', 'c'],
      ],
      isEnd: false,
    })
    peer.connection.write(1, text('one '))
    assert.deepEqual(peer.requests[0]?.heard, ['writable'])
    peer.connection.write(1, text('two'))
    peer.connection.end(1)
    const wanted = { fields: [[':status', '200'], ['a', 'b'], ['a', 'c'], DATE], body: 'one two' }
    assert.deepEqual(peer.responses().get(1), wanted)
  })

  test('tell that there may be more only when the client has room', () => {
    const peer = new Peer()
    peer.send(settings([4, 3]), headers(1))
    peer.connection.begin(1, { status: 200, fields: [], isEnd: false })
    peer.connection.write(1, text('hello'))
    assert.deepEqual(peer.requests[0]?.heard, [])
    peer.send(windowUpdate(1, 2))
    assert.deepEqual(peer.requests[0]?.heard, ['writable'])
    assert.equal(peer.responses().get(1)?.body, 'hello')
  })

  test('come after an interim one', () => {
    const peer = new Peer()
    peer.send(headers(1, POST, false))
    peer.connection.begin(1, { status: 100, fields: [], isEnd: false })
    assert.deepEqual(peer.responses().get(1)?.fields, [[':status', '100']])
    peer.send(data(1, [1], true))
    peer.connection.respond(1, { status: 200, headers: {}, body: EMPTY })
    assert.deepEqual(peer.responses().get(1)?.fields, [[':status', '200'], DATE])
  })

  test('are dropped when the stream is closed, or never was', () => {
    const peer = asked()
    const response = { status: 200, headers: {}, body: text('a') }
    peer.connection.respond(1, response)
    peer.take()
    for (const id of [1, 3]) {
      peer.connection.respond(id, response)
      peer.connection.begin(id, { status: 200, fields: [], isEnd: false })
      peer.connection.write(id, text('a'))
      peer.connection.end(id)
      peer.connection.reset(id, 0)
      peer.connection.consumed(id, 1)
    }
    assert.deepEqual(peer.take(), [])
  })
})
