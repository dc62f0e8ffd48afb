/**
 * A gateway that is queried by both of its paths: the app, and the fast path before it.
 * @module
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { Hono } from 'hono'
import { encodeBase64url } from '../../src/dns/bytes/base64url.ts'
import type { RequestHead } from '../../src/gateway/access/caller.ts'
import type { RateLimiter } from '../../src/gateway/access/rate-limiter.ts'
import { hostTokenOf, type TokenRecord } from '../../src/gateway/access/token.ts'
import { createMemoryTokenStore } from '../../src/gateway/access/token-store.ts'
import { type GatewayVariables, readGatewayConfig } from '../../src/gateway/config/config.ts'
import { createGatewayApp } from '../../src/gateway/routes/app.ts'
import { DirectDoh } from '../../src/gateway/routes/direct-doh.ts'
import { DirectDot, TlsHead } from '../../src/gateway/routes/direct-dot.ts'
import { Gateway } from '../../src/gateway/routes/gateway.ts'
import { createMemoryStore } from '../../src/gateway/snapshots/store.ts'
import { keys } from '../cluster/follow/memory-gateway.ts'
import { FakeHost } from '../fake-host.ts'
import { parseQuestion } from '../message-text.ts'
import { createTeam } from './access-team.ts'
import { snapshotOf, WEB } from './publishing.ts'
import { tokenRecord } from './tokens.ts'

const COREFILE = '. {\n  kubernetes shop.test {\n    cluster shop\n  }\n  forward . 192.0.2.53\n}\n'
/** The media type of messages. */
export const WIRE: string = 'application/dns-message'
const ADDRESS = '192.0.2.1'
const { privateKey, publicKeyText: publicKey } = await keys()
/** A name that the gateway has. */
export const WEB_QUESTION: string = 'web.shop.svc.shop.test A'
const known = await tokenRecord()
/** A token that the gateway knows. */
export const token: string = known.token
/** Its form for hostnames. */
export const hostToken: string = await hostTokenOf(token)
/** Its record. */
export const record: TokenRecord = known.record
/** An identity that the gateway knows. */
export const CERTIFICATE: string = 'cert:'.padEnd(69, 'c')
/** The login of an identity that the gateway knows. */
export const MAIL: string = 'alice@example.com'
/** Its logins are good at the gateway. */
export const team: Awaited<ReturnType<typeof createTeam>> = await createTeam()

/** A gateway that can be asked both ways. */
export class BothPaths {
  readonly host: FakeHost = new FakeHost({
    upstream: ({ question }) =>
      question.startsWith('large')
        ? ['NOERROR', ...LARGE]
        : ['NOERROR', 'www.example.org. 60 IN A 192.0.2.9'],
  })
  readonly store: ReturnType<typeof createMemoryStore> = createMemoryStore()
  /** What the runtime has checked of the next sender. */
  identities: readonly string[] = []
  /** The name in the handshake of the next sender. */
  serverName: string | undefined
  private parts: Parts | undefined

  private async open(
    config: Awaited<ReturnType<typeof readGatewayConfig>>,
    limiter?: RateLimiter,
  ): Promise<this> {
    const tokenStore = createMemoryTokenStore()
    void tokenStore.add(record)
    const identities = [CERTIFICATE, `access:${MAIL}`]
    void tokenStore.add({ ...record, id: 'ffffffffffff', secrets: [], identities })
    const runtime = {
      host: this.host,
      originOf: () => this.store,
      writerOf: () => assert.fail('nobody writes'),
      tokenStore,
      randomBytes,
      clientOf: () => ({ address: ADDRESS, port: 0, transport: 'https' as const }),
      identitiesOf: () => this.identities,
      serverNameOf: () => this.serverName,
      fetch: (url: string) => team.fetch(url),
      keepAlive: () => undefined,
      ...(limiter === undefined ? {} : { limiter }),
    }
    const gateway = await Gateway.open(config, runtime)
    const app = createGatewayApp(config, runtime, gateway)
    this.parts = { app, direct: new DirectDoh(gateway, config), dot: new DirectDot(gateway) }
    return this
  }

  private get started(): Parts {
    return this.parts ?? assert.fail('it has not started')
  }

  static async start(variables: GatewayVariables = {}, limiter?: RateLimiter): Promise<BothPaths> {
    const CLUSTERS = JSON.stringify({ shop: { publicKey, tokenSha256: 'a'.repeat(64) } })
    const config = await readGatewayConfig({ COREFILE, CLUSTERS, ...variables })
    const fixture = await new BothPaths().open(config, limiter)
    const time = new Date(fixture.host.now()).toISOString()
    const { signed, shards } = await snapshotOf(privateKey, [WEB], { time })
    for (const [sha256, bytes] of shards) await fixture.store.writeShard(sha256, bytes, 0)
    await fixture.store.writeManifest(1, signed, { generations: new Set() })
    return fixture
  }

  /** By the app: status, headers and bytes. */
  async byApp(sent: Sent): Promise<Got> {
    const { method, path, headers, body } = sent
    const url = `https://${headers.host ?? 'dns.test'}${path}`
    const response = await this.started.app.request(url, {
      method,
      headers,
      ...(body === undefined ? {} : { body: new Uint8Array(body) }),
    })
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: [...new Uint8Array(await response.arrayBuffer())],
    }
  }

  /** By DNS over TLS, with `serverName` in the handshake. */
  async overTls(message: Uint8Array, serverName?: string): Promise<Uint8Array | undefined> {
    const client = { address: ADDRESS, port: 853, transport: 'tls' } as const
    const head = new TlsHead(client, serverName, () => this.identities)
    return this.started.dot.answer(message, head, () => undefined)
  }

  /** The other way; `undefined` when it leaves the request to the app. */
  async directly({ method, path, headers, body }: Sent): Promise<Got | undefined> {
    const header: RequestHead['header'] = (name) => headers[name]
    const identities = (): readonly string[] => this.identities
    const admitted = this.started.direct.admit({
      method,
      path,
      header,
      identities,
      address: ADDRESS,
      serverName: () => this.serverName,
    })
    if (admitted === undefined) return undefined
    const ready = await this.started.direct.answer(admitted, body, () => undefined)
    return { status: ready.status, headers: { ...ready.headers }, body: [...ready.body] }
  }
}

type Parts = { readonly app: Hono; readonly direct: DirectDoh; readonly dot: DirectDot }

/** A request. */
export type Sent = {
  method: string
  path: string
  headers: Record<string, string>
  body?: Uint8Array
}
/** A response. */
export type Got = { status: number; headers: Record<string, string>; body: number[] }

/** Creates a GET request with a token. */
export function get(question: string, headers: Record<string, string> = {}): Sent {
  const dns = encodeBase64url(parseQuestion(question).message)
  const authorization = `Bearer ${token}`
  return { method: 'GET', path: `/dns-query?dns=${dns}`, headers: { authorization, ...headers } }
}

/** Creates a POST request with a token. */
export function post(body: Uint8Array, headers: Record<string, string> = {}): Sent {
  const authorization = `Bearer ${token}`
  const all = {
    authorization,
    'content-type': WIRE,
    'content-length': String(body.length),
    ...headers,
  }
  return { method: 'POST', path: '/dns-query', headers: all, body }
}

const LARGE = Array.from(
  { length: 40 },
  (_, n) => `large.example.org. 60 IN TXT "${n}${'x'.repeat(99)}"`,
)
