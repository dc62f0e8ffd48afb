import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { assert, describe, test } from 'vitest'
import { EMPTY } from '../../src/dns/bytes/bytes.ts'
import { manifestOf } from '../../src/gateway/snapshots/store.ts'
import { allShards } from '../../src/snapshot/format/manifest.ts'
import { keys } from '../cluster/follow/memory-gateway.ts'
import type { RowCount } from './counted-rows.ts'
import { CountedCluster } from './sql-rows.ts'

/** More than twenty kept generations and a change together list. */
const SHARDS = 1024
const CHANGE_ROWS_MAX = 50
const CONFIRMATION_ROWS_MAX = 5

const pair = await keys()

describe('rows of the object’s database', () => {
  inObject('of a change and of a confirmation do not grow with the shards', async (cluster) => {
    await cluster.publish(SHARDS)
    for (let i = 0; i < 30; i++) {
      within(await cluster.change(), CHANGE_ROWS_MAX, 'a change')
      within(await cluster.confirm(), CONFIRMATION_ROWS_MAX, 'a confirmation')
    }
  })

  inObject('are as few for an object that slept', async (cluster) => {
    await cluster.publish(SHARDS)
    for (let i = 0; i < 8; i++) await cluster.change()
    cluster.restart()
    within(await cluster.confirm(), CONFIRMATION_ROWS_MAX, 'a confirmation')
    cluster.restart()
    within(await cluster.change(), CHANGE_ROWS_MAX, 'a change')
  })

  inObject('are few again after a database of an earlier build changed', async (cluster) => {
    await cluster.publish(SHARDS)
    cluster.database.sql.exec('DROP TABLE counted')
    cluster.database.sql.exec('DROP TABLE unlisted')
    cluster.restart()
    await cluster.change()
    cluster.restart()
    for (let i = 0; i < 8; i++) within(await cluster.change(), CHANGE_ROWS_MAX, 'a change')
    assert.deepEqual(await orphans(cluster), [])
  })
})

describe('shards of the object’s database', () => {
  inObject('that no manifest lists any more are removed, also after a restart', async (cluster) => {
    await cluster.publish(16)
    for (let i = 0; i < 30; i++) {
      await cluster.change()
      if (i % 4 === 0) cluster.restart()
    }
    assert.deepEqual(await orphans(cluster), [])
  })

  inObject('that are corrupt are asked for again by the next confirmation', async (cluster) => {
    await cluster.publish(16)
    await cluster.change()
    const [row] = cluster.database.sql.exec('SELECT sha256, bytes FROM shards LIMIT 1').toArray()
    const sha256 = String(row?.sha256)
    cluster.database.sql.exec('UPDATE shards SET bytes = ? WHERE sha256 = ?', 'no', sha256)
    cluster.restart()
    assert.equal(await cluster.store().readShard(sha256), undefined)
    assert.deepEqual(await cluster.send([]), { kind: 'missing', sha256s: [sha256] })
    const bytes = row?.bytes instanceof ArrayBuffer ? new Uint8Array(row.bytes) : EMPTY
    assert.equal((await cluster.send([bytes])).kind, 'stored')
    within(await cluster.confirm(), CONFIRMATION_ROWS_MAX, 'a confirmation')
  })
})

/** Lists the shards that no kept manifest lists. */
async function orphans(cluster: CountedCluster): Promise<readonly unknown[]> {
  const manifests = await cluster.store().readManifests()
  const listed = manifests.flatMap((one) => allShards(manifestOf(one)))
  const known = new Set(listed.map(({ sha256 }) => sha256))
  const all = cluster.database.sql.exec('SELECT DISTINCT sha256 FROM shards').toArray()
  return all.filter(({ sha256 }) => !known.has(String(sha256)))
}

function within({ read, written }: RowCount, most: number, what: string): void {
  assert.ok(read + written <= most, `${what} reads ${read} rows and writes ${written}`)
}

function inObject(name: string, act: (cluster: CountedCluster) => Promise<void>): void {
  test(name, async () => {
    const object = env.CLUSTER.getByName(name)
    await runInDurableObject(object, (_, { storage }) => act(new CountedCluster(storage, pair)))
  })
}
