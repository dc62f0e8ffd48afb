import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { Hono } from 'hono'
import { describe, test } from 'vitest'
import { encodeBase64url } from '../../../src/dns/bytes/base64url.ts'
import type { TokenRecord } from '../../../src/gateway/access/token.ts'
import type { TokenStore } from '../../../src/gateway/access/token-store.ts'
import { readGatewayConfig } from '../../../src/gateway/config/config.ts'
import type { Answered } from '../../../src/gateway/routes/answer-observer.ts'
import { createGatewayApp } from '../../../src/gateway/routes/app.ts'
import { DirectDoh } from '../../../src/gateway/routes/direct-doh.ts'
import { Gateway } from '../../../src/gateway/routes/gateway.ts'
import { createMemoryStore } from '../../../src/gateway/snapshots/store.ts'
import { keys } from '../../cluster/follow/memory-gateway.ts'
import { FakeHost } from '../../fake-host.ts'
import { parseQuestion } from '../../message-text.ts'
import { snapshotOf, WEB } from '../publishing.ts'
import { storeOf, tokenRecord } from '../tokens.ts'

const COREFILE = `. {
  kubernetes shop.test {
    cluster shop
  }
  forward . 192.0.2.53
}
both.test {
  kubernetes both.test {
    cluster shop east
  }
}
`
const WIRE = 'application/dns-message'
const { privateKey, publicKeyText: publicKey } = await keys()

/** A gateway with an observer, queried on the fast path and through its routes. */
class Fixture {
  readonly host = new FakeHost({
    upstream: async () => {
      await this.host.advance(7)
      return ['NOERROR', 'www.example.org. 60 IN A 192.0.2.9']
    },
  })
  readonly reports: Omit<Answered, 'request'>[] = []
  /** The requests behind the reports. */
  readonly requests: unknown[] = []
  /** Whether the observer throws. */
  isBroken = false
  /** The token that is sent. */
  token = ''
  private parts: { readonly app: Hono; readonly direct: DirectDoh } | undefined

  private async open(
    config: Awaited<ReturnType<typeof readGatewayConfig>>,
    store: ReturnType<typeof createMemoryStore>,
    { wantsNames, tokenStore }: { readonly wantsNames: boolean; readonly tokenStore: TokenStore },
  ): Promise<this> {
    const runtime = {
      host: this.host,
      originOf: (cluster: string) => (cluster === 'shop' ? store : createMemoryStore()),
      writerOf: () => assert.fail('no write is expected'),
      tokenStore,
      randomBytes,
      clientOf: () => ({ address: '192.0.2.1', port: 0, transport: 'https' as const }),
      identitiesOf: () => [],
      fetch: () => Promise.reject(new Error('no request is expected')),
      keepAlive: () => undefined,
      observer: {
        wantsNames,
        onAnswer: ({ request, ...answered }: Answered) => {
          if (this.isBroken) throw new Error('no room')
          this.reports.push(answered)
          this.requests.push(request)
        },
      },
    }
    const gateway = await Gateway.open(config, runtime)
    const app = createGatewayApp(config, runtime, gateway)
    this.parts = { app, direct: new DirectDoh(gateway, config) }
    return this
  }

  private get started(): { readonly app: Hono; readonly direct: DirectDoh } {
    return this.parts ?? assert.fail('it has not started')
  }

  static async start(wantsNames = false, tokens: readonly TokenRecord[] = []): Promise<Fixture> {
    const cluster = { publicKey, tokenSha256: 'a'.repeat(64) }
    const CLUSTERS = JSON.stringify({ shop: cluster, east: cluster })
    const PUBLIC = String(tokens.length === 0)
    const config = await readGatewayConfig({ COREFILE, CLUSTERS, PUBLIC })
    const store = createMemoryStore()
    const fixture = await new Fixture().open(config, store, {
      wantsNames,
      tokenStore: storeOf(tokens),
    })
    const time = new Date(fixture.host.now()).toISOString()
    const { signed, shards } = await snapshotOf(privateKey, [WEB], {
      time,
      treeSets: { multicluster: [WEB] },
    })
    for (const [sha256, bytes] of shards) await store.writeShard(sha256, bytes, 0)
    const kept = { generations: new Set<number>() }
    await store.writeManifest(1, signed, kept)
    return fixture
  }

  async directly(message: Uint8Array, method: string): Promise<Uint8Array> {
    const isPost = method === 'POST'
    const headers = new Map([
      ['content-type', WIRE],
      ['content-length', String(message.length)],
      ['authorization', `Bearer ${this.token}`],
    ])
    const ticket = this.started.direct.admit({
      method,
      path: isPost ? '/dns-query' : `/dns-query?dns=${encodeBase64url(message)}`,
      header: (name) => headers.get(name),
      address: '192.0.2.1',
    })
    assert.ok(ticket)
    const { body } = await this.started.direct.answer(
      ticket,
      isPost ? message : undefined,
      () => undefined,
    )
    return body
  }

  async byApp(message: Uint8Array, method: string): Promise<Uint8Array> {
    const isPost = method === 'POST'
    const path = isPost ? '' : `?dns=${encodeBase64url(message)}`
    return this.get(`/dns-query${path}`, {
      method,
      headers: { 'content-type': WIRE, authorization: `Bearer ${this.token}` },
      ...(isPost && { body: new Uint8Array(message) }),
    })
  }

  async get(path: string, init: RequestInit = {}): Promise<Uint8Array> {
    const response = await this.started.app.request(`https://dns.test${path}`, init)
    return new Uint8Array(await response.arrayBuffer())
  }
}

const NAME = 'web.shop.svc.shop.test'
const CASES = [
  { query: `${NAME} A`, is: ['shop', 'NOERROR', 'A', 'fresh'], ms: 0 },
  { query: `${NAME} SRV`, is: ['shop', 'NOERROR', 'SRV', 'fresh'], ms: 0 },
  { query: 'none.svc.shop.test AAAA', is: ['shop', 'NXDOMAIN', 'AAAA', 'fresh'], ms: 0 },
  { query: 'www.example.org A', is: ['', 'NOERROR', 'A', ''], ms: 7 },
  { query: `${NAME} A version1`, is: ['', 'BADVERS', '', ''], ms: 0 },
]

describe('an observer gets a report of each answer', () => {
  for (const { query, is, ms } of CASES) {
    for (const way of ['directly', 'byApp'] as const) {
      for (const method of ['GET', 'POST']) {
        test(`${query}, ${method} ${way}`, async () => {
          const fixture = await Fixture.start()
          const [text, version] = query.split(' version')
          const { message } = parseQuestion(text ?? '')
          const sent = version === undefined ? message : withVersion(message)
          const body = await fixture[way](sent, method)
          const [clusters, rcode, type, freshness] = is
          assert.deepEqual(fixture.reports, [
            { clusters, rcode, type, method, freshness, tokenId: '', ms, bytes: body.length },
          ])
        })
      }
    }
  }

  test('of the JSON API, with the size of the message, which has an OPT record', async () => {
    const fixture = await Fixture.start()
    const wire = await fixture.directly(parseQuestion(`${NAME} A`).message, 'GET')
    await fixture.get(`/resolve?name=${NAME}`)
    assert.deepEqual(fixture.reports[1], {
      clusters: 'shop',
      ...{ rcode: 'NOERROR', type: 'A', method: 'JSON', freshness: 'fresh' },
      ...{ tokenId: '', ms: 0, bytes: wire.length + 11 },
    })
  })

  test('with the freshness of each cluster', async () => {
    const fixture = await Fixture.start()
    await fixture.get(`/resolve?name=${NAME}`)
    await fixture.host.advance(61_000)
    await fixture.get(`/resolve?name=${NAME}`)
    await fixture.get('/resolve?name=web.shop.svc.both.test')
    const ages = fixture.reports.map(({ clusters, freshness }) => [clusters, freshness])
    assert.deepEqual(ages, [
      ['shop', 'fresh'],
      ['shop', 'stale'],
      ['shop east', 'stale expired'],
    ])
  })

  test('with the query name in lower case, if enabled', async () => {
    const fixture = await Fixture.start(true)
    await fixture.get('/resolve?name=WEB.shop.svc.Shop.test')
    assert.equal(fixture.reports[0]?.name, `${NAME}.`)
  })

  test('with the token of the client, and the request where there is one', async () => {
    const { token, record } = await tokenRecord()
    const fixture = await Fixture.start(false, [record])
    fixture.token = token
    const { message } = parseQuestion(`${NAME} A`)
    await fixture.byApp(message, 'POST')
    // The fast path knows the token by now.
    await fixture.directly(message, 'GET')
    assert.deepEqual(
      fixture.reports.map(({ tokenId }) => tokenId),
      [record.id, record.id],
    )
    const [first, second] = fixture.requests
    assert.ok(first instanceof Request)
    assert.equal(second, undefined)
    assert.ok(!JSON.stringify(fixture.reports).includes(token))
  })

  test('and of no other request', async () => {
    const fixture = await Fixture.start()
    for (const path of [
      '/',
      '/dns-query',
      '/dns-query?dns=AAAA',
      '/resolve',
      '/healthz',
      '/none',
    ]) {
      await fixture.get(path)
    }
    assert.deepEqual(fixture.reports, [])
  })

  test('which does not change the answer when the observer throws', async () => {
    const fixture = await Fixture.start()
    const { message } = parseQuestion(`${NAME} A`)
    const before = await fixture.directly(message, 'GET')
    fixture.isBroken = true
    assert.deepEqual(await fixture.directly(message, 'GET'), before)
    assert.deepEqual(await fixture.byApp(message, 'POST'), before)
    assert.equal(fixture.reports.length, 1)
    const logged = fixture.host.events.filter(({ error }) => error === 'Error: no room')
    assert.deepEqual(
      logged.map(({ message: text }) => text),
      Array(2).fill('cannot count an answer'),
    )
  })
})

/** The same with an OPT record of EDNS version 1 in place of any (RFC 6891 §6.1.3). */
function withVersion(message: Uint8Array): Uint8Array {
  const opt = Uint8Array.of(0, 0, 41, 4, 208, 0, 1, 0, 0, 0, 0)
  const bytes = new Uint8Array([...message, ...opt])
  bytes[11] = 1
  return bytes
}
