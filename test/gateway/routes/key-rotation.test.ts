/** A cluster's keys change while queries come: none of them fails. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'vitest'
import { encodeBase64url } from '../../../src/dns/bytes/base64url.ts'
import { createGatewayClient } from '../../../src/exporter/gateway-client.ts'
import { hashToken } from '../../../src/gateway/access/token.ts'
import { readGatewayConfig } from '../../../src/gateway/config/config.ts'
import {
  openStoredGateway,
  type StoredGateway,
  withStore,
} from '../../../src/gateway/routes/stored-gateway.ts'
import {
  createMemoryGatewayStore,
  type GatewayStore,
  manifestOf,
} from '../../../src/gateway/snapshots/store.ts'
import { keys } from '../../cluster/follow/memory-gateway.ts'
import { FakeHost } from '../../fake-host.ts'
import { parseQuestion } from '../../message-text.ts'
import { snapshotOf, WEB } from '../publishing.ts'

const COREFILE = '. {\n  kubernetes shop.test {\n    cluster shop\n  }\n}\n'
const DNS = encodeBase64url(parseQuestion('web.shop.svc.shop.test A').message)
const ISOLATES = 3

/** What an exporter has: a token, and a signing key. */
type Exporter = Awaited<ReturnType<typeof keys>> & { readonly token: string }

const old: Exporter = { ...(await keys()), token: 'the-old-token' }
const next: Exporter = { ...(await keys()), token: 'the-new-token' }

async function entryOf(...exporters: readonly Exporter[]): Promise<object> {
  return {
    publicKeys: exporters.map(({ publicKeyText }) => publicKeyText),
    tokenSha256s: await Promise.all(exporters.map(({ token }) => hashToken(token))),
  }
}

/** Gateways over one store, as isolates of a Worker are. */
class Fleet {
  readonly host = new FakeHost({ isGateway: true })
  readonly store: GatewayStore
  /** How many responses had each RCODE. */
  readonly rcodes = new Map<number, number>()
  private readonly gateways: StoredGateway[] = []
  private isLoaded = false
  private load: Promise<void> = Promise.resolve()
  private rounds = 0

  constructor() {
    const { tokenStore, clusterStore } = createMemoryGatewayStore()
    const shop = clusterStore('shop')
    this.store = { tokenStore, clusterStore: () => shop }
  }

  /** Replaces the gateways one after the other, while those before still run. */
  async deploy(entry: object): Promise<void> {
    for (let i = 0; i < ISOLATES; i++) {
      this.gateways[i] = await this.open(entry)
      await this.pass(2)
    }
  }

  private async open(shop: object): Promise<StoredGateway> {
    const CLUSTERS = JSON.stringify({ shop })
    const config = await readGatewayConfig({ COREFILE, CLUSTERS, PUBLIC: 'true' })
    const runtime = {
      host: this.host,
      randomBytes,
      fetch: () => assert.fail('no request is expected'),
      clientOf: () => ({ address: '192.0.2.1', port: 0, transport: 'https' }) as const,
      identitiesOf: () => [],
      keepAlive: () => undefined,
    }
    return openStoredGateway(config, withStore(config, runtime, this.store))
  }

  /** Starts to send queries to all gateways, without a pause. */
  startLoad(): void {
    this.isLoaded = true
    const loop = async (): Promise<void> => {
      while (this.isLoaded) {
        await this.ask()
        await this.host.advance(300)
        this.rounds++
      }
    }
    this.load = loop()
  }

  async stopLoad(): Promise<void> {
    this.isLoaded = false
    await this.load
  }

  /** Waits until rounds of queries were answered; sends none itself while there is load. */
  async pass(rounds: number): Promise<void> {
    const end = this.rounds + rounds
    while (this.isLoaded && this.rounds < end) await new Promise(setImmediate)
  }

  async ask(): Promise<void> {
    for (const { app } of [...this.gateways]) {
      const response = await app.request(`https://dns.example.org/dns-query?dns=${DNS}`)
      assert.equal(response.status, 200)
      const rcode = (new Uint8Array(await response.arrayBuffer())[3] ?? 0) & 15
      this.rcodes.set(rcode, (this.rcodes.get(rcode) ?? 0) + 1)
    }
  }

  /** Publishes an address as an exporter; resolves with what comes of it. */
  async publish(exporter: Exporter, address: string, generation: number): Promise<string> {
    const { signed, shards } = await snapshotOf(
      exporter.privateKey,
      [WEB.replace('10.96.0.80', address)],
      { generation, time: new Date(this.host.now()).toISOString() },
    )
    const client = createGatewayClient({
      url: 'https://dns.example.org',
      cluster: 'shop',
      token: exporter.token,
      fetch: async (input, init) => this.gateways[0]?.app.request(input, init) ?? assert.fail(),
    })
    const state = await client.state()
    for (const [sha256, bytes] of shards) await client.putShard(sha256, bytes)
    return (await client.putManifest(signed.bytes, signed.signature, state?.etag)).kind
  }

  async served(): Promise<number | undefined> {
    const served = await this.store.clusterStore('shop').readManifest()
    return served && manifestOf(served).generation
  }
}

describe('keys of a cluster rotate under load', () => {
  test('without a query that fails, when the old and the new ones overlap', async () => {
    const fleet = new Fleet()
    await fleet.deploy(await entryOf(old))
    assert.equal(await fleet.publish(old, '192.0.2.1', 1), 'stored')
    fleet.startLoad()
    await fleet.pass(5)
    await fleet.deploy(await entryOf(next, old))
    assert.equal(await fleet.publish(old, '192.0.2.2', 2), 'stored')
    await fleet.pass(5)
    assert.equal(await fleet.publish(next, '192.0.2.3', 3), 'stored')
    await fleet.pass(5)
    await fleet.deploy(await entryOf(next))
    await fleet.pass(5)
    await fleet.stopLoad()
    assert.deepEqual([...fleet.rcodes.keys()], [0])
    assert.ok((fleet.rcodes.get(0) ?? 0) >= 30)
    await assert.rejects(fleet.publish(old, '192.0.2.9', 9), /token/i)
    assert.equal(await fleet.served(), 3)
  })

  test('with SERVFAIL until the next publication, when they do not', async () => {
    const fleet = new Fleet()
    await fleet.deploy(await entryOf(old))
    await fleet.publish(old, '192.0.2.1', 1)
    await fleet.deploy(await entryOf(next))
    await fleet.ask()
    assert.deepEqual([...fleet.rcodes], [[2, ISOLATES]])
    await fleet.publish(next, '192.0.2.2', 2)
    await fleet.host.advance(2000)
    fleet.rcodes.clear()
    await fleet.ask()
    assert.deepEqual([...fleet.rcodes], [[0, ISOLATES]])
  })
})

describe('exporters with the two keys of a rotation, at once', () => {
  test('publish in turns: the last one is served, and the other learns of it', async () => {
    const fleet = new Fleet()
    await fleet.deploy(await entryOf(next, old))
    await fleet.publish(old, '192.0.2.1', 1)
    fleet.startLoad()
    const kinds = await Promise.all([
      fleet.publish(old, '192.0.2.2', 2),
      fleet.publish(next, '192.0.2.3', 2),
    ])
    await fleet.pass(5)
    await fleet.stopLoad()
    assert.deepEqual(kinds.toSorted(), ['changed', 'stored'])
    assert.deepEqual([...fleet.rcodes.keys()], [0])
    assert.equal(await fleet.served(), 2)
    assert.equal(await fleet.publish(old, '192.0.2.4', 3), 'stored')
    assert.equal(await fleet.publish(next, '192.0.2.5', 4), 'stored')
    assert.equal(await fleet.served(), 4)
  })

  test('are refused with a key that is no longer one, and what was served stays', async () => {
    const fleet = new Fleet()
    await fleet.deploy(await entryOf(next, old))
    await fleet.publish(next, '192.0.2.1', 1)
    await fleet.deploy(await entryOf(next))
    const stranger = { ...old, token: next.token }
    await assert.rejects(fleet.publish(stranger, '192.0.2.2', 2), /signature/)
    assert.equal(await fleet.served(), 1)
    await fleet.ask()
    assert.deepEqual([...fleet.rcodes], [[0, ISOLATES]])
  })
})
