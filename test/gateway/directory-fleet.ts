/**
 * Gateways with `cluster *` over one store, as processes or isolates are, an operator who changes
 * the directory, and exporters that publish.
 * @module
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { encodeBase64url } from '../../src/dns/bytes/base64url.ts'
import { createGatewayClient } from '../../src/exporter/gateway-client.ts'
import { hashToken } from '../../src/gateway/access/token.ts'
import { type GatewayVariables, readGatewayConfig } from '../../src/gateway/config/config.ts'
import {
  openStoredGateway,
  type StoredGateway,
  withStore,
} from '../../src/gateway/routes/stored-gateway.ts'
import { createMemoryGatewayStore, type GatewayStore } from '../../src/gateway/snapshots/store.ts'
import { keys } from '../cluster/follow/memory-gateway.ts'
import { FakeHost } from '../fake-host.ts'
import { formatReply, parseQuestion } from '../message-text.ts'
import { nextUpstream } from '../next-upstream.ts'
import { snapshotOf, WEB } from './publishing.ts'

/** What the next plugin answers, for names of no cluster. */
export const NEXT_ADDRESS = '192.0.2.80'
/** The token of the operator. */
export const ADMIN = 'the-token-of-the-operator'
const COREFILE = `. {
  kubernetes *.k8s.test {
    cluster *
  }
  forward . 192.0.2.53
}
taken.k8s.test {
  whoami
}
`

/** What an exporter has, and what the gateway gets of it. */
export type ExporterSide = Awaited<ReturnType<typeof keys>> & {
  readonly token: string
  readonly publicHalf: { readonly publicKey: string; readonly tokenSha256: string }
}

/** Creates the keys and the token of an exporter. */
export async function exporterSide(token: string): Promise<ExporterSide> {
  const pair = await keys()
  const publicHalf = { publicKey: pair.publicKeyText, tokenSha256: await hashToken(token) }
  return { ...pair, token, publicHalf }
}

/** Creates a store in memory that several gateways share. */
function sharedStore(): GatewayStore {
  const { clusterStore, tokenStore, directory } = createMemoryGatewayStore()
  const { store } = directory ?? assert.fail()
  const known = new Map<string, ReturnType<typeof clusterStore>>()
  return {
    tokenStore,
    clusterStore: (cluster) => {
      const one = known.get(cluster) ?? clusterStore(cluster)
      known.set(cluster, one)
      return one
    },
    directory: { store, removeSnapshots: async (cluster) => known.delete(cluster) },
  }
}

/** What is opened in another way. */
type Opened = {
  readonly variables?: Partial<GatewayVariables>
  /** Sends requests to issuers. */
  readonly fetch?: (url: string) => Promise<Response>
}

/** Gateways over one store. */
export class DirectoryFleet {
  readonly host: FakeHost = new FakeHost({ isGateway: true, upstream: nextUpstream })
  readonly store: GatewayStore
  private readonly kept: Promise<void>[] = []
  private readonly gateways: StoredGateway[] = []
  /** The token that {@link ask} sends; '' for none. */
  asking = ''

  private constructor(store: GatewayStore) {
    this.store = store
  }

  /** Opens some gateways; cluster `prod` is in CLUSTERS. */
  static async open(
    count: number,
    store: GatewayStore = sharedStore(),
    corefile: string = COREFILE,
    { variables, fetch }: Opened = {},
  ): Promise<DirectoryFleet> {
    const fleet = new DirectoryFleet(store)
    const { publicHalf } = await exporterSide('the-token-of-prod')
    for (let i = 0; i < count; i++) {
      const config = await readGatewayConfig({
        COREFILE: corefile,
        CLUSTERS: JSON.stringify({ prod: publicHalf }),
        ADMIN_TOKEN_SHA256: await hashToken(ADMIN),
        PUBLIC: 'true',
        ...variables,
      })
      const runtime = {
        host: fleet.host,
        randomBytes,
        fetch: fetch ?? (() => assert.fail('no request is expected')),
        clientOf: () => ({ address: '192.0.2.1', port: 0, transport: 'https' }) as const,
        identitiesOf: () => [],
        keepAlive: (_: unknown, promise: Promise<void>) => void fleet.kept.push(promise),
      }
      fleet.gateways.push(await openStoredGateway(config, withStore(config, runtime, store)))
    }
    return fleet
  }

  /** Sends a request to the first gateway, or another one. */
  async send(
    method: string,
    path: string,
    { body, token = ADMIN, at = 0 }: { body?: object | string; token?: string; at?: number } = {},
  ): Promise<{ readonly status: number; readonly body: unknown }> {
    const { app } = this.gateways[at] ?? assert.fail()
    const headers = token === '' ? {} : { authorization: `Bearer ${token}` }
    const text = typeof body === 'object' ? JSON.stringify(body) : body
    const response = await app.request(`https://dns.example.org${path}`, {
      method,
      headers,
      ...(text !== undefined && { body: text }),
    })
    const answer = await response.text()
    const isJson = response.headers.get('content-type') === 'application/json'
    return { status: response.status, body: isJson ? JSON.parse(answer) : answer }
  }

  /** Publishes an address of `web` as an exporter, at the first gateway. */
  async publish(
    cluster: string,
    { privateKey, token }: ExporterSide,
    address: string,
    generation: number,
  ): Promise<string> {
    const time = new Date(this.host.now()).toISOString()
    const lines = [WEB.replace('10.96.0.80', address)]
    const { signed, shards } = await snapshotOf(privateKey, lines, { cluster, generation, time })
    const client = createGatewayClient({
      url: 'https://dns.example.org',
      cluster,
      token,
      fetch: async (input, init) => this.gateways[0]?.app.request(input, init) ?? assert.fail(),
    })
    const state = await client.state()
    for (const [sha256, bytes] of shards) await client.putShard(sha256, bytes)
    return (await client.putManifest(signed.bytes, signed.signature, state?.etag)).kind
  }

  /** Asks a gateway for `web` of a cluster; returns the RCODE, or the address. */
  async ask(cluster: string, at = 0, token: string = this.asking): Promise<string> {
    const { message } = parseQuestion(`web.shop.svc.${cluster}.k8s.test A`)
    const { app } = this.gateways[at] ?? assert.fail()
    const path = `/dns-query?dns=${encodeBase64url(message)}`
    const headers = token === '' ? {} : { authorization: `Bearer ${token}` }
    const response = await app.request(`https://dns.example.org${path}`, { headers })
    if (response.status === 401) return '401'
    assert.equal(response.status, 200)
    const [head = '', record] = formatReply(new Uint8Array(await response.arrayBuffer()))
    return record?.split(' A ')[1] ?? head.split(' ')[0] ?? ''
  }

  /** Lets the time pass after which each gateway has read the directory and a cluster again. */
  async settle(cluster = 'lab'): Promise<void> {
    for (let round = 0; round < 2; round++) {
      await this.host.advance(1000)
      for (const [at] of this.gateways.entries()) await this.ask(cluster, at)
      await Promise.all(this.kept.splice(0))
    }
  }
}
