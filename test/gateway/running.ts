/**
 * A gateway in this process, a cluster that publishes to it, and who asks.
 * @module
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { encodeBase64url } from '../../src/dns/bytes/base64url.ts'
import { createGatewayClient } from '../../src/exporter/gateway-client.ts'
import { Publisher } from '../../src/exporter/publisher.ts'
import { createMemoryTokenStore, type TokenStore } from '../../src/gateway/access/token-store.ts'
import {
  type GatewayConfig,
  type GatewayVariables,
  readGatewayConfig,
} from '../../src/gateway/config/config.ts'
import { createGatewayApp } from '../../src/gateway/routes/app.ts'
import { Gateway, type GatewayRuntime } from '../../src/gateway/routes/gateway.ts'
import { LocalWriter } from '../../src/gateway/snapshots/local-writer.ts'
import type { ClusterWriter } from '../../src/gateway/snapshots/publish-routes.ts'
import type { SnapshotOrigin } from '../../src/gateway/snapshots/snapshot-follower.ts'
import { type ClusterStore, createMemoryStore } from '../../src/gateway/snapshots/store.ts'
import { sha256Hex } from '../../src/snapshot/format/signature.ts'
import type { TokenIssuer } from '../../src/snapshot/format/token-issuer.ts'
import { keys } from '../cluster/follow/memory-gateway.ts'
import { FakeHost } from '../fake-host.ts'
import { formatReply, parseQuestion } from '../message-text.ts'
import { snapshotOf, WEB } from './publishing.ts'

/** What the gateways serve. */
export const COREFILE: string =
  '. {\n  kubernetes shop.example.org cluster.local {\n    cluster shop\n  }\n}\n'
/** A token that sees everything. */
export const CLIENT_TOKEN: string = 'the-token-of-clients'
/** Of cluster `shop`. */
export const EXPORTER_TOKEN: string = 'the-token-of-the-exporter'
const { privateKey, publicKey, publicKeyText } = await keys()
/** Hash of the clients' token. */
export const clientSha256: string = await hashOf(CLIENT_TOKEN)
/** The cluster and its keys. */
export const CLUSTERS: string = JSON.stringify({
  shop: { publicKey: publicKeyText, tokenSha256: await hashOf(EXPORTER_TOKEN) },
})
/** Asks for what `publish` publishes, by GET. */
export const QUESTION: string = `?dns=${encodeBase64url(parseQuestion('web.shop.svc.shop.example.org A').message)}`

function hashOf(text: string): Promise<string> {
  return sha256Hex(new TextEncoder().encode(text))
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }

/** A gateway in this process. */
export class Running {
  readonly host: FakeHost
  readonly store: Writable<ClusterStore> = createMemoryStore()
  readonly tokens: TokenStore = createMemoryTokenStore()
  readonly kept: Promise<void>[] = []
  /** What pages of the web say. */
  fetchPage: (url: string) => Promise<Response> = () => Promise.reject(new Error('no such page'))
  /** Who writes what is published; without one writing fails. */
  writer: ClusterWriter | undefined
  /** What decides and answers behind the routes. */
  gateway: Gateway | undefined
  private opened: ReturnType<typeof createGatewayApp> | undefined

  private constructor(host: FakeHost) {
    this.host = host
  }

  get app(): ReturnType<typeof createGatewayApp> {
    return this.opened ?? assert.fail('it has not started')
  }

  private async open(config: GatewayConfig, more: Partial<GatewayRuntime>): Promise<this> {
    const runtime: GatewayRuntime = {
      host: this.host,
      originOf: () => this.store,
      writerOf: () => {
        if (this.writer !== undefined) return this.writer
        throw new Error('a secret that no response has')
      },
      tokenStore: this.tokens,
      randomBytes,
      identitiesOf: () => [],
      fetch: (url) => this.fetchPage(url),
      clientOf: () => ({ address: '192.0.2.1', port: 0, transport: 'https' }),
      keepAlive: (_, promise) => this.kept.push(promise),
      ...more,
    }
    this.gateway = await Gateway.open(config, runtime)
    this.opened = createGatewayApp(config, runtime, this.gateway)
    return this
  }

  /** Starts one, in a runtime that has more; `follow` has its store followed. */
  static async start(
    variables: Partial<GatewayVariables> = {},
    host: FakeHost = new FakeHost({ isGateway: true }),
    { follow, ...more }: Partial<GatewayRuntime> & Pick<SnapshotOrigin, 'follow'> = {},
  ): Promise<Running> {
    const running = new Running(host)
    if (follow !== undefined) Object.assign(running.store, { follow })
    const config = await readGatewayConfig({ COREFILE, CLUSTERS, ...variables })
    return running.open(config, more)
  }

  /** Creates an exporter of cluster `shop` that goes by its own clock. */
  exporter(now: () => number): Publisher {
    this.writer ??= new LocalWriter({
      cluster: 'shop',
      publicKey,
      store: this.store,
      now: this.host.now,
    })
    const gateway = createGatewayClient({
      url: 'https://dns.example.org',
      cluster: 'shop',
      token: EXPORTER_TOKEN,
      fetch: async (input, init) => this.app.request(input, init),
    })
    return new Publisher({ cluster: 'shop', gateway, key: privateKey, now })
  }

  /** Publishes records of cluster `shop`, record sets with an empty line between them. */
  async publish(
    lines: string = WEB,
    generation = 1,
    labels?: Readonly<Record<string, readonly string[]>>,
    confirmedMs: number = this.host.now(),
    tokenIssuer?: TokenIssuer,
  ): Promise<void> {
    await this.publishWhole(lines, generation, {
      confirmed: new Date(confirmedMs).toISOString(),
      ...(labels && { labels }),
      ...(tokenIssuer && { tokenIssuer }),
    })
  }

  /** As `publish`, with more in the manifest. */
  async publishWhole(
    lines: string,
    generation: number,
    fields: Parameters<typeof snapshotOf>[2],
  ): Promise<void> {
    const time = new Date(this.host.now()).toISOString()
    const all = { generation, time, ...fields }
    const { signed, shards } = await snapshotOf(privateKey, lines.split('\n\n'), all)
    for (const [sha256, bytes] of shards) await this.store.writeShard(sha256, bytes, 0)
    const generations = new Set(Array.from({ length: generation }, (_, i) => i))
    await this.store.writeManifest(generation, signed, { generations })
  }

  /** Sends a request by GET. */
  async get(path: string, token?: string): Promise<Response> {
    return this.send(path, token === undefined ? {} : { authorization: `Bearer ${token}` })
  }

  /** Sends a request with headers. */
  async send(
    path: string,
    headers: Readonly<Record<string, string>>,
    method = 'GET',
  ): Promise<Response> {
    return this.app.request(`https://dns.example.org${path}`, { headers, method })
  }

  /** Lets time pass, and sends a query, at which the gateway looks for a newer manifest. */
  async pass(durationMs: number): Promise<void> {
    await this.host.advance(durationMs)
    await this.ask()
    await Promise.all(this.kept)
  }

  /** Asks as the owner of the clients' token, and returns the reply's lines. */
  async ask(question = 'web.shop.svc.shop.example.org A'): Promise<string[]> {
    const message = parseQuestion(question).message
    const response = await this.get(`/dns-query?dns=${encodeBase64url(message)}`, CLIENT_TOKEN)
    assert.equal(response.status, 200)
    return formatReply(new Uint8Array(await response.arrayBuffer()))
  }
}

/** Starts a gateway that answers who has the clients' token. */
export function withToken(): Promise<Running> {
  return Running.start({ CLIENT_TOKEN_SHA256: clientSha256 })
}
