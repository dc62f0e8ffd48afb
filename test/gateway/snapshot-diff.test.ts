import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { diffSnapshots } from '../../src/gateway/snapshot-diff.ts'
import { keys } from '../exporter/memory-gateway.ts'
import { snapshotOf } from './publishing.ts'

const { privateKey } = await keys()
const [WEB, DB] = [
  'web.a.svc.cluster.local. 5 IN A 192.0.2.1',
  'db.b.svc.cluster.local. 5 IN A 192.0.2.2',
]
const MOVED = 'web.a.svc.cluster.local. 5 IN A 192.0.2.9'

describe('diffSnapshots', () => {
  const cases: {
    name: string
    shards: [number, number]
    from: string[]
    to: string[]
    lines: string[]
  }[] = [
    {
      name: 'is empty for the same names',
      shards: [1, 1],
      from: [WEB, DB],
      to: [DB, WEB],
      lines: [],
    },
    {
      name: 'has what went and what came',
      shards: [4, 4],
      from: [WEB, DB],
      to: [MOVED, DB],
      lines: [`- ${WEB}`, `+ ${MOVED}`],
    },
    {
      name: 'compares over another number of shards',
      shards: [1, 8],
      from: [WEB],
      to: [WEB, DB],
      lines: [`+ ${DB}`],
    },
  ]
  for (const {
    name,
    shards: [a, b],
    from,
    to,
    lines,
  } of cases) {
    test(name, async () => {
      const before = await snapshotOf(privateKey, from, { shardCount: a })
      const after = await snapshotOf(privateKey, to, { shardCount: b })
      const all = new Map([...before.shards, ...after.shards])
      const read = async (sha256: string): Promise<Uint8Array | undefined> => all.get(sha256)
      assert.deepEqual(await diffSnapshots(before.manifest, after.manifest, read), lines)
    })
  }

  test('says when a shard is gone, and when too much differs', async () => {
    const before = await snapshotOf(privateKey, [WEB])
    const after = await snapshotOf(privateKey, [DB])
    const none = async (): Promise<undefined> => undefined
    await assert.rejects(diffSnapshots(before.manifest, after.manifest, none), { status: 410 })
    const shards = after.manifest.shards.map((one) => ({ ...one, bytes: 9_000_000 }))
    const large = { ...after.manifest, shards }
    await assert.rejects(diffSnapshots(before.manifest, large, none), { status: 413 })
  })
})
