import assert from 'node:assert/strict'
import { connect } from 'node:tls'
import { describe, type TestContext, test } from 'vitest'
import { MessageStream } from '../../../src/dns/wire/message-stream.ts'
import type { Client } from '../../../src/resolver/contract/client.ts'
import type { ClientAuth } from '../../../src/resolver/contract/feature.ts'
import { checkIdentity } from '../../../src/server/keys/tls-service.ts'
import { TCP_LIMITS, TcpServer } from '../../../src/server/sockets/tcp-server.ts'
import { AUTHORITY, type Certificate, CLIENT, SERVER, STRANGER } from '../../certificates.ts'
import { echo, frame, queryWith, within } from '../clients.ts'

/** Asks a server over TLS, with a certificate or without; false when it ends the connection. */
async function isServed(
  port: number,
  certificate: Certificate | undefined,
  session?: Buffer,
): Promise<{ isServed: boolean; session: Buffer | undefined; alpn: string | false | null }> {
  const socket = connect({
    port,
    host: '127.0.0.1',
    ca: AUTHORITY,
    ALPNProtocols: ['dot'],
    ...certificate,
    ...(session && { session }),
  })
  let given: Buffer | undefined
  socket.on('session', (one) => {
    given = one
  })
  socket.on('error', () => undefined)
  const answered = new Promise<boolean>((resolve) => {
    const stream = new MessageStream(() => resolve(true))
    socket.on('data', (chunk: Buffer) => stream.push(chunk))
    socket.on('close', () => resolve(false))
  })
  socket.on('secureConnect', () => socket.write(frame(queryWith(7))))
  const isAnswered = await within(answered, 'an answer or the end')
  const alpn = socket.alpnProtocol
  socket.destroy()
  return { isServed: isAnswered, session: given, alpn }
}

async function serverAsking(
  t: TestContext,
  clientAuth: ClientAuth,
  clients: Client[] = [],
): Promise<number> {
  const server = new TcpServer(
    () => (message, client) => {
      clients.push(client)
      return echo(message)
    },
    () => TCP_LIMITS,
    { ...SERVER, ca: AUTHORITY, clientAuth },
  )
  t.onTestFinished(() => server.close())
  return server.listen('127.0.0.1', 0)
}

describe('client authentication', () => {
  const cases: { clientAuth: ClientAuth; none: boolean; ours: boolean; strange: boolean }[] = [
    { clientAuth: 'nocert', none: true, ours: true, strange: true },
    { clientAuth: 'request', none: true, ours: true, strange: true },
    { clientAuth: 'require', none: false, ours: true, strange: true },
    { clientAuth: 'verify_if_given', none: true, ours: true, strange: false },
    { clientAuth: 'require_and_verify', none: false, ours: true, strange: false },
  ]
  for (const { clientAuth, none, ours, strange } of cases) {
    test(`with ${clientAuth}`, async (t) => {
      const port = await serverAsking(t, clientAuth)
      assert.equal((await isServed(port, undefined)).isServed, none, 'without a certificate')
      assert.equal((await isServed(port, CLIENT)).isServed, ours, 'with one of our authority')
      assert.equal((await isServed(port, STRANGER)).isServed, strange, 'with that of a stranger')
    })
  }

  test('is the same when the session is resumed', async (t) => {
    const port = await serverAsking(t, 'require_and_verify')
    const { session } = await isServed(port, CLIENT)
    assert.ok(session)
    assert.equal((await isServed(port, CLIENT, session)).isServed, true)
    assert.equal((await isServed(port, STRANGER)).isServed, false)
  })

  test('serves DNS over TLS, with that transport for plugins', async (t) => {
    const clients: Client[] = []
    const port = await serverAsking(t, 'nocert', clients)
    assert.equal((await isServed(port, undefined)).alpn, 'dot')
    assert.deepEqual(
      clients.map(({ transport, address, localPort }) => [transport, address, localPort]),
      [['tls', '127.0.0.1', port]],
    )
  })
})

test('rejects other ALPN protocols', async (t) => {
  const port = await serverAsking(t, 'nocert')
  const other = connect({ port, host: '127.0.0.1', ca: AUTHORITY, ALPNProtocols: ['h2'] })
  other.on('error', () => undefined)
  await within(new Promise((resolve) => other.on('close', resolve)), 'the end')
  assert.equal(other.authorized, false)
})

describe('checkIdentity', () => {
  test('accepts a matching certificate and key', () => {
    checkIdentity({ ...SERVER, ca: AUTHORITY })
    checkIdentity(SERVER)
  })
  for (const { name, identity } of [
    { name: 'the key of another', identity: { cert: SERVER.cert, key: CLIENT.key } },
    { name: 'no certificate', identity: { cert: 'x', key: SERVER.key } },
    { name: 'no key', identity: { cert: SERVER.cert, key: '' } },
    { name: 'an invalid authority', identity: { ...SERVER, ca: 'x' } },
  ]) {
    test(`refuses ${name}`, () => {
      assert.throws(() => checkIdentity(identity))
    })
  }
})
