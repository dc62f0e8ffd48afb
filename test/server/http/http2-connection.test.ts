import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type ClientHttp2Session, type ClientHttp2Stream, constants } from 'node:http2'
import { Hono } from 'hono'
import { describe, test } from 'vitest'
import type { Direct, Ready } from '../../../src/server/http/http-request.ts'
import { RequestMemory } from '../../../src/server/http/request-memory.ts'
import { block, type Field, FLAG, FRAME, frame, preface, uint32 } from '../../attack/http2-wire.ts'
import { within } from '../clients.ts'
import { type Frame, openRaw, openSession, secureServer, send } from '../http2-clients.ts'

const ERROR_CODE = {
  CANCEL: constants.NGHTTP2_CANCEL,
  ENHANCE_YOUR_CALM: constants.NGHTTP2_ENHANCE_YOUR_CALM,
}

/** HEADERS of a request. */
function headers(id: number, method = 'GET', path = '/', isEnd = true): Buffer {
  const fields: readonly Field[] = [
    [':method', method],
    [':scheme', 'https'],
    [':authority', 'a.example'],
    [':path', path],
  ]
  const flags = FLAG.END_HEADERS | (isEnd ? FLAG.END_STREAM : 0)
  return frame(FRAME.HEADERS, flags, id, block(fields))
}

function data(id: number, bytes: Uint8Array, isEnd = false): Buffer {
  return frame(FRAME.DATA, isEnd ? FLAG.END_STREAM : 0, id, Buffer.from(bytes))
}

const APP = new Hono().all('*', (c) => c.text('the app'))

const ready = (body: Uint8Array): Ready => ({ status: 200, headers: { 'x-by': 'direct' }, body })

/** Accepts paths below `/direct`: echoes a GET's path or a POST's body, now or later. */
const direct: Direct = (head) => {
  const { path, address } = head
  if (!path.startsWith('/direct')) return undefined
  const text = (words: string): Uint8Array => new Uint8Array(Buffer.from(words))
  return (body) => {
    if (path.endsWith('/wrong')) throw new Error('no')
    const answer = ready(body ?? text(`${path} ${head.header('accept')} ${address}`))
    if (path.endsWith('/late-wrong')) return Promise.reject(new Error('no'))
    return path.endsWith('/late') ? Promise.resolve(answer) : answer
  }
}

describe('an HTTP/2 connection', () => {
  for (const path of ['/direct', '/direct/late']) {
    test(`answers ${path} without the app`, async (t) => {
      const session = await openSession(t, await secureServer(t, APP, { direct }))
      const got = await send(session, { ':path': path, accept: 'a/b' })
      assert.deepEqual([got.status, got.headers['x-by']], [200, 'direct'])
      assert.equal(got.body.toString(), `${path} a/b 127.0.0.1`)
      const message = Buffer.alloc(65_535, 7)
      const posted = await send(session, { ':path': path, ':method': 'POST' }, message)
      assert.ok(posted.body.equals(message))
      const empty = await send(session, { ':path': path, ':method': 'POST' })
      assert.equal(empty.body.length, 0)
    })
  }

  // RFC 9113 §8.3.1
  for (const [host, authority, status] of [
    ['a.example', 'a.example', 200],
    ['A.example', 'a.example', 200],
    ['b.example', 'a.example', 400],
    ['a.example:444', 'a.example', 400],
    ['b.example', undefined, 200],
  ] as const) {
    test(`answers ${status} to the host ${host} with the authority ${authority}`, async (t) => {
      const session = await openSession(t, await secureServer(t, APP, { direct }))
      for (const path of ['/direct', '/']) {
        const fields = { ':path': path, ...(authority && { ':authority': authority }), host }
        assert.equal((await send(session, fields)).status, status)
      }
    })
  }

  test('sends 100 Continue', async (t) => {
    const session = await openSession(t, await secureServer(t, APP, { direct }))
    const headers = { ':path': '/direct', ':method': 'POST', expect: '100-continue' }
    const stream = session.request(headers)
    await within(once(stream, 'continue'), 'the word')
    stream.end('body')
    const [chunk] = await once(stream, 'data')
    assert.equal(String(chunk), 'body')
  })

  test('leaves other requests to the app', async (t) => {
    const session = await openSession(t, await secureServer(t, APP, { direct }))
    assert.equal((await send(session, { ':path': '/' })).body.toString(), 'the app')
  })

  for (const path of ['/direct/wrong', '/direct/late-wrong']) {
    test(`resets the stream when ${path} fails, and keeps the connection`, async (t) => {
      const session = await openSession(t, await secureServer(t, APP, { direct }))
      for (const method of ['GET', 'POST']) {
        const body = method === 'POST' ? 'a' : undefined
        const pending = send(session, { ':path': path, ':method': method }, body)
        await assert.rejects(pending, { message: /NGHTTP2_INTERNAL_ERROR/ })
      }
      assert.equal((await send(session, { ':path': '/direct' })).status, 200)
    })
  }

  test('answers many concurrent requests of many clients, each with its own response', async (t) => {
    const port = await secureServer(t, APP, { direct })
    const sessions = await Promise.all(Array.from({ length: 5 }, () => openSession(t, port)))
    const pending = sessions.flatMap((session, s) =>
      Array.from({ length: 200 }, async (_, i) => {
        const path = i % 3 === 0 ? '/direct/late' : i % 3 === 1 ? '/direct' : '/other'
        const body = `${s} ${i}`
        const got = await send(session, { ':path': path, ':method': 'POST' }, body)
        assert.equal(got.body.toString(), path === '/other' ? 'the app' : body)
      }),
    )
    assert.equal((await within(Promise.all(pending), 'all answers')).length, 1000)
  })

  for (const path of ['/direct', '/app']) {
    test(`answers a GET of ${path} without waiting for its body`, async (t) => {
      const port = await secureServer(t, APP, { direct, bounds: () => ({ readMs: 300 }) })
      const client = await openRaw(t, port)
      client.write(preface(), headers(1, 'GET', path, false), data(1, Buffer.of(1, 2, 3)))
      await within(client.frame(FRAME.HEADERS), 'the answer')
      // The client may continue with its body and with other requests.
      client.write(data(1, Buffer.of(4)), frame(FRAME.PING, 0, 0, new Uint8Array(8)))
      await within(client.frame(FRAME.PING), 'the answer to a PING')
      client.write(headers(3, 'GET', path))
      const answered = async (id: number): Promise<Frame> => client.frame(FRAME.HEADERS, id)
      await within(answered(3), 'the next answer')
    })
  }

  test('resets a stream whose body arrives a byte at a time', async (t) => {
    const port = await secureServer(t, APP, { direct, bounds: () => ({ readMs: 300 }) })
    const client = await openRaw(t, port)
    client.write(preface(), headers(1, 'POST', '/direct', false))
    const timer = setInterval(() => client.write(data(1, Buffer.of(1))), 30)
    t.onTestFinished(() => clearInterval(timer))
    const found = await within(client.frame(FRAME.RST_STREAM), 'a stream that is reset')
    assert.equal(Buffer.from(found.payload).readUInt32BE(0), ERROR_CODE.CANCEL)
  })

  test('buffers at most 1 MiB of unfinished bodies', async (t) => {
    const session = await openSession(t, await secureServer(t, APP, { direct }))
    const codes = Array.from({ length: 18 }, () => {
      const stream = session.request({ ':path': '/direct', ':method': 'POST' })
      stream.on('error', () => undefined)
      stream.write(Buffer.alloc(60_000))
      return new Promise((resolve) => stream.on('close', () => resolve(stream.rstCode)))
    })
    // 17 streams have 1,020,000 bytes, within the bound; the next is over it.
    assert.equal(await within(Promise.race(codes), 'a reset'), ERROR_CODE.ENHANCE_YOUR_CALM)
  })

  for (const path of ['/direct', '/app']) {
    test(`ends the unfinished bodies for ${path} of the connection that has most`, async (t) => {
      const app = new Hono().all('*', async (c) => c.text(String((await c.req.text()).length)))
      const requestMemory = new RequestMemory(160_000)
      const port = await secureServer(t, app, { direct, requestMemory })
      const [large, small] = [await openSession(t, port), await openSession(t, port)]
      const start = (session: ClientHttp2Session): ClientHttp2Stream => {
        const stream = session.request({ ':path': path, ':method': 'POST' })
        stream.on('error', () => undefined)
        stream.write(Buffer.alloc(60_000))
        return stream
      }
      await send(large, { ':path': '/' })
      const streams = [start(large), start(large)]
      await send(large, { ':path': '/' })
      const kept = start(small)
      const resets = streams.map(
        (stream) => new Promise((resolve) => stream.on('close', () => resolve(stream.rstCode))),
      )
      for (const reset of resets) {
        assert.equal(await within(reset, 'a reset'), ERROR_CODE.ENHANCE_YOUR_CALM)
      }
      kept.end()
      const [chunk] = await within(once(kept, 'data'), 'the response')
      assert.ok(chunk.length > 0)
      assert.equal((await send(large, { ':path': '/' })).status, 200)
    })
  }

  test('is closed if it has most unfinished bodies and has had no response', async (t) => {
    const requestMemory = new RequestMemory(100_000)
    const session = await openSession(t, await secureServer(t, APP, { direct, requestMemory }))
    const closed = once(session, 'close')
    for (let i = 0; i < 12; i++) {
      const stream = session.request({ ':path': '/direct', ':method': 'POST' })
      stream.on('error', () => undefined)
      stream.write(Buffer.alloc(1000))
    }
    await within(closed, 'the end of the connection')
  })

  test('ends the responses that its client does not read, if it has most', async (t) => {
    const wide: Direct = () => () => ({ status: 200, headers: {}, body: new Uint8Array(50_000) })
    const requestMemory = new RequestMemory(200_000)
    const port = await secureServer(t, APP, { direct: wide, requestMemory })
    const [large, small] = [await openSession(t, port), await openSession(t, port)]
    await send(large, { ':path': '/' })
    const closed = Array.from({ length: 8 }, () => {
      const stream = large.request({ ':path': '/' })
      stream.on('error', () => undefined)
      return new Promise((resolve) => stream.on('close', () => resolve(stream.rstCode)))
    })
    assert.equal(await within(Promise.race(closed), 'a reset'), ERROR_CODE.ENHANCE_YOUR_CALM)
    assert.equal((await send(small, { ':path': '/' })).body.length, 50_000)
  })

  test('resets a stream whose body the app does not wait for', async (t) => {
    const session = await openSession(t, await secureServer(t, APP, { direct }))
    const stream = session.request({ ':path': '/', ':method': 'POST' })
    stream.write(Buffer.alloc(60_000))
    const closed = once(stream, 'close')
    stream.resume()
    await within(closed, 'the end of the stream')
    assert.equal(stream.rstCode, constants.NGHTTP2_NO_ERROR)
  })

  const LARGE: readonly { name: string; fields: Readonly<Record<string, string>> }[] = [
    { name: 'a long path', fields: { ':path': `/direct${'a'.repeat(65_536)}` } },
    { name: 'a long field', fields: { ':path': '/direct', a: 'a'.repeat(65_536) } },
    {
      name: 'many fields',
      fields: Object.fromEntries([
        [':path', '/direct'],
        ...Array.from({ length: 125 }, (_, i) => [`a${i}`, '']),
      ]),
    },
  ]
  for (const { name, fields } of LARGE) {
    test(`answers ${name} with 431, like HTTP/1.1, and keeps the connection`, async (t) => {
      const port = await secureServer(t, APP, { direct })
      const session = await openSession(t, port, { maxSendHeaderBlockLength: 100_000 })
      assert.equal((await send(session, fields)).status, 431)
      assert.equal((await send(session, { ':path': '/direct' })).status, 200)
    })
  }

  test('resets a direct POST whose body is longer than a DNS message', async (t) => {
    const session = await openSession(t, await secureServer(t, APP, { direct }))
    const pending = send(session, { ':path': '/direct', ':method': 'POST' }, Buffer.alloc(65_536))
    await assert.rejects(pending, { message: /NGHTTP2_ENHANCE_YOUR_CALM/ })
  })

  test('sends GOAWAY to an idle client', async (t) => {
    const bounds = (): object => ({ idleMs: 100 })
    const session = await openSession(t, await secureServer(t, APP, { direct, bounds }))
    const goodbye = once(session, 'goaway')
    assert.equal((await send(session, { ':path': '/direct' })).status, 200)
    const [code] = await within(goodbye, 'the end')
    assert.equal(code, constants.NGHTTP2_NO_ERROR)
  })

  test('closes a connection with half a request', async (t) => {
    const bounds = (): object => ({ readMs: 100 })
    const client = await openRaw(t, await secureServer(t, APP, { direct, bounds }))
    client.write(preface(), headers(1).subarray(0, 12))
    assert.equal((await within(client.ended, 'the end')).at(-1)?.type, FRAME.GOAWAY)
  })

  test('closes a connection whose client does not read, and serves no more of its requests', async (t) => {
    let count = 0
    const large = new Uint8Array(60_000)
    const counting: Direct = () => () => {
      count++
      return ready(large)
    }
    const bounds = (): object => ({ writeMs: 300 })
    const port = await secureServer(t, APP, { direct: counting, bounds })
    const client = await openRaw(t, port)
    client.socket.pause()
    client.write(preface([4, 0x7fff_ffff]), frame(FRAME.WINDOW_UPDATE, 0, 0, uint32(0x7000_0000)))
    const pending = Array.from({ length: 4000 }, (_, i) => headers(2 * i + 1))
    client.write(...pending)
    const session = await openSession(t, port)
    assert.equal((await send(session, { ':path': '/' })).status, 200)
    // Bytes in the kernel's buffers of both ends count as read.
    await new Promise((resolve) => setTimeout(resolve, 500))
    assert.ok(count < 1000, `${count} requests were looked at`)
    client.socket.resume()
    await within(client.ended, 'the end')
  })

  test('closes only itself on bytes that are not HTTP/2', async (t) => {
    const port = await secureServer(t, APP, { direct })
    const session = await openSession(t, port)
    const client = await openRaw(t, port)
    client.write(Buffer.from('GET / HTTP/1.1\r\n\r\n'))
    const frames = await within(client.ended, 'the end')
    assert.equal(frames.at(-1)?.type, FRAME.GOAWAY)
    assert.equal((await send(session, { ':path': '/direct' })).status, 200)
  })

  test('is removed when its client disconnects', async (t) => {
    const bounds = (): object => ({ readMs: 3_600_000, idleMs: 3_600_000 })
    const client = await openRaw(t, await secureServer(t, APP, { direct, bounds }))
    client.write(preface())
    await within(client.frame(FRAME.SETTINGS), 'the settings')
    client.socket.end()
    await within(client.ended, 'the end')
  })

  test('survives a client that disconnects in the middle', async (t) => {
    const port = await secureServer(t, APP, { direct })
    for (let i = 0; i < 10; i++) {
      const client = await openRaw(t, port)
      client.write(
        preface(),
        headers(1, 'POST', '/', false),
        data(1, Buffer.of(1)),
        headers(3),
        headers(5),
      )
      client.socket.destroy()
    }
    const session = await openSession(t, port)
    assert.equal((await send(session, { ':path': '/direct/late' })).status, 200)
  })
})
