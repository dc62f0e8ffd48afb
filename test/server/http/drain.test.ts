import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Hono } from 'hono'
import { describe, type TestContext, test } from 'vitest'
import { HttpServer } from '../../../src/server/http/http-server.ts'
import { SERVER } from '../../certificates.ts'
import { TcpClient, within } from '../clients.ts'
import { openSession, send } from '../http2-clients.ts'

const LAST_STREAM = 2 ** 31 - 1
const LIMIT_MS = 60_000
const REQUEST = 'GET /now HTTP/1.1\r\nHost: a\r\n\r\n'
const SLOW = REQUEST.replace('/now', '/slow')

type Running = {
  readonly server: HttpServer
  readonly port: number
  /** Resolves once a request for `/slow` is in flight. */
  readonly asked: Promise<void>
  /** Answers requests for `/slow`. */
  readonly answer: () => void
}

async function start(t: TestContext, isSecure: boolean): Promise<Running> {
  const gate = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  const app = new Hono()
    .get('/now', (c) => c.text('now'))
    .get('/slow', async (c) => {
      asked.resolve()
      await gate.promise
      return c.text('slow')
    })
  const server = new HttpServer(app, isSecure ? { tls: { ...SERVER, clientAuth: 'nocert' } } : {})
  t.onTestFinished(() => server.close())
  const port = await server.listen('127.0.0.1', 0)
  return { server, port, asked: asked.promise, answer: gate.resolve }
}

/** Opens a connection of HTTP/1.1 and collects what it receives. */
async function open(port: number): Promise<{ client: TcpClient; text: () => string }> {
  const client = await TcpClient.open(port)
  let text = ''
  client.socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
  })
  return { client, text: () => text }
}

describe('a server that is about to stop', () => {
  test('answers over HTTP/1.1, and closes each connection with its response', async (t) => {
    const { server, port } = await start(t, false)
    const before = await open(port)
    before.client.socket.write(REQUEST)
    await once(before.client.socket, 'data')
    assert.doesNotMatch(before.text(), /connection: close/i)
    server.leave()
    const after = await open(port)
    for (const { client, text } of [before, after]) {
      client.socket.write(REQUEST)
      await within(client.closed, 'the end')
      assert.match(text(), /HTTP\/1\.1 200 OK\r\n(?:.+\r\n)*connection: close\r\n/i)
    }
  })

  test('answers over HTTP/2, and asks each client to leave once it has a request', async (t) => {
    const { server, port } = await start(t, true)
    const before = await openSession(t, port)
    const now = { ':path': '/now' }
    await send(before, now)
    const unused = await openSession(t, port)
    const gone = once(before, 'goaway')
    server.leave()
    const [code, lastStream] = await within(gone, 'GOAWAY')
    assert.deepEqual([code, lastStream], [0, LAST_STREAM])
    for (const session of [unused, await openSession(t, port)]) {
      const leaving = once(session, 'goaway')
      assert.equal((await within(send(session, now), 'the response')).status, 200)
      assert.deepEqual((await within(leaving, 'GOAWAY')).slice(0, 2), [0, LAST_STREAM])
    }
  })

  test('answers what is in flight when it drains, and refuses new connections', async (t) => {
    for (const isSecure of [false, true]) {
      const { server, port, asked, answer } = await start(t, isSecure)
      const session = isSecure ? await openSession(t, port) : undefined
      const plain = isSecure ? undefined : await open(port)
      const response = session && send(session, { ':path': '/slow' })
      plain?.client.socket.write(SLOW)
      await within(asked, 'the request')
      let isDrained = false
      const drained = server.drain(LIMIT_MS).then(() => {
        isDrained = true
      })
      await assert.rejects(TcpClient.open(port), { code: 'ECONNREFUSED' })
      assert.equal(isDrained, false)
      answer()
      if (plain !== undefined) await within(plain.client.closed, 'the end')
      assert.equal((await response)?.body.toString() ?? plain?.text().slice(-4), 'slow')
      await within(drained, 'the end')
    }
  })

  test('closes idle connections when it drains, and waits no longer than its limit', async (t) => {
    const { server, port } = await start(t, false)
    const idle = await open(port)
    idle.client.socket.write(REQUEST)
    await once(idle.client.socket, 'data')
    const silent = await open(port)
    await within(server.drain(300), 'the limit')
    await within(idle.client.closed, 'the end')
    assert.equal(silent.client.socket.destroyed, false)
  })
})
