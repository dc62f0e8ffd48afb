import assert from 'node:assert/strict'
import { test } from 'vitest'
import { hashToken } from '../../src/gateway/access/token.ts'
import { keys } from '../cluster/follow/memory-gateway.ts'
import { temporaryFolder } from '../cluster/follow/temporary-folder.ts'
import { WEB } from '../gateway/publishing.ts'
import { PublishingGateway } from './publishing-gateway.ts'

test('of manifests that come at once in place of the same one, one is taken', async (t) => {
  const shop = await PublishingGateway.start(await keys())
  t.onTestFinished(() => shop.stop())
  const etag = await shop.publish(WEB, 1)
  const snapshots = await Promise.all(
    Array.from({ length: 6 }, (_, i) => shop.snapshot(WEB.replace('0.80', `0.${90 + i}`), 2 + i)),
  )
  for (const snapshot of snapshots) await shop.putShards(snapshot)
  const results = await Promise.all(
    snapshots.map(({ signed }) => shop.client.putManifest(signed.bytes, signed.signature, etag)),
  )
  const stored = results.flatMap((result, i) => (result.kind === 'stored' ? [i] : []))
  assert.equal(stored.length, 1)
  assert.equal(results.filter(({ kind }) => kind === 'changed').length, 5)
  const [winner = 0] = stored
  assert.equal((await shop.client.state())?.generation, 2 + winner)
})

test('shards and manifest of one request are stored, and answered', async (t) => {
  const shop = await PublishingGateway.start(await keys())
  t.onTestFinished(() => shop.stop())
  const { signed, shards } = await shop.snapshot(WEB, 1)
  const publication = { manifest: signed.bytes, shards: [...shards.values()] }
  const result = await shop.client.putPublication(publication, signed.signature, undefined)
  assert.equal(result?.kind, 'stored')
  assert.ok((await shop.ask('web.shop.svc.cluster.local A')).includes(WEB))
})

test('what is published outlives the gateway’s process', async (t) => {
  const storage = temporaryFolder(t)
  const pair = await keys()
  const first = await PublishingGateway.start(pair, storage)
  const etag = await first.publish(WEB, 7).finally(() => first.stop())
  const second = await PublishingGateway.start(pair, storage)
  t.onTestFinished(() => second.stop())
  const state = await second.client.state()
  assert.deepEqual([state?.etag, state?.generation], [etag, 7])
  assert.ok((await second.ask('web.shop.svc.cluster.local A')).includes(WEB))
})

test('a manifest signed by a stranger is refused, and the one before stays', async (t) => {
  const shop = await PublishingGateway.start(await keys())
  t.onTestFinished(() => shop.stop())
  const etag = await shop.publish(WEB, 1)
  const { signed } = await shop.snapshot(WEB, 2)
  const signature = signed.signature.replace(/^./, (letter) => (letter === 'A' ? 'B' : 'A'))
  await assert.rejects(shop.client.putManifest(signed.bytes, signature, etag), /signature/)
  const state = await shop.client.state()
  assert.deepEqual([state?.etag, state?.generation], [etag, 1])
})

test('keys rotate over deployments: any of those configured signs, the others do not', async (t) => {
  const storage = temporaryFolder(t)
  const [old, next] = [await keys(), await keys()]
  const tokenSha256 = await hashToken('the-token-of-the-exporter')
  const deploy = (pair: typeof old, known: readonly (typeof old)[]): Promise<PublishingGateway> => {
    const publicKeys = known.map(({ publicKeyText }) => publicKeyText)
    const CLUSTERS = JSON.stringify({ shop: { publicKeys, tokenSha256 } })
    return PublishingGateway.start(pair, storage, { CLUSTERS })
  }
  const question = 'web.shop.svc.cluster.local A'
  const first = await deploy(old, [old])
  const etag = await first.publish(WEB, 1).finally(() => first.stop())
  const both = await deploy(next, [next, old])
  try {
    assert.ok((await both.ask(question)).includes(WEB))
    await both.publish(WEB.replace('0.80', '0.81'), 2, etag)
  } finally {
    await both.stop()
  }
  const last = await deploy(old, [next])
  t.onTestFinished(() => last.stop())
  assert.ok((await last.ask(question)).includes(WEB.replace('0.80', '0.81')))
  const state = await last.client.state()
  const { signed, shards } = await last.snapshot(WEB, 3)
  for (const [sha256, bytes] of shards) await last.client.putShard(sha256, bytes)
  const put = last.client.putManifest(signed.bytes, signed.signature, state?.etag)
  await assert.rejects(put, /signature/)
  assert.equal((await last.client.state())?.generation, 2)
})
