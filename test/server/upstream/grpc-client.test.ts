import assert from 'node:assert/strict'
import type { OutgoingHttpHeaders } from 'node:http2'
import { describe, type TestContext, test } from 'vitest'
import { GRPC_PATH, readGrpcMessage, writeGrpcMessage } from '../../../src/dns/wire/grpc-message.ts'
import type { UpstreamClient } from '../../../src/resolver/contract/host.ts'
import { openUpstream } from '../../../src/server/upstream/upstream-client.ts'
import { AUTHORITY } from '../../certificates.ts'
import { formatReply } from '../../message-text.ts'
import { LONG_MS, QUERY, RIGHT, SHORT_MS } from '../answer-samples.ts'
import { fakeTcp } from '../clients.ts'
import { fakeHttp2, fakeHttps, type StreamRequest } from '../secure-servers.ts'

const HEADERS = { ':status': 200, 'content-type': 'application/grpc' }

function open(t: TestContext, port: number, scheme = 'https'): UpstreamClient {
  const url = `${scheme}://127.0.0.1:${port}${GRPC_PATH}`
  const client = openUpstream(
    { transport: 'grpc', address: '127.0.0.1', port, url },
    {
      tls: { ca: AUTHORITY },
      expireMs: LONG_MS,
      ageMsMax: 0,
      idleMax: 0,
      dohMethod: 'POST',
      resolvers: [],
      onConnection: () => undefined,
    },
  )
  t.onTestFinished(() => client.close())
  return client
}

function ask(client: UpstreamClient, timeoutMs: number = LONG_MS): Promise<Uint8Array> {
  return client.exchange(QUERY, { protocol: 'udp', timeoutMs })
}

/** Ends a call with a body and trailers. */
function respond(
  { stream }: StreamRequest,
  { headers = {}, body = new Uint8Array(0), trailers = { 'grpc-status': '0' } }: Response,
): void {
  stream.respond({ ...HEADERS, ...headers }, { waitForTrailers: true })
  stream.once('wantTrailers', () => stream.sendTrailers(trailers))
  stream.end(body)
}

type Response = {
  readonly headers?: OutgoingHttpHeaders
  readonly body?: Uint8Array
  readonly trailers?: OutgoingHttpHeaders
}

describe('a query over gRPC', () => {
  test('is a call with one message, and gets one', async (t) => {
    const calls: StreamRequest[] = []
    const { port, sessions } = await fakeHttp2(t, (request) => {
      calls.push(request)
      respond(request, { body: writeGrpcMessage(RIGHT) })
    })
    const client = open(t, port)
    for (let i = 0; i < 2; i++) assert.deepEqual(await ask(client), RIGHT)
    const [call] = calls
    assert.deepEqual([call?.method, call?.path], ['POST', GRPC_PATH])
    assert.equal(call?.headers['content-type'], 'application/grpc')
    assert.equal(call?.headers.te, 'trailers')
    assert.deepEqual(readGrpcMessage(call?.body ?? assert.fail()), QUERY)
    assert.equal(sessions.size, 1)
  })

  test('is NXDOMAIN after NOT_FOUND, as in CoreDNS', async (t) => {
    const { port } = await fakeHttp2(t, (request) => {
      respond(request, { trailers: { 'grpc-status': '5', 'grpc-message': 'no' } })
    })
    const [head, ...records] = formatReply(await ask(open(t, port)))
    assert.match(head ?? '', /^NXDOMAIN/)
    assert.deepEqual(records, [])
  })

  const other = RIGHT.with(0, (RIGHT[0] ?? 0) ^ 1)
  const cases: { name: string; response: Response; reason: RegExp }[] = [
    {
      name: 'a status in its trailers',
      response: { trailers: { 'grpc-status': '14', 'grpc-message': 'go%20away%0A' } },
      reason: /^gRPC status 14: go away%0A$/,
    },
    {
      name: 'a status in its headers',
      response: { headers: { 'grpc-status': '12' }, trailers: {} },
      reason: /^gRPC status 12$/,
    },
    { name: 'no status', response: { trailers: {} }, reason: /^gRPC status missing$/ },
    { name: 'HTTP status 404', response: { headers: { ':status': 404 } }, reason: /status 404/ },
    {
      name: 'another content',
      response: { headers: { 'content-type': 'text/html' } },
      reason: /^content type "text\/html", expected application\/grpc$/,
    },
    { name: 'no message', response: {}, reason: /^the body has no message$/ },
    {
      name: 'a cut message',
      response: { body: writeGrpcMessage(RIGHT).subarray(0, 20) },
      reason: /^the message is cut$/,
    },
    {
      name: 'a message that is too short for DNS',
      response: { body: writeGrpcMessage(new Uint8Array(11)) },
      reason: /^11 bytes are no message$/,
    },
    {
      name: 'a message of another ID',
      response: { body: writeGrpcMessage(other) },
      reason: /^a response of another ID$/,
    },
    {
      name: 'a longer body than any message has',
      response: { body: new Uint8Array(70_000) },
      reason: /exceeds 65544 bytes/,
    },
  ]
  for (const { name, response, reason } of cases) {
    test(`fails with the reason for ${name}, and the next one works`, async (t) => {
      let isGood = false
      const { port } = await fakeHttp2(t, (request) => {
        respond(request, isGood ? { body: writeGrpcMessage(RIGHT) } : response)
      })
      const client = open(t, port)
      await assert.rejects(ask(client), { message: reason })
      isGood = true
      assert.deepEqual(await ask(client), RIGHT)
    })
  }

  test('fails when the server is silent, has no HTTP/2, or no TLS', async (t) => {
    const silent = await fakeHttp2(t, () => undefined)
    await assert.rejects(ask(open(t, silent.port), SHORT_MS), /no response over gRPC in time/)
    const http1 = await fakeHttps(t, (_, response) => response.end())
    await assert.rejects(ask(open(t, http1.port)), Error)
    const dns = await fakeTcp(t, (_, socket) => socket.destroy())
    await assert.rejects(ask(open(t, dns.port, 'http'), SHORT_MS), Error)
  })
})
