import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'vitest'
import type { Client } from '../../../src/resolver/contract/client.ts'
import type { TlsService } from '../../../src/resolver/contract/feature.ts'
import { createDohServer } from '../../../src/server/http/doh-server.ts'
import type { Answer } from '../../../src/server/sockets/answer.ts'
import { openUpstream } from '../../../src/server/upstream/upstream-client.ts'
import { AUTHORITY, SERVER } from '../../certificates.ts'
import { LONG_MS, QUERY, RIGHT } from '../answer-samples.ts'
import { echo, TcpClient, within } from '../clients.ts'

const SECURE: TlsService = { ...SERVER, clientAuth: 'nocert' }

type Opened = { readonly port: number; readonly statuses: number[] }

async function open(
  t: TestContext,
  answer: Answer,
  { tls, connectionsMax }: { tls?: TlsService; connectionsMax?: number } = {},
): Promise<Opened> {
  const statuses: number[] = []
  const server = createDohServer({
    answer: () => answer,
    tls,
    connectionsMax,
    bounds: () => ({}),
    onResponse: (status) => statuses.push(status),
  })
  t.onTestFinished(() => server.close())
  return { port: await server.listen('127.0.0.1', 0), statuses }
}

/** Sends a query by GET or POST. */
async function ask(
  t: TestContext,
  url: string,
  dohMethod: 'GET' | 'POST' = 'POST',
): Promise<Uint8Array> {
  const port = Number(new URL(url).port)
  const upstream = { transport: 'https', address: '127.0.0.1', port, url } as const
  const client = openUpstream(upstream, {
    tls: { ca: AUTHORITY },
    expireMs: LONG_MS,
    ageMsMax: 0,
    idleMax: 0,
    dohMethod,
    resolvers: [],
    onConnection: () => undefined,
  })
  t.onTestFinished(() => client.close())
  return client.exchange(QUERY, { protocol: 'udp', timeoutMs: LONG_MS })
}

describe('a DNS-over-HTTPS server', () => {
  for (const method of ['GET', 'POST'] as const) {
    for (const [scheme, tls] of [
      ['https', SECURE],
      ['http', undefined],
    ] as const) {
      test(`answers ${method} over ${scheme}, with the client's address`, async (t) => {
        const clients: Client[] = []
        const answer: Answer = (message, client) => {
          clients.push(client)
          return Promise.resolve(echo(message))
        }
        const { port, statuses } = await open(t, answer, tls && { tls })
        assert.deepEqual(await ask(t, `${scheme}://127.0.0.1:${port}/dns-query`, method), RIGHT)
        const [client] = clients
        assert.deepEqual(
          [client?.transport, client?.address, client?.localAddress, client?.localPort],
          ['https', '127.0.0.1', '127.0.0.1', port],
        )
        assert.deepEqual(statuses, [200])
      })
    }
  }

  test('counts responses by status', async (t) => {
    const { port, statuses } = await open(t, () => undefined)
    const get = async (path: string, init?: RequestInit): Promise<number> =>
      (await fetch(`http://127.0.0.1:${port}${path}`, init)).status
    const headers = { 'content-type': 'application/dns-message' }
    const seen = [
      await get('/other'),
      await get('/dns-query'),
      await get('/dns-query', { method: 'POST', headers, body: 'short' }),
      await get('/dns-query', { method: 'POST', headers, body: new Uint8Array(QUERY) }),
      await get('/dns-query', { method: 'PUT' }),
    ]
    assert.deepEqual(seen, [404, 400, 400, 500, 405])
    assert.deepEqual(statuses, seen)
  })

  test('drops an idle connection at connectionsMax', async (t) => {
    const { port } = await open(t, echo, { connectionsMax: 1 })
    const first = await TcpClient.open(port)
    t.onTestFinished(() => first.destroy())
    const second = await TcpClient.open(port)
    t.onTestFinished(() => second.destroy())
    await within(first.closed, 'the end of one too many')
    assert.equal(second.isClosed, false)
  })
})
