import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { describe, type TestContext, test } from 'vitest'
import type { DohRequest } from '../../../src/gateway/doh/doh-client.ts'
import { tlsOptions } from '../../../src/server/keys/tls-identity.ts'
import { HttpsFetch } from '../../../src/server/upstream/https-fetch.ts'
import { AUTHORITY } from '../../certificates.ts'
import { LONG_MS, SHORT_MS } from '../answer-samples.ts'
import { type FakeServer, listening, within } from '../clients.ts'
import { fakeHttp2, fakeHttps, type StreamRequest } from '../secure-servers.ts'

const WIRE = 'application/dns-message'

/** Requests to a server at 127.0.0.1, ended with the test. */
function fetchFrom(t: TestContext, { port }: FakeServer): HttpsFetch {
  const address = '127.0.0.1'
  const upstream = { transport: 'https', address, port, url: `https://localhost:${port}/` } as const
  const tls = tlsOptions(upstream, { ca: AUTHORITY })
  const kept = { expireMs: LONG_MS, idleMax: 0, sourceAddress: undefined }
  const https = new HttpsFetch({ address, port, tls, ...kept })
  t.onTestFinished(() => https.close())
  return https
}

/** A server that passes connections on to another one, the held ones after `release`. */
async function heldProxy(
  t: TestContext,
  { port }: FakeServer,
): Promise<FakeServer & { readonly release: (which?: 'later ones') => void }> {
  const held: (() => void)[] = []
  let isOpen = false
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    const pass = (): void => {
      const upstream = connect(port, '127.0.0.1')
      sockets.add(upstream)
      for (const one of [socket, upstream]) one.on('error', () => undefined)
      socket.pipe(upstream).pipe(socket)
    }
    sockets.add(socket)
    if (isOpen) pass()
    else held.push(pass)
  })
  const started = await listening(t, server, () => {
    for (const socket of sockets) socket.destroy()
  })
  const release = (which?: 'later ones'): void => {
    isOpen = true
    if (which === undefined) for (const pass of held) pass()
  }
  return { ...started, release }
}

function request(fields: Partial<DohRequest> = {}): DohRequest {
  const signal = AbortSignal.timeout(LONG_MS)
  return { method: 'GET', headers: { accept: WIRE }, redirect: 'manual', signal, ...fields }
}

/** Answers with the request's method, path and body as text. */
function tellBack({ method, path, body, stream }: StreamRequest): void {
  stream.respond({ ':status': 200, 'content-type': WIRE, age: '7' })
  stream.end(`${method} ${path} ${Buffer.from(body)}`)
}

describe('requests over HTTP/2', () => {
  test('go on one connection, many at a time', async (t) => {
    const server = await fakeHttp2(t, tellBack)
    const https = fetchFrom(t, server)
    const asked = Array.from({ length: 30 }, (_, i) =>
      https.fetch(`https://localhost/q?dns=${i}`, request()),
    )
    const texts = await Promise.all((await Promise.all(asked)).map((one) => one.text()))
    assert.deepEqual(
      texts,
      Array.from({ length: 30 }, (_, i) => `GET /q?dns=${i} `),
    )
    assert.equal(server.sessions.size, 1)
  })

  test('have a body, and their responses status, type, age and body', async (t) => {
    const https = fetchFrom(t, await fakeHttp2(t, tellBack))
    const body = new TextEncoder().encode('query')
    const response = await https.fetch('https://localhost/q', request({ method: 'POST', body }))
    assert.equal(response.status, 200)
    assert.deepEqual(
      [...response.headers],
      [
        ['age', '7'],
        ['content-type', WIRE],
      ],
    )
    assert.equal(await response.text(), 'POST /q query')
  })

  test('go on another connection when the one that was kept is over', async (t) => {
    const server = await fakeHttp2(t, tellBack)
    const https = fetchFrom(t, server)
    for (const end of ['close', 'destroy'] as const) {
      await https.fetch('https://localhost/1', request())
      for (const session of server.sessions) if (!session.destroyed) session[end]()
      const response = await https.fetch('https://localhost/2', request())
      assert.equal(await response.text(), 'GET /2 ')
    }
  })

  test('end in time', async (t) => {
    const https = fetchFrom(t, await fakeHttp2(t, () => undefined))
    const signal = AbortSignal.timeout(SHORT_MS)
    await assert.rejects(https.fetch('https://localhost/', request({ signal })), {
      message: 'no response over HTTPS in time',
    })
  })

  test('leave a connection on which nothing arrives any more, and only such a one', async (t) => {
    const server = await fakeHttp2(t, (asked) => {
      if (asked.path !== '/silent') tellBack(asked)
    })
    const https = fetchFrom(t, server)
    const ask = async (path: string, signal = AbortSignal.timeout(LONG_MS)): Promise<void> => {
      await https.fetch(`https://localhost${path}`, request({ signal }))
    }
    await ask('/first')
    const late = new AbortController()
    const slow = assert.rejects(ask('/silent', late.signal))
    await ask('/second')
    late.abort()
    await slow
    await ask('/second')
    assert.equal(server.sessions.size, 1)
    await assert.rejects(ask('/silent', AbortSignal.timeout(SHORT_MS)))
    await ask('/third')
    assert.equal(server.sessions.size, 2)
  })

  test('are repeated on a connection that is not older than their first attempt', async (t) => {
    const server = await fakeHttp2(t, tellBack)
    const https = fetchFrom(t, server)
    const ask = (ageMsMax?: number): Promise<Response> =>
      https.fetch('https://localhost/', request(), ageMsMax)
    await ask()
    const [first] = server.sessions
    const closed = first && once(first, 'close')
    await Promise.all([ask(), ask()])
    assert.equal(server.sessions.size, 1)
    await new Promise((resolve) => setTimeout(resolve, 2))
    await Promise.all([ask(0), ask(LONG_MS), ask(LONG_MS)])
    assert.equal(server.sessions.size, 2)
    await within(closed ?? Promise.reject(new Error('no session')), 'the end of the older one')
  })

  test('wait for a connection that an earlier request began and gave up', async (t) => {
    const server = await fakeHttp2(t, tellBack)
    const held = await heldProxy(t, server)
    const https = fetchFrom(t, held)
    const signal = AbortSignal.timeout(SHORT_MS)
    const early = assert.rejects(https.fetch('https://localhost/1', request({ signal })), {
      message: 'no response over HTTPS in time',
    })
    const waiting = https.fetch('https://localhost/2', request())
    await early
    held.release()
    assert.equal(await (await waiting).text(), 'GET /2 ')
    assert.equal(server.sessions.size, 1)
  })

  test('begin another connection after one that took too long', async (t) => {
    const server = await fakeHttp2(t, tellBack)
    const held = await heldProxy(t, server)
    const https = fetchFrom(t, held)
    const signal = AbortSignal.timeout(SHORT_MS)
    await assert.rejects(https.fetch('https://localhost/1', request({ signal })))
    held.release('later ones')
    const response = await https.fetch('https://localhost/2', request())
    assert.equal(await response.text(), 'GET /2 ')
  })

  test('keep the connection when the caller ends a request', async (t) => {
    const server = await fakeHttp2(t, (asked) => {
      if (asked.path !== '/silent') tellBack(asked)
    })
    const https = fetchFrom(t, server)
    await https.fetch('https://localhost/first', request())
    const caller = new AbortController()
    const { signal } = caller
    const slow = assert.rejects(https.fetch('https://localhost/silent', request({ signal })))
    caller.abort()
    await slow
    await https.fetch('https://localhost/second', request())
    assert.equal(server.sessions.size, 1)
  })

  test('bound the response to the size of a message', async (t) => {
    const server = await fakeHttp2(t, ({ stream }) => {
      stream.respond({ ':status': 200 })
      stream.end(new Uint8Array(65_536))
    })
    const asked = fetchFrom(t, server).fetch('https://localhost/', request())
    await assert.rejects(asked, { message: 'the response exceeds 65535 bytes' })
  })

  test('report an incomplete response', async (t) => {
    const server = await fakeHttp2(t, ({ stream }) => {
      stream.respond({ ':status': 200 })
      stream.write('half', () => stream.session?.destroy())
    })
    await assert.rejects(fetchFrom(t, server).fetch('https://localhost/', request()))
  })
})

describe('requests over HTTP/1.1', () => {
  test('go one after the other on one connection', async (t) => {
    const ports = new Set<number | undefined>()
    const server = await fakeHttps(t, ({ socket, url, headers }, response) => {
      ports.add(socket.remotePort)
      response.writeHead(200, { 'content-type': WIRE }).end(`${headers.host} ${url}`)
    })
    const https = fetchFrom(t, server)
    for (let i = 0; i < 3; i++) {
      const response = await https.fetch(`https://localhost/${i}`, request())
      assert.equal(await response.text(), `localhost /${i}`)
    }
    assert.equal(ports.size, 1)
  })

  test('leave all idle connections when one of them gave no response in time', async (t) => {
    let isSilent = false
    const old = new Set<Socket>()
    const server = await fakeHttps(t, ({ socket }, response) => {
      if (!isSilent) old.add(socket)
      if (!isSilent || !old.has(socket)) response.writeHead(200, { 'content-type': WIRE }).end()
    })
    const https = fetchFrom(t, server)
    const ask = (fields?: Partial<DohRequest>): Promise<Response> =>
      https.fetch('https://localhost/', request(fields))
    await Promise.all(Array.from({ length: 8 }, () => ask()))
    const closed = Promise.all([...old].map((socket) => once(socket, 'close')))
    isSilent = true
    await assert.rejects(ask({ signal: AbortSignal.timeout(SHORT_MS) }))
    assert.equal((await ask()).status, 200)
    await within(closed, 'the end of eight connections')
  })

  test('are repeated on a new connection', async (t) => {
    const ports = new Set<number | undefined>()
    const server = await fakeHttps(t, ({ socket }, response) => {
      ports.add(socket.remotePort)
      response.writeHead(200, { 'content-type': WIRE }).end()
    })
    const https = fetchFrom(t, server)
    for (const ageMsMax of [undefined, 0, undefined]) {
      await https.fetch('https://localhost/', request(), ageMsMax)
    }
    assert.equal(ports.size, 2)
  })

  test('return any status', async (t) => {
    const https = fetchFrom(
      t,
      await fakeHttps(t, ({ url = '' }, response) => {
        response.writeHead(Number(url.slice(1))).end()
      }),
    )
    for (const [status, expected] of [
      [204, 204],
      [404, 404],
      [999, 502],
    ]) {
      const response = await https.fetch(`https://localhost/${status}`, request())
      assert.equal(response.status, expected)
    }
  })
})

test('reject a certificate for another name', async (t) => {
  let count = 0
  const server = await fakeHttp2(t, () => count++)
  const { port } = server
  const upstream = {
    transport: 'https',
    address: '127.0.0.1',
    port,
    url: 'https://a.test/',
  } as const
  const tls = tlsOptions(upstream, { ca: AUTHORITY })
  const kept = { expireMs: LONG_MS, idleMax: 0, sourceAddress: undefined }
  const https = new HttpsFetch({ address: '127.0.0.1', port, tls, ...kept })
  await within(
    assert.rejects(https.fetch('https://a.test/', request()), /altnames/),
    'the refusal of a certificate',
  )
  assert.equal(count, 0)
})
