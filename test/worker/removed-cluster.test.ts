/** What is left of a cluster that an operator removes: nothing, in the end. */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { assert, test } from 'vitest'
import { keys } from '../cluster/follow/memory-gateway.ts'
import { snapshotOf, WEB } from '../gateway/publishing.ts'

const { SHARDS_R2 } = env
assert(SHARDS_R2)

async function publisher(cluster: string): Promise<{
  readonly object: ReturnType<typeof env.CLUSTER.getByName>
  readonly identity: { cluster: string; publicKey: string; publicKeys: string[] }
  readonly publish: (generation: number) => Promise<string>
}> {
  const { privateKey, publicKeyText: publicKey } = await keys()
  const identity = { cluster, publicKey, publicKeys: [publicKey] }
  const object = env.CLUSTER.getByName(cluster)
  const publish = async (generation: number): Promise<string> => {
    const time = new Date().toISOString()
    const { signed, shards } = await snapshotOf(privateKey, [WEB], { cluster, generation, time })
    for (const [sha256, bytes] of shards) {
      const put = await object.putShard(identity, sha256, bytes)
      if (put.kind === 'refused') return put.code
    }
    const put = await object.putManifest(identity, signed.bytes, signed.signature, undefined)
    return put.kind === 'refused' ? put.code : put.kind
  }
  return { object, identity, publish }
}

test('a removed cluster refuses publications until its alarm, and then stores nothing', async () => {
  const { object, identity, publish } = await publisher('removed')
  assert.equal(await publish(1), 'stored')
  await SHARDS_R2.put('shards/removed/1', 'bytes')
  await SHARDS_R2.put('shards/removed-2/1', 'bytes')

  assert.equal(await object.removeCluster('removed'), true)
  assert.equal(await object.readManifest(identity), undefined)
  assert.equal(await publish(2), 'being_removed')
  assert.equal(await object.removeCluster('removed'), false)

  assert.equal(await runDurableObjectAlarm(object), true)
  assert.equal(await SHARDS_R2.get('shards/removed/1'), null)
  assert.notEqual(await SHARDS_R2.get('shards/removed-2/1'), null)
  const tables = await runInDurableObject(object, (_, { storage }) =>
    storage.sql
      .exec("SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_cf%' ESCAPE '\\'")
      .toArray(),
  )
  assert.deepEqual(tables, [])
  assert.equal(await runDurableObjectAlarm(object), false)
  assert.equal(await publish(1), 'stored')
})

test('the watches of a removed cluster end', async () => {
  const { object, identity, publish } = await publisher('watched')
  await publish(1)
  const query = new URLSearchParams({ subject: JSON.stringify(identity), version: '' })
  const { webSocket } = await object.fetch(`https://object/follow?${query}`, {
    headers: { upgrade: 'websocket' },
  })
  assert(webSocket)
  webSocket.accept()
  const closed = new Promise<number>((resolve) => {
    webSocket.addEventListener('close', (event: CloseEvent) => resolve(event.code))
  })
  await object.removeCluster('watched')
  assert.equal(await closed, 1000)
})
