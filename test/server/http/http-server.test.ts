import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Server } from 'node:http'
import { connect as connectTls } from 'node:tls'
import { Hono } from 'hono'
import { describe, test, vi } from 'vitest'
import type { ConnectionBounds } from '../../../src/resolver/contract/feature.ts'
import { remoteOf } from '../../../src/server/http/http-request.ts'
import { type HttpOptions, HttpServer } from '../../../src/server/http/http-server.ts'
import { AUTHORITY, CLIENT, SERVER, STRANGER } from '../../certificates.ts'
import { TcpClient, within } from '../clients.ts'
import { openSession, secureServer, send } from '../http2-clients.ts'
import { sendRaw, withServer } from '../raw-http.ts'

const { Request: REQUEST, Response: RESPONSE } = globalThis

describe('HttpServer', () => {
  test('serves an app with both ends of the connection', async () => {
    const app = new Hono().get('/who', (c) => c.json(remoteOf(c.env)))
    await withServer(app, async (port) => {
      const client = await TcpClient.open(port)
      const { localPort } = client.socket
      const chunks: string[] = []
      client.socket.on('data', (chunk) => chunks.push(chunk.toString('latin1')))
      client.socket.write('GET /who HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
      await within(client.closed, 'the end')
      const body = chunks.join('').split('\r\n\r\n')[1] ?? ''
      const address = '127.0.0.1'
      const from = { address, port: localPort }
      assert.deepEqual(JSON.parse(body), { ...from, localAddress: address, localPort: port })
    })
  })

  test('listens on all addresses without a host', async (t) => {
    const server = new HttpServer(new Hono().get('/', (c) => c.text('here')))
    t.onTestFinished(() => server.close())
    const port = await server.listen(undefined, 0)
    const response = await fetch(`http://127.0.0.1:${port}/`)
    assert.equal(await response.text(), 'here')
  })

  test('rejects when the port is in use', async () => {
    await withServer(new Hono(), async (port) => {
      const second = new HttpServer(new Hono())
      await assert.rejects(second.listen('127.0.0.1', port), { code: 'EADDRINUSE' })
    })
  })

  test('close ends open connections', async () => {
    const connections: TcpClient[] = []
    const app = new Hono().get('/', () => new Promise<Response>(() => undefined))
    await withServer(app, async (port) => {
      for (const request of ['', 'GET / HTTP/1.1\r\nHost: a\r\n\r\n', 'GET / HT']) {
        const client = await TcpClient.open(port)
        client.socket.write(request)
        connections.push(client)
      }
      // A response on a later connection means that the server has accepted the earlier ones.
      assert.equal((await fetch(`http://127.0.0.1:${port}/other`)).status, 404)
    })
    await within(Promise.all(connections.map(({ closed }) => closed)), 'the end')
  })

  test('replaces no globals', () => {
    new HttpServer(new Hono())
    assert.equal(globalThis.Request, REQUEST)
    assert.equal(globalThis.Response, RESPONSE)
  })

  test('bounds the time of requests', async () => {
    const servers = new Set<Server>()
    const { emit } = Server.prototype
    vi.spyOn(Server.prototype, 'emit').mockImplementation(function (this: Server, ...args) {
      servers.add(this)
      return Reflect.apply(emit, this, args)
    })
    await withServer(new Hono(), async () => undefined)
    for (const { headersTimeout, requestTimeout } of servers) {
      assert.ok(0 < headersTimeout && headersTimeout <= requestTimeout)
      assert.ok(requestTimeout <= 30_000)
    }
    assert.equal(servers.size, 1)
  })

  const slow: { name: string; bounds: ConnectionBounds; sent: string; reply: RegExp }[] = [
    {
      name: 'does not wait forever for the rest of a request',
      bounds: { readMs: 100 },
      sent: 'GET / HTTP/1.1\r\nHost: a\r\n',
      reply: /^HTTP\/1\.1 408 /,
    },
    {
      name: 'does not keep an idle connection forever',
      bounds: { idleMs: 100 },
      sent: 'GET / HTTP/1.1\r\nHost: a\r\n\r\n',
      reply: /^HTTP\/1\.1 200 [\s\S]*Keep-Alive: timeout=/i,
    },
    {
      name: 'does not keep a silent connection forever',
      bounds: { writeMs: 100 },
      sent: 'GET /never HTTP/1.1\r\nHost: a\r\n\r\n',
      reply: /^$/,
    },
  ]
  for (const { name, bounds, sent, reply } of slow) {
    test(name, async () => {
      const app = new Hono()
        .get('/', (c) => c.text('here'))
        .get('/never', () => new Promise<Response>(() => undefined))
      const run = async (port: number): Promise<void> => {
        assert.match(await sendRaw(port, sent), reply)
      }
      await withServer(app, run, { bounds: () => bounds })
    })
  }
})

describe('HttpServer with duplicate headers', () => {
  test('joins them for direct as for the app', async () => {
    const seen: (string | undefined)[] = []
    const app = new Hono().get('/', (c) => {
      seen.push(c.req.header('authorization'))
      return c.text('here')
    })
    const direct: NonNullable<HttpOptions['direct']> = (head) => {
      seen.push(head.header('authorization'))
      return undefined
    }
    const headers = 'Host: a\r\nAuthorization: Bearer a\r\nauthorization: Bearer b\r\n'
    const sent = `GET / HTTP/1.1\r\n${headers}Connection: close\r\n\r\n`
    await withServer(app, async (port) => void (await sendRaw(port, sent)), { direct })
    assert.deepEqual(seen, ['Bearer a, Bearer b', 'Bearer a, Bearer b'])
  })
})

describe('HttpServer over TLS', () => {
  const app = new Hono().all('*', (c) => c.text(`${c.req.method} ${new URL(c.req.url).pathname}`))

  for (const protocols of [['http/1.1'], undefined]) {
    test(`speaks HTTP/1.1 with a client that offers ${protocols?.[0] ?? 'nothing'}`, async (t) => {
      const port = await secureServer(t, app)
      const options = { port, host: '127.0.0.1', ca: AUTHORITY }
      const socket = connectTls({ ...options, ...(protocols && { ALPNProtocols: protocols }) })
      t.onTestFinished(() => void socket.destroy())
      socket.end('GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
      let text = ''
      socket.on('data', (chunk: Buffer) => {
        text += chunk.toString()
      })
      await within(once(socket, 'close'), 'the end')
      assert.match(text, /^HTTP\/1\.1 200 OK[\s\S]*GET \/a$/)
    })
  }

  test('ends slow HTTP/1.1 requests', async (t) => {
    const port = await secureServer(t, app, { bounds: () => ({ readMs: 100 }) })
    const options = { port, host: '127.0.0.1', ca: AUTHORITY, ALPNProtocols: ['http/1.1'] }
    const socket = connectTls(options, () => socket.write('GET / HT'))
    const [chunk] = await within(once(socket, 'data'), 'an answer')
    assert.match(String(chunk), /^HTTP\/1\.1 408 /)
    socket.destroy()
  })

  for (const [clientAuth, certificate, isWelcome] of [
    ['require_and_verify', undefined, false],
    ['require_and_verify', STRANGER, false],
    ['require_and_verify', CLIENT, true],
    ['verify_if_given', undefined, true],
  ] as const) {
    const who =
      certificate === undefined ? 'nobody' : certificate === CLIENT ? 'a client' : 'others'
    test(`${isWelcome ? 'accepts' : 'refuses'} ${who} with ${clientAuth}`, async (t) => {
      const tls = { ...SERVER, ca: AUTHORITY, clientAuth }
      const port = await secureServer(t, app, { tls })
      const session = await openSession(t, port, { ...certificate })
      const pending = send(session, { ':path': '/' }).then(
        ({ status }) => status,
        () => undefined,
      )
      assert.equal((await within(pending, 'an answer or the end')) === 200, isWelcome)
    })
  }

  test('drops idle connections for new ones, but none that waits for a response', async (t) => {
    const { promise, resolve } = Promise.withResolvers<Response>()
    const waiting = Promise.withResolvers<void>()
    const slow = new Hono().get('/slow', () => {
      waiting.resolve()
      return promise
    })
    const port = await secureServer(t, slow, { connectionsMax: 4 })
    const silent = await TcpClient.open(port)
    const first = await openSession(t, port)
    const pending = send(first, { ':path': '/slow' })
    await within(waiting.promise, 'the request')
    const second = await openSession(t, port)
    await within(silent.closed, 'the end of the silent one')
    assert.equal((await send(second, { ':path': '/' })).status, 404)
    const third = await openSession(t, port)
    assert.equal((await send(third, { ':path': '/' })).status, 404)
    assert.ok(second.closed || second.destroyed)
    resolve(new Response('late'))
    assert.equal((await within(pending, 'the response')).status, 200)
  })

  test('drops a request with an unfinished body for a new connection', async (t) => {
    const begun = Promise.withResolvers<void>()
    const reading = new Hono().post('/', async ({ req }) => {
      begun.resolve()
      return new Response(await req.text().catch(() => ''))
    })
    const server = new HttpServer(reading, { connectionsMax: 4 })
    t.onTestFinished(() => server.close())
    const port = await server.listen('127.0.0.1', 0)
    const unfinished = await TcpClient.open(port)
    unfinished.socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nx')
    await within(begun.promise, 'the request')
    // One client may have two: the third replaces the one that has been idle longest.
    for (let i = 0; i < 2; i++) await TcpClient.open(port)
    await within(unfinished.closed, 'the end of the unfinished one')
  })

  test('closes a connection that never starts its handshake', async (t) => {
    const port = await secureServer(t, app, { bounds: () => ({ readMs: 100 }) })
    for (const bytes of ['', '\x16\x03\x01\x02\x00\x01']) {
      const client = await TcpClient.open(port)
      client.socket.write(bytes, 'latin1')
      await within(client.closed, 'the end')
    }
  })

  test('renew replaces the certificate and keeps connections', async (t) => {
    const server = new HttpServer(app, { tls: { ...SERVER, clientAuth: 'nocert' } })
    t.onTestFinished(() => server.close())
    const port = await server.listen('127.0.0.1', 0)
    const before = await openSession(t, port)
    server.renew({ ...STRANGER, clientAuth: 'nocert' })
    await assert.rejects(
      new Promise((_, reject) =>
        connectTls({ port, host: '127.0.0.1', ca: AUTHORITY }).on('error', reject),
      ),
    )
    assert.equal((await send(before, { ':path': '/' })).status, 200)
  })

  test('close ends all connections', async (t) => {
    const server = new HttpServer(app, { tls: { ...SERVER, clientAuth: 'nocert' } })
    const port = await server.listen('127.0.0.1', 0)
    const sessions = await Promise.all([1, 2].map(() => openSession(t, port)))
    const ends = sessions.map((one) => new Promise((resolve) => one.once('close', resolve)))
    assert.equal((await send(sessions[0] ?? never(), { ':path': '/' })).status, 200)
    await within(server.close(), 'the end')
    await within(Promise.all(ends), 'the end of the connections')
  })
})

function never(): never {
  throw new Error('There is always a session')
}
