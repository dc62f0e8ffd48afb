import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { formatHex } from '../../../src/dns/bytes/bytes.ts'
import { labelOffsets } from '../../../src/dns/names/name.ts'
import { shardOfAddress, shardOfName } from '../../../src/snapshot/format/shard-key.ts'
import { openShard } from '../../../src/snapshot/read/open-shard.ts'
import type { Shard } from '../../../src/snapshot/read/shard.ts'
import { isByAddress, type ZoneEntry } from '../../../src/snapshot/records/zone-entry.ts'
import {
  ancestorsOf,
  buildShard,
  buildShards,
  patchShard,
} from '../../../src/snapshot/write/build-shards.ts'
import { unitOf } from '../../../src/snapshot/write/group-units.ts'
import { contentsOfEntries, contentsOfShards } from '../contents.ts'
import { existingName, labels, pointer, relativeName, rrset, zoneEntry } from '../entries.ts'

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
        rrset('web.shop.svc 5 IN A 192.0.2.1', 'shop'),
        rrset('_http._tcp.web.shop.svc 5 IN SRV 0 100 80 web.shop.svc', 'shop'),
        rrset('192-0-2-1.web.shop.svc 5 IN A 192.0.2.1', 'shop'),
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
        rrset('web.shop.svc 5 IN A 192.0.2.1', 'shop'),
        rrset('web.blog.svc 5 IN A 192.0.2.2', 'blog'),
      ],
      1,
    )
    const { names } = contentsOfShards(shard === undefined ? [] : [shard])
    const implied = { isImplied: true, isGlue: false, hasAddressNames: false, sets: {} }
    assert.deepEqual(names[formatHex(labels('svc'))], { ...implied, namespace: '' })
    assert.deepEqual(names[formatHex(labels('shop.svc'))], { ...implied, namespace: 'shop' })
  })

  test('adds no apex that nothing was said of, and no name for an address', () => {
    const shards = openShards([rrset('a 5 IN A 192.0.2.1'), pointer([192, 0, 2, 1], 'b.c')], 2)
    assert.deepEqual(Object.keys(contentsOfShards(shards).names), [formatHex(labels('a'))])
  })

  test('builds shards without anything in them', () => {
    assert.deepEqual(contentsOfShards(openShards([], 2)), { names: {}, pointers: {}, pods: [] })
  })
})

/** What one Service says in this test, by its size; its names end in its own three labels. */
function service(name: string, size: number, namespace: string): ZoneEntry[] {
  const owner = `${name}.${namespace}.svc`
  const targets = Array.from({ length: size }, (_, i) => `e${i}.${owner}`)
  if (size === 0) return []
  const srv = targets.map((target) => `_http._tcp.${owner} 5 IN SRV 0 1 80 ${target}`)
  return [
    rrset(`${owner} 5 IN A 198.18.0.1`, namespace),
    rrset(srv.join('\n'), namespace),
    ...targets.map((target, i) => rrset(`${target} 5 IN A 198.18.1.${i}`, namespace)),
    ...targets.map((target, i) => pointer([198, 18, name.length, i], target, { namespace })),
    ...targets.map((target, i) => {
      return pointer([...Array<number>(15).fill(name.length), i], target, { namespace })
    }),
  ]
}

/** Entries and the names above them. */
function whole(entries: readonly ZoneEntry[]): ZoneEntry[] {
  return [...entries, ...ancestorsOf(entries)]
}

const ZONE_NAMES = ['svc', 'shop.svc', 'blog.svc', 'zoo.svc'].map((name) => existingName(name))

/** Replaces what one Service says, in the shard of all. */
function patched(before: readonly ZoneEntry[], after: readonly ZoneEntry[], others: ZoneEntry[]) {
  const units = new Set([...before, ...after].map(unitOf))
  const fresh = [...others, ...after].filter((entry) => units.has(unitOf(entry)))
  const above = ancestorsOf(fresh).filter((entry) => units.has(unitOf(entry)))
  const shard = buildShard(whole([...others, ...before]))
  return patchShard(shard, units, [...fresh, ...above])
}

describe('patchShard', () => {
  const services = fc.record({
    name: fc.constantFrom('a', 'bb', 'ccc', 'dddd'),
    size: fc.nat(6),
    namespace: fc.constantFrom('shop', 'blog', 'zoo'),
  })

  test('makes the bytes that the whole would be', () => {
    fc.assert(
      fc.property(fc.array(services, { maxLength: 5 }), services, services, (rest, one, other) => {
        const entriesOf = (s: typeof one): ZoneEntry[] => service(s.name, s.size, s.namespace)
        const others = [...ZONE_NAMES, ...rest.flatMap(entriesOf)]
        const [before, after] = [entriesOf(one), entriesOf(other)]
        assert.deepEqual(patched(before, after, others), buildShard(whole([...others, ...after])))
      }),
    )
  })

  test('keeps other units when the index and the namespaces change', () => {
    const others = [...ZONE_NAMES, ...service('web', 3, 'shop')]
    const { bytes, namespaces } = patched([], service('db', 40, 'blog'), others)
    assert.deepEqual(namespaces, ['', 'blog', 'shop'])
    assert.deepEqual(openShard(bytes).namespaces, namespaces)
  })

  test('keeps the bytes of a shard in which nothing is replaced', () => {
    const shard = buildShard(whole([...ZONE_NAMES, ...service('web', 3, 'shop')]))
    assert.deepEqual(patchShard(shard, new Set(), []), shard)
  })
})
