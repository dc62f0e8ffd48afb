import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { formatHex } from '../../../src/bytes/bytes.ts'
import { labelOffsets } from '../../../src/dns/name.ts'
import { isByAddress, type ZoneEntry } from '../../../src/records/zone-entry.ts'
import { shardOfAddress, shardOfName } from '../../../src/snapshot/format/shard-key.ts'
import { openShard } from '../../../src/snapshot/read/open-shard.ts'
import type { Shard } from '../../../src/snapshot/read/shard.ts'
import { buildShards } from '../../../src/snapshot/write/build-shards.ts'
import { contentsOfEntries, contentsOfShards } from '../contents.ts'
import { labels, pointer, recordSet, relativeName, zoneEntry } from '../entries.ts'

const shardCount = (): fc.Arbitrary<number> => fc.constantFrom(1, 2, 8)
const entryList = (): fc.Arbitrary<ZoneEntry[]> => fc.array(zoneEntry(), { maxLength: 25 })

function openShards(entries: readonly ZoneEntry[], count: number): Shard[] {
  return buildShards(entries, count).map((bytes) => openShard(bytes))
}

/** Finds a name in the shard that it belongs to, and nowhere else. */
function findName(shards: readonly Shard[], owner: Uint8Array): boolean {
  const home = shardOfName(owner, owner.length, shards.length)
  shards.forEach((shard, i) => {
    if (i !== home) assert.equal(shard.findNode(owner, owner.length), 0)
  })
  return shards[home]?.findNode(owner, owner.length) !== 0
}

describe('buildShards', () => {
  test('keeps all that was put in and adds nothing but the names above', () => {
    fc.assert(
      fc.property(entryList(), shardCount(), (entries, count) => {
        const shards = openShards(entries, count)
        assert.equal(shards.length, count)
        assert.deepEqual(contentsOfShards(shards), contentsOfEntries(entries))
      }),
      { numRuns: 300 },
    )
  })

  test('makes every name found, each in its own shard, and no other', () => {
    fc.assert(
      fc.property(entryList(), fc.array(relativeName()), shardCount(), (entries, asked, count) => {
        const shards = openShards(entries, count)
        const { names } = contentsOfEntries(entries)
        for (const entry of entries) {
          if (!isByAddress(entry)) assert.ok(findName(shards, entry.owner))
        }
        for (const name of asked) {
          assert.equal(findName(shards, name), Object.hasOwn(names, formatHex(name)))
        }
      }),
      { numRuns: 300 },
    )
  })

  test('makes every name above a name exist (RFC 8020 §2)', () => {
    fc.assert(
      fc.property(entryList(), shardCount(), (entries, count) => {
        const shards = openShards(entries, count)
        for (const entry of entries) {
          if (isByAddress(entry)) continue
          for (const offset of labelOffsets(entry.owner)) {
            assert.ok(findName(shards, entry.owner.slice(offset)))
          }
        }
      }),
    )
  })

  test('puts each address into the shard of shardOfAddress', () => {
    fc.assert(
      fc.property(entryList(), shardCount(), (entries, count) => {
        const shards = openShards(entries, count)
        for (const entry of entries) {
          if (!isByAddress(entry)) continue
          const shard = shards[shardOfAddress(entry.address, count)]
          const table = entry.address.length === 4 ? shard?.addresses4 : shard?.addresses6
          const index = table?.firstFrom(entry.address) ?? 0
          assert.deepEqual(table?.address(index), entry.address)
        }
      }),
    )
  })

  test('gives the same bytes whatever order entries come in', () => {
    const shuffled = entryList().chain((entries) =>
      fc.tuple(
        fc.constant(entries),
        fc.shuffledSubarray(entries, { minLength: entries.length, maxLength: entries.length }),
      ),
    )
    fc.assert(
      fc.property(shuffled, shardCount(), ([entries, others], count) => {
        assert.deepEqual(buildShards(others, count), buildShards(entries, count))
      }),
      { numRuns: 300 },
    )
  })

  test('keeps all names below one Service in one shard', () => {
    const shards = openShards(
      [
        recordSet('web.shop.svc 5 IN A 192.0.2.1', 'shop'),
        recordSet('_http._tcp.web.shop.svc 5 IN SRV 0 100 80 web.shop.svc', 'shop'),
        recordSet('192-0-2-1.web.shop.svc 5 IN A 192.0.2.1', 'shop'),
      ],
      8,
    )
    const owner = labels('web.shop.svc')
    const home = shards[shardOfName(owner, owner.length, 8)]
    for (const name of ['_tcp.web.shop.svc', '_http._tcp.web.shop.svc', '192-0-2-1.web.shop.svc']) {
      assert.notEqual(home?.findNode(labels(name), labels(name).length), 0)
    }
  })

  test('implies the names above once for all namespaces', () => {
    const [shard] = openShards(
      [
        recordSet('web.shop.svc 5 IN A 192.0.2.1', 'shop'),
        recordSet('web.blog.svc 5 IN A 192.0.2.2', 'blog'),
      ],
      1,
    )
    const { names } = contentsOfShards(shard === undefined ? [] : [shard])
    const implied = { isImplied: true, isGlue: false, hasAddressNames: false, sets: {} }
    assert.deepEqual(names[formatHex(labels('svc'))], { ...implied, namespace: '' })
    assert.deepEqual(names[formatHex(labels('shop.svc'))], { ...implied, namespace: 'shop' })
  })

  test('adds no apex that nothing was said of, and no name for an address', () => {
    const shards = openShards([recordSet('a 5 IN A 192.0.2.1'), pointer([192, 0, 2, 1], 'b.c')], 2)
    assert.deepEqual(Object.keys(contentsOfShards(shards).names), [formatHex(labels('a'))])
  })

  test('builds shards without anything in them', () => {
    assert.deepEqual(contentsOfShards(openShards([], 2)), { names: {}, pointers: {}, pods: [] })
  })
})
