import assert from 'node:assert/strict'
import { once } from 'node:events'
import {
  type ClientHttp2Session,
  connect,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2'
import { describe, type TestContext, test } from 'vitest'
import {
  GRPC_BYTES_MAX,
  GRPC_PATH,
  readGrpcMessage,
  writeGrpcMessage,
} from '../../../src/dns/wire/grpc-message.ts'
import type { Client } from '../../../src/resolver/contract/client.ts'
import type { TlsService } from '../../../src/resolver/contract/feature.ts'
import { createGrpcServer } from '../../../src/server/http/grpc-server.ts'
import type { Answer } from '../../../src/server/sockets/answer.ts'
import { AUTHORITY, CLIENT, SERVER } from '../../certificates.ts'
import { QUERY, RIGHT } from '../answer-samples.ts'
import { echo, TcpClient, within } from '../clients.ts'

const SECURE: TlsService = { ...SERVER, clientAuth: 'nocert' }
const CALL = {
  ':method': 'POST',
  ':path': GRPC_PATH,
  'content-type': 'application/grpc',
  te: 'trailers',
}

type Options = { tls?: TlsService; connectionsMax?: number; streamsMax?: number; readMs?: number }

async function open(
  t: TestContext,
  answer: Answer,
  { tls, connectionsMax, streamsMax, readMs }: Options = {},
): Promise<number> {
  const server = createGrpcServer({
    answer: () => answer,
    tls,
    connectionsMax,
    streamsMax,
    bounds: () => (readMs === undefined ? {} : { readMs }),
  })
  t.onTestFinished(() => server.close())
  return server.listen('127.0.0.1', 0)
}

async function openSession(
  t: TestContext,
  url: string,
  options: { readonly cert?: string; readonly key?: string } = {},
): Promise<ClientHttp2Session> {
  const session = connect(url, { ca: AUTHORITY, ...options })
  session.on('error', () => undefined)
  t.onTestFinished(() => session.destroy())
  await once(session, 'remoteSettings')
  return session
}

type Ended = {
  readonly headers: IncomingHttpHeaders
  readonly trailers: IncomingHttpHeaders
  readonly body: Uint8Array
}

/** Makes a call; `body` undefined leaves the request open. */
function call(
  session: ClientHttp2Session,
  body: Uint8Array | undefined,
  headers: OutgoingHttpHeaders = {},
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ...CALL, ...headers })
    const chunks: Buffer[] = []
    const ended: { headers: IncomingHttpHeaders; trailers: IncomingHttpHeaders } = {
      headers: {},
      trailers: {},
    }
    stream.on('response', (got) => {
      ended.headers = got
    })
    stream.on('trailers', (got) => {
      ended.trailers = got
    })
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('end', () => resolve({ ...ended, body: new Uint8Array(Buffer.concat(chunks)) }))
    stream.on('error', reject)
    if (body !== undefined) stream.end(body)
  })
}

const right: Answer = (message) => Promise.resolve(echo(message))

describe('a server of DNS over gRPC', () => {
  for (const [scheme, tls] of [
    ['https', SECURE],
    ['http', undefined],
  ] as const) {
    test(`answers over ${scheme}, with the client's address`, async (t) => {
      const clients: Client[] = []
      const port = await open(
        t,
        (message, client) => {
          clients.push(client)
          return Promise.resolve(echo(message))
        },
        tls && { tls },
      )
      const session = await openSession(t, `${scheme}://127.0.0.1:${port}`)
      for (const type of ['application/grpc', 'application/grpc+proto']) {
        const { headers, trailers, body } = await call(session, writeGrpcMessage(QUERY), {
          'content-type': type,
        })
        assert.deepEqual(readGrpcMessage(body), RIGHT)
        assert.equal(headers['content-type'], 'application/grpc')
        assert.equal(trailers['grpc-status'], '0')
      }
      const [{ address, transport, localPort } = assert.fail()] = clients
      assert.deepEqual([address, transport, localPort], ['127.0.0.1', 'grpc', port])
    })
  }

  const whole = writeGrpcMessage(QUERY)
  const refused: {
    name: string
    body?: Uint8Array
    headers?: OutgoingHttpHeaders
    status: string
  }[] = [
    { name: 'another method', headers: { ':path': '/coredns.dns.DnsService/Ask' }, status: '12' },
    { name: 'another path', headers: { ':path': '/dns-query' }, status: '12' },
    { name: 'a compressed call', headers: { 'grpc-encoding': 'gzip' }, status: '12' },
    { name: 'a compressed message', body: whole.with(0, 1), status: '12' },
    { name: 'no message', body: new Uint8Array(0), status: '13' },
    { name: 'a cut message', body: whole.subarray(0, 20), status: '13' },
    { name: 'a cut prefix', body: whole.subarray(0, 3), status: '13' },
    { name: 'two messages', body: Buffer.concat([whole, whole]), status: '13' },
    { name: 'what is no packet', body: whole.with(5, 0x0f), status: '13' },
    { name: 'a size over the largest', body: whole.with(1, 1), status: '8' },
    { name: 'a body over the largest', body: new Uint8Array(GRPC_BYTES_MAX + 1), status: '8' },
    { name: 'a body of a megabyte', body: new Uint8Array(1_000_000), status: '8' },
    { name: 'an empty message', body: writeGrpcMessage(new Uint8Array(0)), status: '3' },
    { name: 'a response', body: writeGrpcMessage(RIGHT), status: '3' },
    { name: 'a message of 11 bytes', body: writeGrpcMessage(new Uint8Array(11)), status: '3' },
  ]
  for (const { name, body = whole, headers, status } of refused) {
    test(`ends a call with status ${status} for ${name}, and serves the next one`, async (t) => {
      const session = await openSession(t, `http://127.0.0.1:${await open(t, right)}`)
      const ended = await call(session, body, headers)
      assert.equal(ended.headers[':status'], 200)
      assert.deepEqual([ended.headers['grpc-status'], ended.body.length], [status, 0])
      assert.notEqual(ended.headers['grpc-message'] ?? '', '')
      const next = await call(session, whole)
      assert.equal(next.trailers['grpc-status'], '0')
    })
  }

  for (const { name, headers, status } of [
    { name: 'GET', headers: { ':method': 'GET' }, status: 405 },
    { name: 'a type of HTTP', headers: { 'content-type': 'application/dns-message' }, status: 415 },
    { name: 'gRPC-Web', headers: { 'content-type': 'application/grpc-web' }, status: 415 },
  ] as const) {
    test(`answers ${status} to ${name}`, async (t) => {
      const session = await openSession(t, `http://127.0.0.1:${await open(t, right)}`)
      const ended = await call(session, name === 'GET' ? undefined : whole, headers)
      assert.equal(ended.headers[':status'], status)
    })
  }

  test('ends a call that gets no response with UNAVAILABLE', async (t) => {
    const port = await open(t, () => Promise.resolve(undefined))
    const session = await openSession(t, `http://127.0.0.1:${port}`)
    const ended = await call(session, writeGrpcMessage(QUERY))
    assert.equal(ended.headers['grpc-status'], '14')
  })

  test('resets a call whose answer fails, and serves others', async (t) => {
    let isBroken = true
    const answer: Answer = (message) => {
      if (isBroken) return Promise.reject(new Error('no'))
      return Promise.resolve(echo(message))
    }
    const session = await openSession(t, `http://127.0.0.1:${await open(t, answer)}`)
    await assert.rejects(call(session, writeGrpcMessage(QUERY)))
    isBroken = false
    const next = await call(session, writeGrpcMessage(QUERY))
    assert.equal(next.trailers['grpc-status'], '0')
  })

  for (const { streamsMax, wanted } of [
    { streamsMax: undefined, wanted: 256 },
    { streamsMax: 7, wanted: 7 },
    { streamsMax: Infinity, wanted: 2 ** 31 - 1 },
  ]) {
    test(`takes ${wanted} calls at a time with max_streams ${streamsMax}`, async (t) => {
      const port = await open(t, right, streamsMax === undefined ? {} : { streamsMax })
      const session = await openSession(t, `http://127.0.0.1:${port}`)
      assert.equal(session.remoteSettings.maxConcurrentStreams, wanted)
    })
  }

  test('closes connections beyond its bound, and those of HTTP/1.1', async (t) => {
    const port = await open(t, right, { connectionsMax: 2 })
    const first = await TcpClient.open(port)
    await first.send(Buffer.from('GET / HTTP/1.1\r\nhost: a\r\n\r\n'))
    await within(first.closed, 'the end of HTTP/1.1')
    const idle = await Promise.all([1, 2, 3].map(() => TcpClient.open(port)))
    await within(Promise.race(idle.map(({ closed }) => closed)), 'the end of an idle one')
    t.onTestFinished(() => void idle.map(({ socket }) => socket.destroy()))
    const session = await openSession(t, `http://127.0.0.1:${port}`)
    assert.equal((await call(session, whole)).trailers['grpc-status'], '0')
  })

  test('ends a call that is never complete, after the time for reading', async (t) => {
    const port = await open(t, right, { readMs: 100 })
    const session = await openSession(t, `http://127.0.0.1:${port}`)
    const stream = session.request(CALL)
    stream.on('error', () => undefined)
    stream.write(whole.subarray(0, 9))
    await once(stream, 'close')
    assert.notEqual(stream.rstCode, 0)
  })

  test('demands the certificates that client_auth does', async (t) => {
    const tls: TlsService = { ...SERVER, ca: AUTHORITY, clientAuth: 'require_and_verify' }
    const url = `https://127.0.0.1:${await open(t, right, { tls })}`
    const session = await openSession(t, url, CLIENT)
    assert.equal((await call(session, whole)).trailers['grpc-status'], '0')
    const stranger = connect(url, { ca: AUTHORITY })
    stranger.on('error', () => undefined)
    await once(stranger, 'close')
  })
})
