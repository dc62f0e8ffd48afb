/** The gateway on Node, started on a folder that was damaged while it was down. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'vitest'
import type { LogEvent } from '../../../src/dns/telemetry/log.ts'
import { createGatewayClient, type GatewayClient } from '../../../src/exporter/gateway-client.ts'
import { hashToken } from '../../../src/gateway/access/token.ts'
import { readGatewayConfig } from '../../../src/gateway/config/config.ts'
import { createNodeGateway, createNodeStore } from '../../../src/server/gateway/node-gateway.ts'
import { keys } from '../../cluster/follow/memory-gateway.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'
import { snapshotOf } from '../../gateway/publishing.ts'

const COREFILE = '. {\n  kubernetes cluster.local {\n    cluster shop\n  }\n}\n'
const [EXPORTER, ADMIN] = ['the-exporter', 'the-operator']
const { privateKey, publicKeyText: publicKey } = await keys()
const NAMES = ['web', 'api', 'db', 'cart', 'mail', 'auth']

/** A gateway on a folder, an exporter, and who asks. */
class Fixture {
  readonly folder: string
  readonly events: LogEvent[] = []
  private readonly t: TestContext
  private port = 0
  private stop: () => Promise<void> = async () => undefined
  private etag: string | undefined

  constructor(t: TestContext) {
    this.t = t
    this.folder = temporaryFolder(t)
  }

  async start(): Promise<void> {
    const config = await readGatewayConfig({
      COREFILE,
      CLUSTERS: JSON.stringify({ shop: { publicKey, tokenSha256: await hashToken(EXPORTER) } }),
      ADMIN_TOKEN_SHA256: await hashToken(ADMIN),
      PUBLIC: 'true',
    })
    const { folder } = this
    const log = (event: LogEvent): void => void this.events.push(event)
    const server = await createNodeGateway({
      config,
      store: createNodeStore(folder, log),
      corefileFolder: '/',
      tls: undefined,
      log,
    })
    this.port = await server.listen('127.0.0.1', 0)
    this.stop = async () => {
      await server.close()
    }
    this.t.onTestFinished(() => this.stop())
  }

  /** Restarts the gateway, the folder damaged meanwhile. */
  async restart(damage: (cluster: string) => void): Promise<void> {
    await this.stop()
    this.stop = async () => undefined
    damage(join(this.folder, 'clusters', 'shop'))
    await this.start()
  }

  /**
   * Publishes addresses that contain the generation, and begins with the state as after a
   * restart.
   */
  async publish(generation: number): Promise<void> {
    const client = this.client()
    const sets = NAMES.map(
      (name, i) => `${name}.shop.svc.cluster.local. 5 IN A 10.0.${i}.${generation}`,
    )
    const time = new Date().toISOString()
    const one = await snapshotOf(privateKey, sets, { generation, time, shardCount: 4 })
    for (;;) {
      const { bytes, signature } = one.signed
      const result = await client.putManifest(bytes, signature, this.etag)
      if (result.kind === 'stored') this.etag = result.etag
      if (result.kind === 'stored') return
      if (result.kind === 'changed') this.etag = (await client.state())?.etag
      const missing = result.kind === 'missing' ? result.sha256s : []
      for (const sha256 of missing) {
        await client.putShard(sha256, one.shards.get(sha256) ?? assert.fail(sha256))
      }
    }
  }

  client(): GatewayClient {
    const url = `http://127.0.0.1:${this.port}`
    return createGatewayClient({ url, cluster: 'shop', token: EXPORTER })
  }

  /** The generation that all names are answered from. */
  async served(): Promise<string> {
    const answers = NAMES.map(async (name) => {
      const path = `/resolve?name=${name}.shop.svc.cluster.local&type=A`
      const text = await (await fetch(`http://127.0.0.1:${this.port}${path}`)).text()
      return /"data": ?"10\.0\.\d+\.(\d+)"/.exec(text)?.[1] ?? text
    })
    return [...new Set(await Promise.all(answers))].join()
  }

  async generations(): Promise<string> {
    const headers = { authorization: `Bearer ${ADMIN}` }
    const url = `http://127.0.0.1:${this.port}/v1/clusters/shop/generations`
    const { generations } = JSON.parse(await (await fetch(url, { headers })).text())
    return generations.map(({ generation }: { generation: number }) => generation).join()
  }

  warnings(): string {
    return this.events
      .filter(({ level }) => level === 'warning')
      .map(({ message }) => message)
      .join('; ')
  }
}

function flip(path: string, at: number): void {
  const bytes = readFileSync(path)
  bytes[at] = (bytes[at] ?? 0) ^ 16
  writeFileSync(path, bytes)
}

const MANIFEST = join('manifests', '2')
const DAMAGES: Readonly<Record<string, (cluster: string) => void>> = {
  'the newest manifest truncated': (cluster) => truncateSync(join(cluster, MANIFEST), 400),
  'the newest manifest empty': (cluster) => truncateSync(join(cluster, MANIFEST), 0),
  'a bit of the newest manifest flipped': (cluster) => flip(join(cluster, MANIFEST), 300),
  'a bit of its signature flipped': (cluster) => flip(join(cluster, MANIFEST), 3),
}

describe('a gateway on a damaged folder', () => {
  for (const [name, damage] of Object.entries(DAMAGES)) {
    test(`serves the generation before, and is published to: ${name}`, async (t) => {
      const fixture = new Fixture(t)
      await fixture.start()
      for (const generation of [1, 2]) await fixture.publish(generation)
      await fixture.restart(damage)
      assert.equal(await fixture.served(), '1')
      assert.equal(await fixture.generations(), '1')
      assert.match(fixture.warnings(), /ignored the manifest of generation 2/)
      await fixture.publish(3)
      assert.equal(await fixture.generations(), '3,1')
      assert.ok(existsSync(join(fixture.folder, 'clusters', 'shop', `${MANIFEST}.broken`)))
      await fixture.restart(() => undefined)
      assert.equal(await fixture.served(), '3')
    })
  }

  test('passes over a stray newer file', async (t) => {
    const fixture = new Fixture(t)
    await fixture.start()
    for (const generation of [1, 2]) await fixture.publish(generation)
    await fixture.restart((cluster) => {
      const older = readFileSync(join(cluster, 'manifests', '1'))
      writeFileSync(join(cluster, 'manifests', '4294967295'), older)
      writeFileSync(join(cluster, 'manifests', '9999999999'), 'a note\n')
    })
    assert.equal(await fixture.served(), '2')
    await fixture.publish(3)
    assert.equal(await fixture.generations(), '3,2,1')
  })

  test('has every corrupt shard sent again, and serves the generation before until then', async (t) => {
    const fixture = new Fixture(t)
    await fixture.start()
    for (const generation of [1, 2]) await fixture.publish(generation)
    const shards = join(fixture.folder, 'clusters', 'shop', 'shards')
    const first = new Set(readdirSync(shards))
    await fixture.publish(3)
    await fixture.restart(() => {
      for (const name of readdirSync(shards)) {
        if (!first.has(name)) truncateSync(join(shards, name), 40)
      }
    })
    assert.equal(await fixture.served(), '2')
    // The exporter has restarted as well.
    await fixture.publish(4)
    await fixture.restart(() => undefined)
    assert.equal(await fixture.served(), '4')
  })

  test('serves the newest generation if the pin is garbage', async (t) => {
    const fixture = new Fixture(t)
    await fixture.start()
    for (const generation of [1, 2]) await fixture.publish(generation)
    await fixture.restart((cluster) => writeFileSync(join(cluster, 'pinned'), 'two'))
    assert.equal(await fixture.served(), '2')
    assert.match(fixture.warnings(), /pinned generation cannot be read/)
  })
})
