import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { describe, test } from 'vitest'
import { endsOf, identitiesOf, remoteOf } from '../../../src/server/http/http-request.ts'

describe('remoteOf', () => {
  for (const env of [undefined, null, {}, 'incoming']) {
    test(`returns loopback defaults for ${JSON.stringify(env)}`, () => {
      const ends = { address: '127.0.0.1', port: 0, localAddress: '127.0.0.1', localPort: 0 }
      assert.deepEqual(remoteOf(env), ends)
    })
  }
})

describe('endsOf', () => {
  test('returns both ends', () => {
    const socket = { remoteAddress: '::1', remotePort: 1, localAddress: '::2', localPort: 2 }
    const ends = { address: '::1', port: 1, localAddress: '::2', localPort: 2 }
    assert.deepEqual(endsOf(socket), ends)
    assert.deepEqual(remoteOf({ incoming: { socket } }), ends)
  })

  test('returns IPv4 addresses of a socket for both families as such', () => {
    const socket = { remoteAddress: '::ffff:192.0.2.1', localAddress: '::ffff:127.0.0.1' }
    const { address, localAddress } = endsOf({ ...socket, remotePort: 1, localPort: 2 })
    assert.deepEqual([address, localAddress], ['192.0.2.1', '127.0.0.1'])
  })
})

describe('identitiesOf', () => {
  test('is empty without a certificate', () => {
    for (const env of [undefined, {}, { incoming: { socket: {} } }]) {
      assert.deepEqual(identitiesOf(env), [])
    }
  })

  test('is empty for an authorized socket without a certificate, as on Deno', (t) => {
    const socket = new TLSSocket(new Socket())
    t.onTestFinished(() => void socket.destroy())
    socket.authorized = true
    socket.getPeerCertificate = () => Object.create(null)
    assert.deepEqual(identitiesOf({ incoming: { socket } }), [])
  })
})
