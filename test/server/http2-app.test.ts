import assert from 'node:assert/strict'
import { once } from 'node:events'
import { constants } from 'node:http2'
import { Hono } from 'hono'
import { describe, test } from 'vitest'
import { identitiesOf, remoteOf } from '../../src/server/http/http-request.ts'
import { block, FLAG, FRAME, frame, preface, uint32 } from '../attack/http2-wire.ts'
import { within } from './clients.ts'
import { openRaw, openSession, secureServer, send } from './http2-clients.ts'

const MIB = 1_048_576

/** Bytes whose values give their position. */
function octets(size: number): Buffer {
  return Buffer.from(Uint8Array.from({ length: size }, (_, i) => i ^ (i >>> 8) ^ (i >>> 16)))
}

/** Echoes the request's head and body. */
const ECHO = new Hono()
  .get('/what', (c) => {
    const { method, url, headers } = c.req.raw
    return c.json({ method, url, headers: [...headers] })
  })
  .get('/who', (c) => c.json([remoteOf(c.env), identitiesOf(c.env)]))
  .get('/many', (c) => {
    c.header('set-cookie', 'a=1', { append: true })
    c.header('set-cookie', 'b=2', { append: true })
    c.header('connection', 'close')
    return c.text('many')
  })
  .get('/large', () => new Response(new Uint8Array(octets(3 * MIB))))
  .get('/not-modified', () => new Response(null, { status: 304 }))
  .get('/nothing', () => new Response(null, { status: 204 }))
  .get('/wrong', () => Promise.reject(new Error('no')))
  .post('/echo', (c) => new Response(c.req.raw.body))
  .post('/size', async (c) => c.text(String((await c.req.arrayBuffer()).byteLength)))

describe('a request over HTTP/2', () => {
  test('reaches the app unchanged', async (t) => {
    const session = await openSession(t, await secureServer(t, ECHO))
    const headers = { ':path': '/what?a=b', ':authority': 'a.example:8443', cookie: ['x=1', 'y=2'] }
    const { body } = await send(session, { ...headers, 'x-other': 'a' })
    assert.deepEqual(JSON.parse(body.toString()), {
      method: 'GET',
      url: 'https://a.example:8443/what?a=b',
      headers: [
        ['cookie', 'x=1; y=2'],
        ['x-other', 'a'],
      ],
    })
  })

  test('may contain every field character, with Huffman codes of all lengths', async (t) => {
    const session = await openSession(t, await secureServer(t, ECHO))
    const all = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code))
    const text = all.filter((one) => /[\t -~\x80-\xff]/.test(one)).join('')
    for (const value of [`a${text}a`, `a${[...text].reverse().join('')}a`]) {
      const { body } = await send(session, { ':path': '/what', 'x-all': value })
      assert.deepEqual(JSON.parse(body.toString()).headers, [['x-all', value]])
    }
  })

  test("carries the client's address", async (t) => {
    const port = await secureServer(t, ECHO)
    const session = await openSession(t, port)
    const [ends, who] = JSON.parse(String((await send(session, { ':path': '/who' })).body))
    assert.deepEqual([ends.address, ends.localPort, who], ['127.0.0.1', port, []])
    assert.equal(ends.port, session.socket.localPort)
  })

  for (const [name, settings] of [
    ['windows as they are', {}],
    ['tiny windows', { initialWindowSize: 100 }],
    ['large windows', { initialWindowSize: 10 * MIB, maxFrameSize: MIB }],
  ] as const) {
    test(`has large bodies in both directions, with ${name}`, async (t) => {
      const session = await openSession(t, await secureServer(t, ECHO), { settings })
      const large = octets(name === 'tiny windows' ? 100_000 : 3 * MIB)
      const headers = { ':path': '/echo', ':method': 'POST' }
      const bodies = await Promise.all([1, 2, 3].map(() => send(session, headers, large)))
      for (const { status, body } of bodies) {
        assert.equal(status, 200)
        assert.ok(body.equals(large))
      }
    })
  }

  test('may get a large response while others pass it', async (t) => {
    const session = await openSession(t, await secureServer(t, ECHO))
    const slow = session.request({ ':path': '/large' })
    slow.pause()
    await once(slow, 'response')
    for (let i = 0; i < 5; i++) {
      assert.equal((await send(session, { ':path': '/nothing' })).status, 204)
    }
    const chunks: Buffer[] = []
    slow.on('data', (chunk: Buffer) => chunks.push(chunk))
    slow.resume()
    await once(slow, 'end')
    assert.ok(Buffer.concat(chunks).equals(octets(3 * MIB)))
  })

  test('sends no more than the app reads', async (t) => {
    let read: ((response: Response) => void) | undefined
    const app = { fetch: () => new Promise<Response>((resolve) => (read = resolve)) }
    const session = await openSession(t, await secureServer(t, app))
    const stream = session.request({ ':path': '/', ':method': 'POST' })
    let sent = 0
    stream.on('error', () => undefined)
    const writing = (async () => {
      for (; sent < 64; sent++) {
        if (!stream.write(Buffer.alloc(16_384))) await once(stream, 'drain')
      }
    })()
    await Promise.race([writing, pause()])
    assert.ok(sent <= 8, `${sent} chunks were taken`)
    read?.(new Response('enough'))
    const [headers] = await once(stream, 'response')
    assert.equal(headers[':status'], 200)
  })

  for (const [path, status] of [
    ['/nothing', 204],
    ['/not-modified', 304],
  ] as const) {
    test(`is answered with ${status} and no body`, async (t) => {
      const session = await openSession(t, await secureServer(t, ECHO))
      const got = await send(session, { ':path': path })
      assert.deepEqual([got.status, got.body.length], [status, 0])
    })
  }

  test('by TRACE is refused by the app, like any other method', async (t) => {
    const app = new Hono().all('/', (c) => c.text(c.req.method, 405))
    const session = await openSession(t, await secureServer(t, app))
    const { status, body } = await send(session, { ':path': '/', ':method': 'TRACE' })
    assert.deepEqual([status, body.toString()], [405, 'TRACE'])
  })

  test('by HEAD is answered like GET, without its body', async (t) => {
    const session = await openSession(t, await secureServer(t, ECHO))
    const head = { ':path': '/what', ':method': 'HEAD' }
    const { status, headers, body } = await send(session, head)
    assert.deepEqual([status, headers['content-type'], body.length], [200, 'application/json', 0])
  })

  test('gets duplicate fields, but no connection-specific ones', async (t) => {
    const session = await openSession(t, await secureServer(t, ECHO))
    const { headers } = await send(session, { ':path': '/many' })
    assert.deepEqual(headers['set-cookie'], ['a=1', 'b=2'])
    assert.equal(headers.connection, undefined)
    assert.match(headers.date ?? '', /GMT$/)
  })

  test('gets 500 when the app fails', async (t) => {
    const app = { fetch: () => Promise.reject(new Error('no')) }
    const session = await openSession(t, await secureServer(t, app))
    assert.equal((await send(session, { ':path': '/' })).status, 500)
  })

  test('is reset when its response is cut off', async (t) => {
    const failing = (): Response =>
      new Response(
        new ReadableStream({
          start: (controller) => controller.enqueue(new Uint8Array(10)),
          pull: (controller) => controller.error(new Error('no')),
        }),
      )
    const session = await openSession(t, await secureServer(t, { fetch: failing }))
    const pending = send(session, { ':path': '/' })
    await assert.rejects(pending, { message: /NGHTTP2_INTERNAL_ERROR/ })
  })

  test('is aborted for the app when the client resets it', async (t) => {
    let report: (what: string) => void = () => undefined
    const reported = new Promise<string>((resolve) => {
      report = resolve
    })
    const endless = (): Response =>
      new Response(
        new ReadableStream({
          pull: (controller) => controller.enqueue(new Uint8Array(1000)),
          cancel: () => report('nobody reads'),
        }),
      )
    const session = await openSession(t, await secureServer(t, { fetch: endless }))
    const stream = session.request({ ':path': '/' })
    await once(stream, 'data')
    stream.close(constants.NGHTTP2_CANCEL)
    assert.equal(await within(reported, 'the end of the body'), 'nobody reads')
  })

  test('is aborted for the app when the client resets it, even with nothing to send', async (t) => {
    let report: (what: string) => void = () => undefined
    const reported = new Promise<string>((resolve) => {
      report = resolve
    })
    const silent = (): Response =>
      new Response(new ReadableStream({ cancel: () => report('nobody reads') }))
    const session = await openSession(t, await secureServer(t, { fetch: silent }))
    const stream = session.request({ ':path': '/' })
    await once(stream, 'response')
    stream.close(constants.NGHTTP2_CANCEL)
    assert.equal(await within(reported, 'the end of the body'), 'nobody reads')
  })

  test('fails for the app when its body is cut off', async (t) => {
    let report: (what: unknown) => void = () => undefined
    const reported = new Promise<unknown>((resolve) => {
      report = resolve
    })
    const app = {
      fetch: async (request: Request): Promise<Response> => {
        await request.arrayBuffer().catch(report)
        return new Response(null)
      },
    }
    const client = await openRaw(t, await secureServer(t, app))
    const post = block([
      [':method', 'POST'],
      [':scheme', 'https'],
      [':authority', 'a.example'],
      [':path', '/'],
    ])
    client.write(
      preface(),
      frame(FRAME.HEADERS, FLAG.END_HEADERS, 1, post),
      frame(FRAME.DATA, 0, 1, Buffer.of(1)),
      frame(FRAME.RST_STREAM, 0, 1, uint32(constants.NGHTTP2_CANCEL)),
    )
    assert.match(String(await within(reported, 'the end of the body')), /prematurely closed/)
  })

  test('gets 100 Continue', async (t) => {
    const session = await openSession(t, await secureServer(t, ECHO))
    const headers = { ':path': '/size', ':method': 'POST', expect: '100-continue' }
    const stream = session.request(headers)
    await within(once(stream, 'continue'), 'the word')
    stream.end('12345')
    const [chunk] = await once(stream, 'data')
    assert.equal(String(chunk), '5')
  })

  for (const [name, headers, refusal] of [
    ['a slash in the host', { ':authority': 'a/b' }, 'NGHTTP2_PROTOCOL_ERROR'],
    ['a query in the host', { ':authority': 'a?b' }, 'NGHTTP2_PROTOCOL_ERROR'],
    ['a space in the host', { ':authority': 'a b' }, 'NGHTTP2_PROTOCOL_ERROR'],
    ['a backslash in the path', { ':path': '/a\\..\\b' }, '400'],
    ['the path *', { ':method': 'OPTIONS', ':path': '*' }, '400'],
    ['an unknown method', { ':method': 'TRACK' }, '404'],
  ] as const) {
    test(`is refused with ${name}`, async (t) => {
      const session = await openSession(t, await secureServer(t, ECHO))
      const refused = await send(session, { ':path': '/what', ...headers }).then(
        ({ status }) => String(status),
        (error: Error) => error.message,
      )
      assert.match(refused, new RegExp(refusal))
      assert.equal((await send(session, { ':path': '/nothing' })).status, 204)
    })
  }
})

/** Waits for traffic in flight on loopback. */
function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 200))
}
