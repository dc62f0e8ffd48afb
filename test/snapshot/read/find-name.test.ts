import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { nameOf } from '../../../src/dns/names/name.ts'
import { TYPE } from '../../../src/dns/names/rr-type.ts'
import { findName, pointersOf, recordsOf } from '../../../src/snapshot/read/find-name.ts'
import { openShard } from '../../../src/snapshot/read/open-shard.ts'
import { Snapshot } from '../../../src/snapshot/read/snapshot.ts'
import { formatRecord } from '../../../src/snapshot/records/zone-text.ts'
import { buildShards } from '../../../src/snapshot/write/build-shards.ts'
import { existingName, labels, ORIGIN, pointer, rrset } from '../entries.ts'

const INFO = { generation: 1, timeMs: 0, ttlSeconds: 5, origins: [] }
const ENTRIES = [
  rrset('web.shop.cluster.local. 5 IN A 192.0.2.1\nweb.shop.cluster.local. 5 IN A 192.0.2.2'),
  rrset('web.shop.cluster.local. 7 IN SRV 0 100 80 web.shop.cluster.local.'),
  rrset('a.b.c.cluster.local. 5 IN A 192.0.2.3'),
  { ...rrset('glue.cluster.local. 5 IN A 192.0.2.4'), isGlue: true as const },
  existingName('shop'),
  pointer([192, 0, 2, 1], 'web.shop'),
]
const AS = { owner: nameOf('asked'), origin: nameOf('example.org'), namespaces: undefined }

for (const count of [1, 8]) {
  const shards = buildShards(ENTRIES, count).map((bytes) => openShard(bytes))
  const snapshot = new Snapshot(INFO, shards)

  describe(`in ${count} shards, findName`, () => {
    test('finds the records of a name, below any origin', () => {
      const found = findName(snapshot, labels('web.shop'))
      assert.ok(found)
      assert.deepEqual(recordsOf(found, TYPE.SRV, AS).map(formatRecord), [
        'asked. 7 IN SRV 0 100 80 web.shop.example.org.',
      ])
      assert.equal(recordsOf(found, TYPE.A, AS).length, 2)
      assert.deepEqual(recordsOf(found, TYPE.TXT, AS), [])
    })

    test('finds a name without records', () => {
      const found = findName(snapshot, labels('shop'))
      assert.deepEqual(found && recordsOf(found, TYPE.A, AS), [])
    })

    for (const text of ['none', 'none.shop', 'b.c', 'glue']) {
      test(`does not find ${text}`, () => {
        assert.equal(findName(snapshot, labels(text)), undefined)
      })
    }

    test('finds where addresses point to', () => {
      const lines = (...address: readonly number[]): string[] =>
        pointersOf(snapshot, Uint8Array.from(address), 4, AS).map(formatRecord)
      assert.deepEqual(lines(192, 0, 2, 1), ['asked. 5 IN PTR web.shop.example.org.'])
      assert.deepEqual(lines(192, 0, 2, 2), [])
    })
  })
}

test('a shard that is not at hand is an error', () => {
  const snapshot = new Snapshot(INFO, [undefined])
  const error = { name: 'SnapshotError', shard: 0, message: 'Cannot find a name: no shard 0' }
  assert.throws(() => findName(snapshot, labels('web')), error)
  assert.throws(() => pointersOf(snapshot, Uint8Array.of(192, 0, 2, 1), 4, AS), error)
  assert.equal(ORIGIN.length, 15)
})
