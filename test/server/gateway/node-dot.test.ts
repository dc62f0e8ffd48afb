import assert from 'node:assert/strict'
import { createHash, X509Certificate } from 'node:crypto'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { describe, type TestContext, test } from 'vitest'
import { hashToken, hostTokenOf } from '../../../src/gateway/access/token.ts'
import { readGatewayConfig } from '../../../src/gateway/config/config.ts'
import { createMemoryGatewayStore } from '../../../src/gateway/snapshots/store.ts'
import { createNodeGateway, type GatewayServer } from '../../../src/server/gateway/node-gateway.ts'
import { AUTHORITY, CLIENT, SERVER } from '../../certificates.ts'
import { tokenRecord } from '../../gateway/tokens.ts'
import { formatReply, parseQuestion } from '../../message-text.ts'
import { frame } from '../clients.ts'

const COREFILE = '. {\n  hosts {\n    192.0.2.34 www.shop.test\n    fallthrough\n  }\n  whoami\n}\n'
const TOKEN_DOMAIN = 'doh.example.org'
const { token, record } = await tokenRecord()
const HOST = `${await hostTokenOf(token)}.${TOKEN_DOMAIN}`
const CERTIFICATE = createHash('sha256').update(new X509Certificate(CLIENT.cert).raw).digest('hex')
const TLS = { ...SERVER, ca: AUTHORITY, clientAuth: 'request' } as const
const query = (id: number): Uint8Array => parseQuestion(`www.shop.test A +edns +id=${id}`).message

/** A gateway, its port, and what it logs. */
async function start(
  t: TestContext,
): Promise<{ readonly server: GatewayServer; readonly port: number; readonly logged: object[] }> {
  const config = await readGatewayConfig({ COREFILE, TOKEN_DOMAIN })
  const store = createMemoryGatewayStore()
  await store.tokenStore.add(record)
  const identities = [`cert:${CERTIFICATE}`]
  await store.tokenStore.add({ ...record, id: 'ffffffffffff', secrets: [], identities })
  const logged: object[] = []
  const log = (event: object): void => void logged.push(event)
  const server = await createNodeGateway({ config, store, corefileFolder: '/', tls: TLS, log })
  t.onTestFinished(() => server.close())
  const port = (await server.listenDot?.('127.0.0.1', 0)) ?? assert.fail('it has a certificate')
  return { server, port, logged }
}

async function open(
  t: TestContext,
  port: number,
  options: ConnectionOptions = { servername: HOST },
): Promise<TLSSocket> {
  const trust = { ca: AUTHORITY, checkServerIdentity: () => undefined, ALPNProtocols: ['dot'] }
  const socket = connect({ port, host: '127.0.0.1', ...trust, ...options })
  t.onTestFinished(() => void socket.destroy())
  socket.on('error', () => undefined)
  await new Promise((resolve) => socket.once('secureConnect', resolve))
  return socket
}

/** Sends messages at once, and returns as many responses by their identifiers. */
function ask(socket: TLSSocket, ...messages: Uint8Array[]): Promise<Map<number, string[]>> {
  const replies = new Map<number, string[]>()
  return new Promise((resolve, reject) => {
    let rest = Buffer.alloc(0)
    socket.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk])
      while (rest.length >= 2 && rest.length >= 2 + rest.readUInt16BE()) {
        const end = 2 + rest.readUInt16BE()
        replies.set(rest.readUInt16BE(2), formatReply(new Uint8Array(rest.subarray(2, end))))
        rest = rest.subarray(end)
      }
      if (replies.size === messages.length) resolve(replies)
    })
    socket.once('close', () => reject(new Error('the connection is closed')))
    socket.write(Buffer.concat(messages.map((message) => frame(message))))
  })
}

describe('DNS over TLS at a gateway', () => {
  test('is by ALPN "dot", and answers pipelined queries, also in one write', async (t) => {
    const { port, logged } = await start(t)
    const socket = await open(t, port)
    assert.equal(socket.alpnProtocol, 'dot')
    const replies = await ask(socket, ...Array.from({ length: 40 }, (_, i) => query(i + 1)))
    for (const [status, record] of replies.values()) {
      assert.match(status ?? '', /^NOERROR/)
      assert.match(record ?? '', /192\.0\.2\.34$/)
    }
    assert.ok(!JSON.stringify(logged).includes(HOST.slice(0, 26)))
  })

  test("knows the client's port, as of a token that is new to it", async (t) => {
    const { port } = await start(t)
    const socket = await open(t, port)
    const { localPort } = socket
    for (const id of [1, 2]) {
      const replies = await ask(socket, parseQuestion(`who.shop.test A +id=${id}`).message)
      socket.removeAllListeners('data')
      assert.match(replies.get(id)?.join() ?? '', new RegExp(` SRV 0 0 ${localPort} `))
    }
  })

  const refused: { readonly name: string; readonly options: ConnectionOptions }[] = [
    { name: 'no server name', options: { servername: '' } },
    { name: 'another one', options: { servername: TOKEN_DOMAIN } },
    {
      name: 'a wrong letter',
      options: { servername: HOST.replace(/^./, (c) => (c === '0' ? '1' : '0')) },
    },
  ]
  for (const { name, options } of refused) {
    test(`answers REFUSED to ${name}, and keeps the connection`, async (t) => {
      const { port } = await start(t)
      const socket = await open(t, port, options)
      assert.match((await ask(socket, query(1))).get(1)?.[0] ?? '', /^REFUSED/)
      assert.equal(socket.closed, false)
    })
  }

  test('takes a name in upper case, and a known certificate without a name', async (t) => {
    const { port } = await start(t)
    const upper = await open(t, port, { servername: HOST.toUpperCase() })
    assert.match((await ask(upper, query(1))).get(1)?.[0] ?? '', /^NOERROR/)
    const known = await open(t, port, { servername: '', ...CLIENT })
    assert.match((await ask(known, query(2))).get(2)?.[0] ?? '', /^NOERROR/)
  })

  test('refuses a revoked token on an open connection', async (t) => {
    const { server, port } = await start(t)
    const socket = await open(t, port)
    await ask(socket, query(1))
    const config = await readGatewayConfig({ COREFILE, TOKEN_DOMAIN: 'other.example.org' })
    await server.reload(config)
    socket.removeAllListeners('data')
    assert.match((await ask(socket, query(2))).get(2)?.[0] ?? '', /^REFUSED/)
  })

  test('presents a renewed certificate, and answers until it has lingered', async (t) => {
    const { server, port } = await start(t)
    const socket = await open(t, port)
    server.renew({ ...TLS, cert: CLIENT.cert, key: CLIENT.key })
    const next = await open(t, port, { servername: HOST, rejectUnauthorized: false })
    assert.equal(
      next.getPeerX509Certificate()?.raw.equals(new X509Certificate(CLIENT.cert).raw),
      true,
    )
    const drained = server.drain(300)
    assert.match((await ask(socket, query(1))).get(1)?.[0] ?? '', /^NOERROR/)
    const late = await open(t, port)
    assert.match((await ask(late, query(2))).get(2)?.[0] ?? '', /^NOERROR/)
    for (const one of [socket, next, late]) one.end()
    await drained
    await assert.rejects(
      new Promise((resolve, reject) => {
        const refusedSocket = connect({ port, host: '127.0.0.1' }, () => resolve(undefined))
        refusedSocket.once('error', reject)
      }),
    )
  })

  test('is over for a client without a query when the gateway stops', async (t) => {
    const { server, port } = await start(t)
    const socket = await open(t, port)
    await ask(socket, query(1))
    let isOver = false
    socket.once('end', () => {
      isOver = true
    })
    await server.drain(0)
    // Otherwise the limit of 5 s has passed.
    assert.equal(isOver, true)
  })

  test('is not offered without a certificate', async (t) => {
    const config = await readGatewayConfig({ COREFILE, CLIENT_TOKEN_SHA256: await hashToken('x') })
    const store = createMemoryGatewayStore()
    const log = (): void => undefined
    const server = await createNodeGateway({
      config,
      store,
      corefileFolder: '/',
      tls: undefined,
      log,
    })
    t.onTestFinished(() => server.close())
    assert.equal(server.listenDot, undefined)
  })
})
