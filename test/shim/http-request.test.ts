import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { describe, test } from 'node:test'
import { TLSSocket } from 'node:tls'
import { certificateOf, endsOf, remoteOf } from '../../src/shim/http-request.ts'

describe('remoteOf', () => {
  for (const env of [undefined, null, {}, 'incoming']) {
    test(`knows no one from ${JSON.stringify(env)}`, () => {
      const ends = { address: '127.0.0.1', port: 0, localAddress: '127.0.0.1', localPort: 0 }
      assert.deepEqual(remoteOf(env), ends)
    })
  }
})

describe('endsOf', () => {
  test('tells both ends', () => {
    const socket = { remoteAddress: '::1', remotePort: 1, localAddress: '::2', localPort: 2 }
    const ends = { address: '::1', port: 1, localAddress: '::2', localPort: 2 }
    assert.deepEqual(endsOf(socket), ends)
    assert.deepEqual(remoteOf({ incoming: { socket } }), ends)
  })
})

describe('certificateOf', () => {
  test('knows no one who has shown none', () => {
    for (const env of [undefined, {}, { incoming: { socket: {} } }]) {
      assert.equal(certificateOf(env), undefined)
    }
  })

  test('knows no one who is authorized without one, as some runtimes say of everybody', (t) => {
    const socket = new TLSSocket(new Socket())
    t.after(() => socket.destroy())
    socket.authorized = true
    socket.getPeerCertificate = () => Object.create(null)
    assert.equal(certificateOf({ incoming: { socket } }), undefined)
  })
})
