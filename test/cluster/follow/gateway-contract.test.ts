import assert from 'node:assert/strict'
import { test } from 'vitest'
import { randomFrom } from '../../../bench/cluster-objects.ts'
import { EMPTY } from '../../../src/dns/bytes/bytes.ts'
import {
  createGatewayClient,
  type GatewayClient,
  type ManifestResult,
} from '../../../src/exporter/gateway-client.ts'
import { Publisher } from '../../../src/exporter/publisher.ts'
import {
  formatManifest,
  MANIFEST_VERSION,
  parseManifest,
} from '../../../src/snapshot/format/manifest.ts'
import { isSignedBy, sha256Hex, signBytes } from '../../../src/snapshot/format/signature.ts'
import { buildShards } from '../../../src/snapshot/write/build-shards.ts'
import { clusterOf, optionsOf } from '../naming.ts'
import { memoryGateway } from './memory-gateway.ts'
import { buildSnapshot } from './whole-snapshot.ts'

const TOKEN = 'the-exporter-token'

test('a gateway’s own routes cover the contract', async () => {
  const now = (): number => Date.UTC(2026, 0, 1)
  const { fetch, privateKey } = await memoryGateway(TOKEN, now)
  const open = (token: string): GatewayClient =>
    createGatewayClient({ url: 'https://dns.example.org', cluster: 'shop', token, fetch })
  const client = open(TOKEN)
  const [shard = EMPTY] = buildShards([])
  const sha256 = await sha256Hex(shard)
  const put = async (generation: number, expected: string | undefined): Promise<ManifestResult> => {
    const manifest = formatManifest({
      version: MANIFEST_VERSION,
      cluster: 'shop',
      generation,
      time: new Date(now()).toISOString(),
      origins: ['cluster.local.'],
      ttlSeconds: 5,
      records: 0,
      sources: {},
      shards: [{ sha256, bytes: shard.length }],
    })
    return client.putManifest(manifest, await signBytes(privateKey, manifest), expected)
  }
  await assert.rejects(open('another token').state(), { status: 401 })
  assert.equal(await client.state(), undefined)
  assert.deepEqual(await put(1, undefined), { kind: 'missing', sha256s: [sha256] })
  await assert.rejects(client.putShard('ab'.repeat(32), shard), { status: 400 })
  await client.putShard(sha256, shard)
  const first = await put(1, undefined)
  assert.ok(first.kind === 'stored')
  assert.deepEqual(await client.state(), { etag: first.etag, generation: 1, timeMs: now() })
  assert.deepEqual(await put(2, undefined), { kind: 'changed' })
  assert.deepEqual(await put(1, first.etag), { kind: 'changed' })
  const second = await put(2, first.etag)
  assert.ok(second.kind === 'stored' && second.etag !== first.etag)
})

test('a publisher and a gateway agree about the published names', async () => {
  let nowMs = Date.UTC(2026, 0, 1)
  const now = (): number => nowMs
  const { fetch, privateKey, publicKey, store } = await memoryGateway(TOKEN, now)
  const url = 'https://dns.example.org'
  const open = (): Publisher => {
    const gateway = createGatewayClient({ url, cluster: 'shop', token: TOKEN, fetch })
    return new Publisher({ cluster: 'shop', gateway, key: privateKey, now })
  }
  const build = (name: string) => {
    const service = `{ kind: Service, metadata: { name: ${name} }, spec: { clusterIP: 192.0.2.1 } }`
    return buildSnapshot(clusterOf(`[${service}]`), optionsOf())
  }
  const publisher = open()
  const kinds: string[] = []
  for (const [who, name] of [
    [publisher, 'web'],
    [publisher, 'web'],
    [publisher, 'db'],
    [open(), 'db'],
    [publisher, 'web'],
  ] as const) {
    nowMs += 100
    const report = await who.publish(build(name), { sources: {}, confirmedMs: nowMs })
    kinds.push(`${report?.isConfirmation} ${report?.shards}`)
    const signed = await store.readManifest()
    assert.ok(signed && (await isSignedBy(publicKey, signed.bytes, signed.signature)))
    const manifest = parseManifest(signed.bytes)
    assert.equal(manifest.generation, report?.generation)
    const [shard] = manifest.shards
    assert.deepEqual(await store.readShard(shard?.sha256 ?? ''), build(name).shards[0])
  }
  assert.deepEqual(kinds, ['false 1', 'true 0', 'false 1', 'false 0', 'false 1'])
})

test('thirty exporters that publish at once all succeed, and what is served is one of theirs', async () => {
  const waiting: { readonly endMs: number; readonly end: () => void }[] = []
  let nowMs = Date.now()
  let publishing = 30
  const now = (): number => nowMs
  // Time passes when every exporter waits: how long signatures take decides nothing.
  const passTime = (): void => {
    if (waiting.length < publishing) return
    const [next] = waiting.sort((a, b) => a.endMs - b.endMs).splice(0, 1)
    nowMs = next?.endMs ?? nowMs
    next?.end()
  }
  const wait = (delayMs: number): Promise<void> =>
    new Promise((end) => {
      waiting.push({ endMs: nowMs + delayMs, end })
      passTime()
    })
  const { fetch, privateKey, store } = await memoryGateway(TOKEN, now)
  const random = randomFrom(7)
  const publish = async (i: number): Promise<unknown> => {
    const slow: typeof fetch = async (...request) => {
      await wait(2)
      return fetch(...request)
    }
    const url = 'https://dns.example.org'
    const gateway = createGatewayClient({ url, cluster: 'shop', token: TOKEN, fetch: slow })
    const options = { cluster: 'shop', gateway, key: privateKey, now, wait, random }
    const publisher = new Publisher(options)
    const service = `{ kind: Service, metadata: { name: s${i} }, spec: { clusterIP: 192.0.2.1 } }`
    const built = buildSnapshot(clusterOf(`[${service}]`), optionsOf())
    return publisher.publish(built, { sources: {}, confirmedMs: nowMs }).finally(() => {
      publishing--
      passTime()
    })
  }
  const reports = await Promise.allSettled(Array.from({ length: 30 }, (_, i) => publish(i)))
  assert.deepEqual(
    reports.filter(({ status }) => status === 'rejected'),
    [],
  )
  const served = await store.readManifest()
  assert.ok(served)
  const listed = parseManifest(served.bytes).shards.map(({ sha256 }) => sha256)
  assert.deepEqual(await store.missingShards(listed), [])
})
