import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { LocalWriter } from '../../../src/gateway/snapshots/local-writer.ts'
import { createMemoryStore } from '../../../src/gateway/snapshots/store.ts'
import { keys } from '../../cluster/follow/memory-gateway.ts'
import { START_MS } from '../../fake-host.ts'
import { snapshotOf, WEB } from '../publishing.ts'

const { privateKey, publicKey } = await keys()

describe('two exporters of one cluster at once', () => {
  test('one wins, the other learns it, and nothing is mixed', async () => {
    const store = createMemoryStore()
    const writer = new LocalWriter({ cluster: 'shop', publicKey, store, now: () => START_MS })
    const time = new Date(START_MS).toISOString()
    const [one, other] = await Promise.all(
      ['0.80', '0.81'].map((ip) =>
        snapshotOf(privateKey, [WEB.replace('0.80', ip)], { generation: 1, time }),
      ),
    )
    assert.ok(one && other)
    const publish = async ({ shards, signed }: typeof one): Promise<string> => {
      for (const [sha256, bytes] of shards) await writer.putShard(sha256, bytes)
      const result = await writer.putManifest(signed.bytes, signed.signature, undefined)
      return result.kind === 'refused' ? `${result.status} ${result.code}` : result.kind
    }
    const results = await Promise.all([publish(one), publish(other)])
    assert.deepEqual(results, ['stored', '412 changed'])
    const state = await writer.state()
    assert.deepEqual(state?.manifest.shards, one.manifest.shards)
  })

  test('a step that fails does not stop those after it', async () => {
    const store = createMemoryStore()
    let isAway = true
    const writer = new LocalWriter({
      cluster: 'shop',
      publicKey,
      store: {
        ...store,
        missingShards: (all) =>
          isAway ? Promise.reject(new Error('away')) : store.missingShards(all),
      },
      now: () => START_MS,
    })
    const { shards } = await snapshotOf(privateKey, [WEB])
    const [[sha256 = '', bytes = new Uint8Array(0)] = []] = shards
    await assert.rejects(writer.putShard(sha256, bytes), /away/)
    isAway = false
    assert.equal((await writer.putShard(sha256, bytes)).kind, 'stored')
  })
})
