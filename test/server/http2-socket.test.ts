import assert from 'node:assert/strict'
import { once } from 'node:events'
import { constants } from 'node:http2'
import { describe, test } from 'node:test'
import { Hono } from 'hono'
import { ERROR_CODE, FRAME } from '../../src/http2/frame.ts'
import type { Direct, Ready } from '../../src/server/http-request.ts'
import {
  BEGINNING,
  data,
  frame,
  GET,
  headers,
  POST,
  settings,
  windowUpdate,
} from '../http2/peer.ts'
import { within } from './clients.ts'
import { openRaw, openSession, secureServer, send } from './http2-clients.ts'

const APP = new Hono().all('*', (c) => c.text('the app'))

const ready = (body: Uint8Array): Ready => ({ status: 200, headers: { 'x-by': 'direct' }, body })

/** Takes what is below `/direct`: a GET with its path, a POST with its body, at once or later. */
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

describe('a connection of HTTP/2', () => {
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

  test('tells a client that waits to go on', async (t) => {
    const session = await openSession(t, await secureServer(t, APP, { direct }))
    const headers = { ':path': '/direct', ':method': 'POST', expect: '100-continue' }
    const stream = session.request(headers)
    await within(once(stream, 'continue'), 'the word')
    stream.end('body')
    const [chunk] = await once(stream, 'data')
    assert.equal(String(chunk), 'body')
  })

  test('leaves the rest to the app', async (t) => {
    const session = await openSession(t, await secureServer(t, APP, { direct }))
    assert.equal((await send(session, { ':path': '/' })).body.toString(), 'the app')
  })

  for (const path of ['/direct/wrong', '/direct/late-wrong']) {
    test(`resets a stream that ${path} fails at, and goes on`, async (t) => {
      const session = await openSession(t, await secureServer(t, APP, { direct }))
      for (const method of ['GET', 'POST']) {
        const body = method === 'POST' ? 'a' : undefined
        const asked = send(session, { ':path': path, ':method': method }, body)
        await assert.rejects(asked, { message: /NGHTTP2_INTERNAL_ERROR/ })
      }
      assert.equal((await send(session, { ':path': '/direct' })).status, 200)
    })
  }

  test('answers many requests of many clients at once, each its own', async (t) => {
    const port = await secureServer(t, APP, { direct })
    const sessions = await Promise.all(Array.from({ length: 5 }, () => openSession(t, port)))
    const asked = sessions.flatMap((session, s) =>
      Array.from({ length: 200 }, async (_, i) => {
        const path = i % 3 === 0 ? '/direct/late' : i % 3 === 1 ? '/direct' : '/other'
        const body = `${s} ${i}`
        const got = await send(session, { ':path': path, ':method': 'POST' }, body)
        assert.equal(got.body.toString(), path === '/other' ? 'the app' : body)
      }),
    )
    assert.equal((await within(Promise.all(asked), 'all answers')).length, 1000)
  })

  for (const path of ['/direct', '/app']) {
    test(`answers a GET of ${path} without waiting for its body`, async (t) => {
      const port = await secureServer(t, APP, { direct, bounds: () => ({ readMs: 300 }) })
      const fields = [...GET.slice(0, 3), [':path', path] as const]
      const client = await openRaw(t, port)
      client.write(BEGINNING, headers(1, fields, false), data(1, [1, 2, 3]))
      await within(client.frame(FRAME.HEADERS), 'the answer')
      client.write(frame(FRAME.PING, 0, 0, new Uint8Array(8)))
      await within(client.frame(FRAME.PING), 'the answer to a PING')
      client.write(data(1, [], true))
      client.write(headers(3, fields, false))
      const reset = await within(client.frame(FRAME.RST_STREAM), 'the end of a body without one')
      assert.equal(reset.id, 3)
    })
  }

  test('ends a body that comes a byte at a time, however steadily', async (t) => {
    const port = await secureServer(t, APP, { direct, bounds: () => ({ readMs: 300 }) })
    const client = await openRaw(t, port)
    client.write(BEGINNING, headers(1, [...POST.slice(0, 3), [':path', '/direct']], false))
    const timer = setInterval(() => client.write(data(1, [1])), 30)
    t.after(() => clearInterval(timer))
    const found = await within(client.frame(FRAME.RST_STREAM), 'a stream that is reset')
    assert.equal(Buffer.from(found.payload).readUInt32BE(0), ERROR_CODE.CANCEL)
  })

  test('holds no more of bodies that do not end than a mebibyte', async (t) => {
    const client = await openRaw(t, await secureServer(t, APP, { direct }))
    const fields = [...POST.slice(0, 3), [':path', '/direct'] as const]
    client.write(BEGINNING)
    for (let id = 1; id <= 41; id += 2) {
      client.write(headers(id, fields, false))
      for (let i = 0; i < 4; i++) client.write(data(id, new Uint8Array(15_000)))
    }
    const found = await within(client.frame(FRAME.RST_STREAM), 'a stream that is reset')
    assert.equal(Buffer.from(found.payload).readUInt32BE(0), ERROR_CODE.ENHANCE_YOUR_CALM)
    // 17 streams have 1,020,000 bytes, within the bound; the next is over it.
    assert.equal(found.id, 35)
  })

  test('takes no body of more than a message without the app', async (t) => {
    const session = await openSession(t, await secureServer(t, APP, { direct }))
    const asked = send(session, { ':path': '/direct', ':method': 'POST' }, Buffer.alloc(65_536))
    await assert.rejects(asked, { message: /NGHTTP2_ENHANCE_YOUR_CALM/ })
  })

  test('says goodbye to who asks nothing more', async (t) => {
    const bounds = (): object => ({ idleMs: 100 })
    const session = await openSession(t, await secureServer(t, APP, { direct, bounds }))
    const goodbye = once(session, 'goaway')
    assert.equal((await send(session, { ':path': '/direct' })).status, 200)
    const [code] = await within(goodbye, 'the end')
    assert.equal(code, constants.NGHTTP2_NO_ERROR)
  })

  test('ends who sends half of a request', async (t) => {
    const bounds = (): object => ({ readMs: 100 })
    const client = await openRaw(t, await secureServer(t, APP, { direct, bounds }))
    client.write(BEGINNING, headers(1).subarray(0, 12))
    assert.equal((await within(client.ended, 'the end')).at(-1)?.type, FRAME.GOAWAY)
  })

  test('ends who does not read, and looks at no more of its requests', async (t) => {
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
    client.write(BEGINNING, settings([4, 0x7fff_ffff]), windowUpdate(0, 0x7000_0000))
    const asked = Array.from({ length: 4000 }, (_, i) => headers(2 * i + 1))
    client.write(...asked)
    const session = await openSession(t, port)
    assert.equal((await send(session, { ':path': '/' })).status, 200)
    // What the system takes for both ends of a connection counts as read.
    await new Promise((resolve) => setTimeout(resolve, 500))
    assert.ok(count < 1000, `${count} requests were looked at`)
    client.socket.resume()
    await within(client.ended, 'the end')
  })

  test('loses only itself by what is no HTTP/2', async (t) => {
    const port = await secureServer(t, APP, { direct })
    const session = await openSession(t, port)
    const client = await openRaw(t, port)
    client.write(Buffer.from('GET / HTTP/1.1\r\n\r\n'))
    const frames = await within(client.ended, 'the end')
    const code = frames.at(-1)?.payload.subarray(4)
    assert.deepEqual([...(code ?? [])], [0, 0, 0, ERROR_CODE.PROTOCOL_ERROR])
    assert.equal((await send(session, { ':path': '/direct' })).status, 200)
  })

  test('survives a client that is gone in the middle', async (t) => {
    const port = await secureServer(t, APP, { direct })
    for (let i = 0; i < 10; i++) {
      const client = await openRaw(t, port)
      client.write(BEGINNING, headers(1, POST, false), data(1, [1]), headers(3), headers(5))
      client.socket.destroy()
    }
    const session = await openSession(t, port)
    assert.equal((await send(session, { ':path': '/direct/late' })).status, 200)
  })
})
