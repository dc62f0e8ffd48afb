import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, type TestContext, test } from 'vitest'
import { tlsOptions } from '../../../src/server/keys/tls-identity.ts'
import { Http2Client } from '../../../src/server/upstream/http2-client.ts'
import { AUTHORITY } from '../../certificates.ts'
import { LONG_MS } from '../answer-samples.ts'
import { type FakeServer, fakeTcp, within } from '../clients.ts'
import { fakeHttp2, fakeHttps, type StreamRequest } from '../secure-servers.ts'

const TARGET = new URL('https://localhost/dns-query')

/** A connection to a server at 127.0.0.1, closed with its test. */
function connectTo(t: TestContext, { port }: FakeServer, expireMs = LONG_MS): Http2Client {
  const address = '127.0.0.1'
  const upstream = { transport: 'https', address, port, url: TARGET.href } as const
  const tls = tlsOptions(upstream, { ca: AUTHORITY })
  const client = new Http2Client({
    ...{ address, port, tls, expireMs },
    idleMax: 0,
    sourceAddress: undefined,
  })
  t.onTestFinished(() => client.retire())
  return client
}

function wanted(signal = AbortSignal.timeout(LONG_MS)): Parameters<Http2Client['fetch']>[1] {
  return { method: 'GET', headers: {}, redirect: 'manual', signal }
}

const respond = ({ stream }: StreamRequest): void => {
  stream.respond({ ':status': 200 })
  stream.end()
}

describe('Http2Client', () => {
  test('is ready with HTTP/2, and answers', async (t) => {
    const client = connectTo(t, await fakeHttp2(t, respond))
    assert.equal(await client.isReady(wanted().signal), true)
    assert.equal(client.answeredMs, undefined)
    assert.equal((await client.fetch(TARGET, wanted())).status, 200)
    assert.ok((client.answeredMs ?? 0) >= client.openedMs)
    assert.equal(client.isOver, false)
  })

  test('sends Content-Length with a body, and none without one', async (t) => {
    const lengths: unknown[] = []
    const server = await fakeHttp2(t, (request) => {
      lengths.push(request.headers['content-length'])
      respond(request)
    })
    const client = connectTo(t, server)
    await client.isReady(wanted().signal)
    await client.fetch(TARGET, wanted())
    await client.fetch(TARGET, { ...wanted(), method: 'POST', body: new Uint8Array(29) })
    assert.deepEqual(lengths, [undefined, '29'])
  })

  test('is over with a server that has HTTP/1.1 only', async (t) => {
    const client = connectTo(t, await fakeHttps(t, () => undefined))
    assert.equal(await client.isReady(wanted().signal), false)
    assert.equal(client.isOver, true)
  })

  test('reports a connection that fails to all that wait for it', async (t) => {
    const server = await fakeTcp(t, () => undefined)
    await server.close()
    const client = connectTo(t, server)
    const { signal } = wanted()
    for (const ready of [client.isReady(signal), client.isReady(signal)]) {
      await assert.rejects(ready, /ECONNREFUSED/)
    }
    assert.equal(client.isOver, true)
  })

  test('is not waited for after the signal', async (t) => {
    const client = connectTo(t, await fakeTcp(t, () => undefined))
    await assert.rejects(client.isReady(AbortSignal.abort()), { message: 'aborted' })
    const aborter = new AbortController()
    const ready = client.isReady(aborter.signal)
    aborter.abort()
    await assert.rejects(ready, { message: 'aborted' })
    assert.equal(client.isOver, false)
  })

  test('completes its last responses when it retires', async (t) => {
    const held = Promise.withResolvers<StreamRequest>()
    const server = await fakeHttp2(t, held.resolve)
    const client = connectTo(t, server)
    await client.isReady(wanted().signal)
    const response = client.fetch(TARGET, wanted())
    const request = await held.promise
    client.retire()
    assert.equal(client.isOver, true)
    const [session] = server.sessions
    const closed = session && once(session, 'close')
    respond(request)
    assert.equal((await response).status, 200)
    await within(closed ?? Promise.reject(new Error('no session')), 'its end')
  })

  test('closes when it is idle for too long', async (t) => {
    const server = await fakeHttp2(t, respond)
    const client = connectTo(t, server, 20)
    await client.isReady(wanted().signal)
    const [session] = server.sessions
    if (session !== undefined && !session.closed) await within(once(session, 'close'), 'its end')
    while (!client.isOver) await new Promise(setImmediate)
  })
})
