import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import fc from 'fast-check'
import { describe, type TestContext, test, vi } from 'vitest'
import {
  createGatewayClient,
  type GatewayClient,
  GatewayError,
} from '../../src/exporter/gateway-client.ts'

const TOKEN = 'a-token-that-nobody-may-see'
const BYTES = Uint8Array.of(1, 2, 3)
const HASH = 'ab'.repeat(32)
const TIME = '2026-01-01T00:00:00.000Z'
const NOT_OURS = 'its answer is not a gateway’s'

type Sent = { readonly url: string; readonly init: RequestInit }

/** A client to whom every request gets the same answer, or fails. */
function clientOf(
  answer: Response | Error,
  { url = 'https://dns.example.org', token = TOKEN, sent }: Partial<ClientOf> = {},
): GatewayClient {
  return createGatewayClient({
    url,
    cluster: 'shop',
    token,
    fetch: (input, init = {}) => {
      sent?.push({ url: String(input), init })
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)
    },
  })
}

type ClientOf = { readonly url: string; readonly token: string; readonly sent: Sent[] }

/** What a step throws, as `STATUS MESSAGE`; a message that says the token fails. */
async function refusal(step: Promise<unknown>): Promise<string> {
  try {
    await step
  } catch (error) {
    assert.ok(error instanceof GatewayError, String(error))
    assert.ok(!error.message.includes(TOKEN))
    return `${error.status} ${error.message}`
  }
  return 'nothing is refused'
}

function json(status: number, body: unknown, etag?: string): Response {
  return new Response(JSON.stringify(body), { status, ...(etag && { headers: { etag } }) })
}

const errorBody = (code: string, message: string): unknown => ({ error: { code, message } })

describe('requests', () => {
  const cases: {
    name: string
    send: (client: GatewayClient) => Promise<unknown>
    method: string
    path: string
    headers?: Readonly<Record<string, string>>
    body?: Uint8Array
  }[] = [
    { name: 'reads the state', send: (client) => client.state(), method: 'GET', path: '' },
    {
      name: 'puts a shard',
      send: (client) => client.putShard(HASH, BYTES),
      method: 'PUT',
      path: `/shards/${HASH}`,
      body: BYTES,
    },
    {
      name: 'puts the first manifest',
      send: (client) => client.putManifest(BYTES, 'sig', undefined),
      method: 'PUT',
      path: '/manifest',
      headers: {
        'content-type': 'application/json',
        'kubedoh-signature': 'sig',
        'if-none-match': '*',
      },
      body: BYTES,
    },
    {
      name: 'puts a manifest in place of another',
      send: (client) => client.putManifest(BYTES, 'sig', '"e1"'),
      method: 'PUT',
      path: '/manifest',
      headers: {
        'content-type': 'application/json',
        'kubedoh-signature': 'sig',
        'if-match': '"e1"',
      },
      body: BYTES,
    },
    {
      name: 'puts a publication',
      send: (client) => client.putPublication({ manifest: BYTES, shards: [BYTES] }, 'sig', '"e1"'),
      method: 'PUT',
      path: '/publication',
      headers: { 'kubedoh-signature': 'sig', 'if-match': '"e1"' },
      body: Uint8Array.of(0, 0, 0, 3, 1, 2, 3, 0, 0, 0, 3, 1, 2, 3),
    },
  ]
  const urls = ['https://dns.example.org', 'https://dns.example.org/', 'http://192.0.2.1:8443/a/b/']
  for (const { name, send, method, path, headers, body } of cases) {
    test(name, async () => {
      for (const url of urls) {
        const sent: Sent[] = []
        await send(clientOf(json(200, { generation: 1 }), { url, sent }))
        const [request, ...others] = sent
        assert.deepEqual(others, [])
        const base = url.replace(/\/$/, '')
        assert.equal(request?.url, `${base}/v1/clusters/shop${path}`)
        const { signal, ...init } = request?.init ?? {}
        assert.deepEqual(init, {
          ...(method === 'GET' ? {} : { method }),
          ...(body && { body }),
          headers: { ...headers, authorization: `Bearer ${TOKEN}` },
          redirect: 'error',
        })
        assert.ok(signal instanceof AbortSignal)
      }
    })
  }

  test('end after 30 seconds', async () => {
    const late = new DOMException('The operation was aborted due to timeout', 'TimeoutError')
    const limit = vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => AbortSignal.abort(late))
    const client = createGatewayClient({
      url: 'https://dns.example.org',
      cluster: 'shop',
      token: TOKEN,
    })
    assert.equal(
      await refusal(client.state()),
      `undefined https://dns.example.org cannot be reached: ${late.message}`,
    )
    assert.deepEqual(limit.mock.calls[0], [30_000])
  })
})

describe('a publication', () => {
  const put = (answer: Response): Promise<unknown> =>
    clientOf(answer).putPublication({ manifest: BYTES, shards: [] }, 'sig', undefined)

  test('is unknown to an older gateway', async () => {
    assert.equal(await put(json(404, errorBody('not_found', 'No such path'))), undefined)
  })

  test('is too large for some proxies', async () => {
    const page = new Response('<html>413 Request Entity Too Large</html>', { status: 413 })
    assert.equal(await put(page), undefined)
  })

  test('ends as a manifest does', async () => {
    assert.deepEqual(await put(json(200, {}, '"e2"')), { kind: 'stored', etag: '"e2"' })
    assert.deepEqual(await put(json(412, errorBody('changed', '…'))), { kind: 'changed' })
    const refused = put(json(404, errorBody('unknown_cluster', 'No such cluster')))
    assert.equal(await refusal(refused), '404 The gateway answers 404: No such cluster')
  })
})

describe('state', () => {
  test('has the entity tag and the generation', async () => {
    const state = await clientOf(json(200, { generation: 7, time: TIME }, '"e1"')).state()
    assert.deepEqual(state, { etag: '"e1"', generation: 7, timeMs: Date.parse(TIME) })
  })

  test('is none when nothing is published', async () => {
    const answer = json(404, errorBody('nothing_yet', 'Nothing is published yet'))
    assert.equal(await clientOf(answer).state(), undefined)
  })

  const refused: { name: string; answer: Response; message: string }[] = [
    { name: 'no JSON', answer: new Response('<p>Hello'), message: `200 ${NOT_OURS}` },
    { name: 'nothing', answer: new Response(''), message: `200 ${NOT_OURS}` },
    { name: 'null', answer: new Response('null'), message: `200 ${NOT_OURS}` },
    { name: 'no generation', answer: json(200, {}), message: `200 ${NOT_OURS}` },
    { name: 'a text', answer: json(200, { generation: '7' }), message: `200 ${NOT_OURS}` },
    {
      name: 'that the token is wrong',
      answer: json(401, errorBody('unauthorized', 'The exporter’s token is needed')),
      message: '401 The exporter’s token is needed',
    },
    {
      name: 'an error page',
      answer: new Response('<p>', { status: 502 }),
      message: `502 ${NOT_OURS}`,
    },
    {
      name: 'an invalid message',
      answer: json(500, { error: { message: 7 } }),
      message: `500 ${NOT_OURS}`,
    },
  ]
  for (const { name, answer, message } of refused) {
    test(`fails when the gateway answers ${name}`, async () => {
      const [status, text] = [message.slice(0, 3), message.slice(4)]
      const told = await refusal(clientOf(answer).state())
      assert.equal(told, `${status} The gateway answers ${status}: ${text}`)
    })
  }
})

describe('putShard', () => {
  for (const status of [200, 201, 204]) {
    test(`is content with ${status}`, async () => {
      const answer = new Response(status === 204 ? null : '{}', { status })
      assert.equal(await clientOf(answer).putShard(HASH, BYTES), undefined)
    })
  }

  for (const status of [304, 400, 401, 413, 500]) {
    test(`fails with ${status}`, async () => {
      const body = status === 304 ? null : JSON.stringify(errorBody('no', 'Not so'))
      const text = status === 304 ? NOT_OURS : 'Not so'
      const told = await refusal(clientOf(new Response(body, { status })).putShard(HASH, BYTES))
      assert.equal(told, `${status} The gateway answers ${status}: ${text}`)
    })
  }
})

describe('putManifest', () => {
  const put = (answer: Response): Promise<unknown> => clientOf(answer).putManifest(BYTES, 's', 'e')
  const cases: { name: string; answer: Response; result: unknown }[] = [
    {
      name: 'is stored as the first one',
      answer: json(201, {}, '"e1"'),
      result: { kind: 'stored', etag: '"e1"' },
    },
    {
      name: 'is stored in place of another',
      answer: json(200, {}, '"e2"'),
      result: { kind: 'stored', etag: '"e2"' },
    },
    {
      name: 'misses shards',
      answer: json(409, { ...Object(errorBody('missing_shards', '1')), missing: [HASH] }),
      result: { kind: 'missing', sha256s: [HASH] },
    },
    {
      name: 'comes after another that it does not know',
      answer: json(412, errorBody('changed', 'The present manifest is "e9"')),
      result: { kind: 'changed' },
    },
    {
      name: 'comes after a later one',
      answer: json(409, errorBody('not_newer', 'Generation 1 is not newer than 2')),
      result: { kind: 'changed' },
    },
    {
      name: 'has an older time',
      answer: json(409, errorBody('older_time', 'The time is older')),
      result: { kind: 'older', message: 'The gateway answers 409: The time is older' },
    },
  ]
  for (const { name, answer, result } of cases) {
    test(name, async () => {
      assert.deepEqual(await put(answer), result)
    })
  }

  const refused: { name: string; answer: Response; status: number; text: string }[] = [
    {
      name: 'a signature that is wrong',
      answer: json(403, errorBody('bad_signature', 'The signature is not by this cluster’s key')),
      status: 403,
      text: 'The signature is not by this cluster’s key',
    },
    {
      name: 'a conflict that is not ours',
      answer: json(409, errorBody('busy', 'Come back later')),
      status: 409,
      text: 'Come back later',
    },
    {
      name: 'an invalid list of missing shards',
      answer: json(409, { missing: [HASH, 7] }),
      status: 409,
      text: NOT_OURS,
    },
    {
      name: 'missing shards with another status',
      answer: json(400, { missing: [HASH] }),
      status: 400,
      text: NOT_OURS,
    },
  ]
  for (const { name, answer, status, text } of refused) {
    test(`fails with ${name}`, async () => {
      assert.equal(await refusal(put(answer)), `${status} The gateway answers ${status}: ${text}`)
    })
  }
})

describe('a gateway that cannot be reached', () => {
  const below = (cause: Error): Error => new TypeError('fetch failed', { cause })
  const cases: { name: string; error: Error; text: string }[] = [
    {
      name: 'for the reason below the failure',
      error: below(new Error('connect ECONNREFUSED 192.0.2.1:443')),
      text: 'connect ECONNREFUSED 192.0.2.1:443',
    },
    {
      name: 'for the first reason when all addresses of a host fail',
      error: below(
        new AggregateError([new Error('connect ECONNREFUSED ::1:443'), new Error('other')]),
      ),
      text: 'connect ECONNREFUSED ::1:443',
    },
    {
      name: 'for a reason that has none below it',
      error: new TypeError('unexpected redirect'),
      text: 'unexpected redirect',
    },
    {
      name: 'for a token that is quoted',
      error: new TypeError(`Headers.append: "Bearer ${TOKEN}" is an invalid header value.`),
      text: 'Headers.append: "Bearer …" is an invalid header value.',
    },
  ]
  for (const { name, error, text } of cases) {
    test(`is named ${name}`, async () => {
      const client = clientOf(error, { url: 'https://dns.example.org/path/?q=1' })
      for (const step of [client.state(), client.putShard(HASH, BYTES)]) {
        assert.equal(
          await refusal(step),
          `undefined https://dns.example.org cannot be reached: ${text}`,
        )
      }
      await assert.rejects(client.state(), { cause: error })
    })
  }

  test('is reported unchanged when there is no token', async () => {
    const client = clientOf(new Error('down'), { token: '' })
    await assert.rejects(client.state(), { message: /reached: down$/ })
  })

  test('is one that breaks off its answer', async () => {
    const body = new ReadableStream({
      start: (controller) => controller.error(new TypeError('terminated')),
    })
    const told = await refusal(clientOf(new Response(body)).state())
    assert.equal(told, 'undefined https://dns.example.org cannot be reached: terminated')
  })

  /** Answers every request on loopback. */
  async function serve(t: TestContext, status: number, headers: Record<string, string>) {
    const server = createServer((_, response) => {
      response.writeHead(status, headers).end('{"generation":1}')
    })
    t.onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    assert.ok(typeof address === 'object' && address !== null)
    return `http://127.0.0.1:${address.port}`
  }

  test('is one that sends elsewhere: the token stays here', async (t) => {
    const url = await serve(t, 307, { location: 'http://192.0.2.1/' })
    const client = createGatewayClient({ url, cluster: 'shop', token: TOKEN })
    assert.equal(
      await refusal(client.state()),
      `undefined ${url} cannot be reached: unexpected redirect`,
    )
  })

  test('is none that answers, by the runtime’s own fetch', async (t) => {
    const url = await serve(t, 200, { etag: '"e1"' })
    const client = createGatewayClient({ url, cluster: 'shop', token: TOKEN })
    assert.deepEqual(await client.state(), { etag: '"e1"', generation: 1, timeMs: 0 })
  })

  test('for a token that cannot stand in a header is named without the token', async (t) => {
    const url = await serve(t, 200, {})
    const client = createGatewayClient({ url, cluster: 'shop', token: `line\n${TOKEN}` })
    assert.match(await refusal(client.state()), /cannot be reached: .* is an invalid header value/)
  })
})

test('whatever a gateway answers is a result or a refusal', async () => {
  const text = fc.oneof(fc.string(), fc.json())
  const status = fc.integer({ min: 200, max: 599 }).filter((code) => code !== 204 && code !== 205)
  await fc.assert(
    fc.asyncProperty(status, text, async (code, body) => {
      const answer = (): GatewayClient =>
        clientOf(new Response(code === 304 ? null : body, { status: code }))
      await refusal(answer().state())
      await refusal(answer().putShard(HASH, BYTES))
      await refusal(answer().putManifest(BYTES, 'sig', undefined))
    }),
  )
})
