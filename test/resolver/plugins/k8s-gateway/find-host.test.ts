import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { hostRecords } from '../../../../src/cluster/rules/host-names.ts'
import { concatBytes, EMPTY } from '../../../../src/dns/bytes/bytes.ts'
import { nameOf, ROOT } from '../../../../src/dns/names/name.ts'
import { TYPE } from '../../../../src/dns/names/rr-type.ts'
import { type FindPlace, findHost } from '../../../../src/resolver/plugins/k8s-gateway/find-host.ts'
import { recordsOf } from '../../../../src/snapshot/read/find-name.ts'
import { openShard } from '../../../../src/snapshot/read/open-shard.ts'
import { Snapshot } from '../../../../src/snapshot/read/snapshot.ts'
import { buildShards } from '../../../../src/snapshot/write/build-shards.ts'
import { claimOf } from '../../../cluster/naming.ts'

const NAMES = ['a.gw.test', '*.gw.test', '*.b.gw.test', 'd.b.gw.test']
const FACTS = { generation: 1, timeMs: 0, ttlSeconds: 5, origins: [] }

const placeOf = (snapshot: Snapshot, zone: string): FindPlace => {
  return { snapshot, zone: nameOf(zone), namespaces: undefined }
}

describe('findHost', () => {
  const entries = NAMES.flatMap((name, i) => {
    return hostRecords(name, claimOf({ hosts: [`192.0.2.${i}`] }), 60)
  })
  const shards = buildShards(entries, 4).map((bytes) => openShard(bytes))
  const snapshot = new Snapshot(FACTS, shards)
  const cases: { name: string; zone?: string; found: string | undefined }[] = [
    { name: 'a.gw.test', found: 'a.gw.test' },
    { name: 'x.gw.test', found: '*.gw.test' },
    { name: 'gw.test', found: '*.gw.test' },
    { name: 'b.gw.test', found: '*.gw.test' },
    { name: 'c.b.gw.test', found: '*.b.gw.test' },
    { name: 'd.b.gw.test', found: 'd.b.gw.test' },
    { name: '*.b.gw.test', found: '*.b.gw.test' },
    { name: 'x.y.gw.test', found: undefined },
    { name: '.', zone: '.', found: undefined },
  ]
  for (const { name, zone = 'gw.test', found } of cases) {
    test(`finds ${found ?? 'nothing'} for ${name}`, () => {
      const host = findHost(placeOf(snapshot, zone), nameOf(name))
      const [record] = host ? recordsOf(host, TYPE.A, { owner: ROOT, origin: ROOT }) : []
      assert.equal(record && NAMES[record.rdata[3] ?? -1], found)
    })
  }

  test('finds nothing where names would be too long', () => {
    const long = concatBytes(...Array.from({ length: 126 }, () => Uint8Array.of(1, 0x78)), ROOT)
    assert.equal(findHost({ snapshot, zone: long, namespaces: undefined }, long), undefined)
    assert.equal(
      findHost(placeOf(new Snapshot(FACTS, [openShard(buildShards([])[0] ?? EMPTY)]), '.'), long),
      undefined,
    )
  })
})
